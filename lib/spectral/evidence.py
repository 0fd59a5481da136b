"""Numbers for the claims about layers: scales early and late, complexity by layer, POD against other bases.

Only numbers and intervals; what they decide stands in lib.verdicts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.fft import idctn

from lib.errors import HeadlightError
from lib.stats import Interval

from .fields import Field
from .pod import Modes, snapshot_pod
from .resampling import Replicates, draw_counts, half_samples, recentred
from .scalogram import Scalogram
from .spectrum import effective_rank, entropy_rank, fit_power_law, participation_ratio

Array = np.ndarray
FINE, COARSE = 7.0, 20.0  # tokens
MEASURES = ("t_spec", "entropy_rank", "participation_ratio", "ensemble_rank")


@dataclass(frozen=True, eq=False)
class ScaleContrast:
    """Energy over its null at fine and at coarse scales, by layer; Replicates over (layer,).

    fine, coarse  ratios at scales ≤ 7 and ≥ 20 tokens, pooled over lags outside the cone
    contrast      log(fine/coarse)
    """

    fine: Replicates
    coarse: Replicates

    @property
    def contrast(self) -> Replicates:
        """log(fine/coarse), positive where the fine scales exceed their null by more."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return Replicates(
                np.log(self.fine.estimate / self.coarse.estimate),
                np.log(self.fine.draws / self.coarse.draws),
                self.fine.documents,
            )


def scale_contrast(
    scalograms: Sequence[Scalogram], draws: int = 400, seed: int = 0, fine: float = FINE, coarse: float = COARSE
) -> ScaleContrast:
    """Fine and coarse scales against the null of independent lags, for scalograms of the same documents by layer.

    The documents are drawn once for all layers. NaN where no scale of the kind lies outside the cone, which for
    coarse ones is so below 114 tokens.
    """
    documents = {len(s.by_document) for s in scalograms}
    if len(documents) != 1:
        raise HeadlightError("scalograms of the same documents", f"{sorted(documents)}", "Use one set of windows.")
    counts = draw_counts(documents.pop(), draws, seed)
    sides = []
    for chosen in (lambda scales: scales <= fine, lambda scales: scales >= coarse):
        layers = []
        for scalogram in scalograms:
            inside = ~scalogram.cone & chosen(scalogram.scales)[:, None]
            sums = np.stack([scalogram.by_document[:, inside].sum(1), scalogram.null_by_document[:, inside].sum(1)])
            pooled = np.vstack([sums.sum(axis=1), counts @ sums.T.astype(np.float64)])
            with np.errstate(divide="ignore", invalid="ignore"):
                layers.append(pooled[:, 0] / pooled[:, 1])
        ratios = np.stack(layers, axis=1)  # (estimate and draws, layer)
        sides.append(Replicates(ratios[0], ratios[1:], counts.shape[1]))
    return ScaleContrast(*sides)


def late_minus_early(number: Replicates, early: Sequence[int], late: Sequence[int]) -> Interval:
    """Mean over late layers less mean over early ones; indices into the last axis (layer)."""
    early, late = list(early), list(late)
    return number.map(lambda x: x[..., late].mean(axis=-1) - x[..., early].mean(axis=-1)).interval()


def complexity(
    ensembles: Sequence[Modes], epsilon: float = 0.1, draws: int = 100, seed: int = 0
) -> dict[str, Replicates]:
    """T_spec, entropy rank, participation ratio and ensemble rank H*(ε), Replicates over (layer,).

    ensembles: POD of the same documents, layer by layer; the same halves of them are drawn for every layer. A large
    T_spec means a flat spectrum, many modes sharing the energy.
    """
    layers = []
    for modes in ensembles:
        own = spectrum_numbers(modes.eigenvalues, epsilon)
        fewest = fit_power_law(modes.eigenvalues).k_max + 2
        halves = half_samples(modes.gram, draws, seed, fewest)
        samples = [spectrum_numbers(_positive(gram), epsilon, fewest - 2) for gram, _ in halves]
        layers.append(recentred(own, np.array(samples), modes.documents, fewest))
    return {
        name: Replicates(
            np.array([layer.estimate[i] for layer in layers]),
            np.stack([layer.draws[:, i] for layer in layers], axis=-1),
            ensembles[0].documents,
        )
        for i, name in enumerate(MEASURES)
    }


def spectrum_numbers(eigenvalues: Array, epsilon: float = 0.1, k_max: int | None = None) -> Array:
    """The four numbers of ``MEASURES`` for one spectrum (mode,), such as a null's."""
    return np.array(
        [
            fit_power_law(eigenvalues, k_max=None if k_max is None else max(k_max, 2)).t_spec,
            entropy_rank(eigenvalues),
            participation_ratio(eigenvalues),
            effective_rank(eigenvalues, epsilon),
        ]
    )


def basis_errors(field: Field, count: int = 10, seed: int = 0) -> dict[str, Array]:
    """Energy that ``count`` directions of several bases leave out, by document: float64 (doc,) per basis.

    "pod" is the optimum for the documents it was made from: a theorem, not evidence. The others: "random"
    directions, the lowest "cosine" waves of the query and key axes, and the POD modes with their cells "permuted";
    all are restricted to the cells that attention can fill. NaN where the windows do not differ: there is no energy.
    """
    modes = snapshot_pod(field)
    if not modes.rank:
        return {name: np.full(field.documents, np.nan) for name in ("pod", "random", "cosine", "permuted")}
    count = min(count, modes.rank)
    used = (np.tri(field.length, dtype=bool) if field.causal else np.ones((field.length,) * 2, bool)).ravel()
    u = field.pattern.reshape(field.documents, -1)[:, used] - modes.mean.ravel()[used]
    rng = np.random.default_rng(seed)
    leading = modes.leading(count)[0].reshape(count, -1)[:, used]
    bases = {
        "random": rng.standard_normal((count, used.sum())),
        "cosine": _cosines(field.length, count)[:, used],
        "permuted": rng.permuted(leading, axis=1),
    }
    energy = (u**2).sum(axis=1)
    errors = {"pod": np.array([modes.residual(d, count) for d in range(field.documents)])}
    for name, basis in bases.items():
        directions = np.linalg.qr(basis.T)[0]
        errors[name] = energy - ((u @ directions) ** 2).sum(axis=1)
    return errors


def _positive(gram: Array) -> Array:
    return np.maximum(np.linalg.eigvalsh(gram)[::-1], 0)


def _cosines(length: int, count: int) -> Array:
    """The ``count`` lowest waves of the two-dimensional cosine transform, (count, cell)."""
    order = np.indices((length, length)).sum(axis=0).ravel().argsort(kind="stable")[:count]
    waves = np.zeros((count, length, length))
    waves.reshape(count, -1)[np.arange(count), order] = 1
    return idctn(waves, axes=(1, 2), norm="ortho").reshape(count, -1)
