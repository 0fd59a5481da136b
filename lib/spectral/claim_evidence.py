"""What the claims about attention fields are decided from, measured once for a model and its windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lib.threads import one_thread

from .evidence import ScaleContrast, basis_errors, complexity, scale_contrast, spectrum_numbers
from .fields import Field, require_alike
from .heads_pod import HeadGrams, heads_by_document
from .lag import band_centres, lag_profile
from .mode_lags import BandBlur, ModeLags, band_blur, leading_mode_lags
from .nulls import shuffled_lag_spectra, white_noise_spectra
from .pod import snapshot_pod
from .resampling import Replicates
from .scalogram import lag_scalogram

Array = np.ndarray
PAPER_LAYERS = 6  # of the paper's model, counted from 1
MODE_RANGES = {2: (2, 10), 4: (10, 35), 6: (10, 40)}  # paper's layer -> lags of its leading modes


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one model showed on a corpus; layers in the order of the fields.

    layers      true numbers
    scales      fine and coarse scales over their null
    modes, blur paper's layer -> lags of the leading modes; what windows change about them
    numbers     T_spec, entropy rank, participation ratio, H*(ε): Replicates over (layer,)
    white       (draw, number) the same of white noise; shuffled (draw, layer, number) with each lag shuffled
    errors      basis -> energy (doc,) that as many directions leave out, in the paper's layer 4
    heads       (doc, layer) heads needed per window, None where heads were not compared
    still       true numbers of the layers whose windows do not differ: no fluctuation, and no number is defined there
    """

    model: str
    documents: int
    length: int
    layers: tuple[int, ...]
    scales: ScaleContrast
    modes: dict[int, ModeLags]
    blur: dict[int, BandBlur]
    numbers: dict[str, Replicates]
    white: Array
    shuffled: Array
    errors: dict[str, Array]
    heads: Array | None
    still: tuple[int, ...] = ()


def paper_rows(papers: Sequence[int], layers: int) -> list[int]:
    """Rows, of so many layers, at the depth of the paper's layers (counted from 1, of six); each once."""
    return sorted({round((paper - 1) / (PAPER_LAYERS - 1) * (layers - 1)) for paper in papers})


@one_thread()
def evidence(
    fields: Sequence[Field],
    grams: HeadGrams | None = None,
    model: str = "",
    epsilon: float = 0.1,
    progress: Callable[[int, int, str], None] | None = None,
) -> Evidence:
    """Measure what the claims need from fields of the same windows; no forward pass.

    grams: for the claim about heads. ``progress(done, total, stage)`` may raise to cancel. Raises HeadlightError for
    fewer than three windows, and for fields of different ones.
    """
    require_alike(fields)
    report = progress or (lambda done, total, stage: None)
    total = len(fields) + 2 * len(MODE_RANGES) + 1
    scalograms, modes, shuffled = [], [], []
    for done, field in enumerate(fields):
        report(done, total, "measuring the claims")
        scalograms.append(lag_scalogram(field))
        modes.append(snapshot_pod(field))
        shuffled.append([spectrum_numbers(s, epsilon) for s in shuffled_lag_spectra(field)])
    centres = band_centres([lag_profile(field) for field in fields])
    lags, blur = {}, {}
    for place, paper in enumerate(MODE_RANGES):
        report(len(fields) + 2 * place, total, "measuring the claims")
        field = fields[paper_rows([paper], len(fields))[0]]
        lags[paper], blur[paper] = leading_mode_lags(field), band_blur(field, centres)
    middle = fields[paper_rows([4], len(fields))[0]]
    white = white_noise_spectra(middle.documents, middle.cells)
    heads = None
    if grams is not None:
        heads = np.stack([heads_by_document(grams.of(layer), epsilon) for layer in grams.layers], axis=1)
    still = np.array([not one.rank for one in modes])
    names = [row if field.layer is None else field.layer for row, field in enumerate(fields)]
    return Evidence(
        model=model,
        documents=middle.documents,
        length=middle.length,
        layers=tuple(names),
        scales=scale_contrast(scalograms),
        modes=lags,
        blur=blur,
        numbers={
            name: number.map(lambda x: np.where(still, np.nan, x))
            for name, number in complexity(modes, epsilon).items()
        },
        white=np.array([spectrum_numbers(s, epsilon) for s in white]),
        shuffled=np.array(shuffled).transpose(1, 0, 2),
        errors=basis_errors(middle),
        heads=None if heads is None else np.where(still, np.nan, heads),
        still=tuple(name for name, one in zip(names, still, strict=True) if one),
    )
