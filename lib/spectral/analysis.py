"""Everything the Spectral page shows about a field, in one value per layer, small enough to keep.

The fields themselves stay with the caller; what needs them again (another band, more modes) is a call of pod.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed

from lib.threads import one_thread

from .fields import Field, require_alike
from .lag import LagProfile, band_centres, lag_bands, lag_profile
from .mode_lags import mode_lag_profile
from .nulls import RankGrowth, rank_growth, shuffled_lag_spectra, white_noise_spectra
from .pod import Modes, snapshot_pod
from .scalogram import DominantScale, Scalogram, dominant_scales, lag_scalogram
from .spectrum import PowerLaw, bootstrap_power_law, fit_power_law

Array = np.ndarray
MODES_KEPT = 6


@dataclass(frozen=True, eq=False)
class Ensemble:
    """The leading modes of one layer, plain or through one lag window.

    centre       of the lag window in tokens, None for plain POD
    eigenvalues  (mode,) all of them; total Σλ
    modes        float32 (kept, query_pos, key_pos), the leading ones
    lags         (kept, lag) share of each mode's energy by lag
    scores       (doc, kept)
    gram         (doc, doc) UUᵀ/N of the centred snapshots
    power        power law of the spectrum; with an interval for plain POD only
    """

    centre: float | None
    eigenvalues: Array
    total: float
    modes: Array
    lags: Array
    scores: Array
    gram: Array
    power: PowerLaw


@dataclass(frozen=True, eq=False)
class LayerAnalysis:
    """One layer: its lag profile, scalogram, modes and spectrum beside their nulls.

    white, shuffled  spectra (draw, mode) of white noise in as many cells, and of the layer with each lag's
                     diagonal shuffled between documents
    """

    layer: int | None
    causal: bool
    documents: int
    length: int
    profile: LagProfile
    scalogram: Scalogram
    dominant: list[DominantScale]
    plain: Ensemble
    bands: tuple[Ensemble, ...]
    growth: RankGrowth
    white: Array
    shuffled: Array
    excluded_mass: float | None


@one_thread()
def analyse(
    fields: Sequence[Field],
    centres: Sequence[float] | None = None,
    epsilon: float = 0.1,
    kept: int = MODES_KEPT,
    seed: int = 0,
    jobs: int = 2,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[LayerAnalysis]:
    """Analyse fields of the same windows, layer by layer; no forward pass.

    centres: lag bands (band,) in tokens, None for four bands from the layers' common lag profile. epsilon: energy
    share of H*(ε). kept: modes kept as fields. jobs: layers worked on at a time, each in some 200 MB at N = 150,
    L = 256; joblib's ``parallel_config`` decides where. ``progress(done, total, stage)`` may raise to cancel.

    Raises HeadlightError for fewer than three windows, and for fields of different ones.
    """
    fields = list(fields)
    require_alike(fields)
    profiles = [lag_profile(field) for field in fields]
    if centres is None:
        centres = band_centres(profiles)
    found = []
    jobs = Parallel(n_jobs=jobs, return_as="generator", prefer="threads")(
        delayed(_layer)(f, p, centres, epsilon, kept, seed) for f, p in zip(fields, profiles, strict=True)
    )
    for analysis in jobs:
        found.append(analysis)
        if progress:
            progress(len(found), len(fields), "scales and modes by layer")
    return found


@one_thread()
def ensemble(field: Field, window: Array | None, centre: float | None = None, kept: int = MODES_KEPT) -> Ensemble:
    """POD of a field through a window, reduced to what is shown."""
    modes = snapshot_pod(field, window)
    return _ensemble(field, modes, centre, kept, fit_power_law(modes.eigenvalues))


def _ensemble(field: Field, modes: Modes, centre: float | None, kept: int, power: PowerLaw) -> Ensemble:
    shown, scores = modes.leading(kept)
    return Ensemble(
        centre=centre,
        eigenvalues=modes.eigenvalues,
        total=modes.total,
        modes=shown.astype(np.float32),
        lags=mode_lag_profile(shown, field.causal),
        scores=scores,
        gram=modes.gram,
        power=power,
    )


def _layer(
    field: Field, profile: LagProfile, centres: Sequence[float], epsilon: float, kept: int, seed: int
) -> LayerAnalysis:
    scalogram = lag_scalogram(field)
    modes = snapshot_pod(field)
    windows = zip(centres, lag_bands(field.length, centres), strict=True)
    return LayerAnalysis(
        layer=field.layer,
        causal=field.causal,
        documents=field.documents,
        length=field.length,
        profile=profile,
        scalogram=scalogram,
        dominant=dominant_scales(scalogram),
        plain=_ensemble(field, modes, None, kept, bootstrap_power_law(modes, seed=seed)),
        bands=tuple(ensemble(field, window, float(centre), kept) for centre, window in windows),
        growth=rank_growth(modes.gram, epsilon, field.cells, seed=seed),
        white=white_noise_spectra(field.documents, field.cells, seed=seed),
        shuffled=shuffled_lag_spectra(field, seed=seed),
        excluded_mass=None if field.excluded_mass is None else float(field.excluded_mass.mean()),
    )
