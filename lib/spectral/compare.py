"""Two models on the same windows: scalograms, lag profiles and spectra, with intervals over documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from lib.errors import HeadlightError
from lib.stats import Interval

from .evidence import MEASURES, complexity
from .lag import LagProfile
from .pod import Modes
from .resampling import Replicates, draw_counts
from .scalogram import Scalogram

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ScalogramDifference:
    """How the energy of a second model differs from a first one's; both from the same windows.

    share   (scale, lag) Interval of the log ratio of energy shares, second/first: where the energy moved; NaN in
            the cone, simultaneous over all cells
    scale   (scale,) the same summed over lags
    total   Interval of the log ratio of the energies ⟨|W|²⟩ summed outside the cone, not normalised; not the ratio
            of the fluctuations, which have energy in other rows, in their mean over lags and in the cone as well
    scales, lags  as in the scalograms
    """

    share: Interval
    scale: Interval
    total: Interval
    scales: Array
    lags: Array


def compare_scalograms(first: Scalogram, second: Scalogram, draws: int = 400, seed: int = 0) -> ScalogramDifference:
    """Where, by scale and lag, the energy of the second model differs from the first's.

    Energies are normalised to 1 outside the cone before they are compared, because the two models may differ in
    the size of their fluctuation alone; that is ``total``. Documents are drawn in pairs: window s of both models.

    Raises HeadlightError where the windows, scales or lags are not the same.
    """
    if first.by_document.shape != second.by_document.shape or not (
        np.allclose(first.scales, second.scales) and np.array_equal(first.lags, second.lags)
    ):
        raise HeadlightError(
            "two scalograms of the same windows, scales and lags",
            f"(doc, scale, lag) {first.by_document.shape} and {second.by_document.shape}",
            "Cut the same windows for both models.",
        )
    documents = len(first.by_document)
    counts = np.vstack([np.ones(documents), draw_counts(documents, draws, seed)])
    outside = ~first.cone
    sums = [counts @ s.by_document[:, outside].astype(np.float64) for s in (first, second)]  # (draw, cell)
    cells = _log_ratio(*(_share(s) for s in sums), documents).interval(simultaneous=True)
    scale_of = np.broadcast_to(np.arange(len(first.scales))[:, None], outside.shape)[outside]
    rows = np.equal.outer(scale_of, np.arange(len(first.scales))).astype(np.float64)
    by_scale = _log_ratio(*(_share(s, rows) for s in sums), documents).interval(simultaneous=True)
    total = _log_ratio(*(_total(s)[:, 0] for s in sums), documents).interval()
    return ScalogramDifference(_placed(cells, outside), by_scale, total, first.scales, first.lags)


def _drawn(first: LagProfile, second: LagProfile, draws: int, seed: int) -> tuple[int, np.ndarray]:
    """Number of documents and how often each draw takes each, the first draw each once; refuses unlike windows."""
    if first.energy.shape != second.energy.shape:
        raise HeadlightError(
            "two lag profiles of the same windows",
            f"(doc, lag) {first.energy.shape} and {second.energy.shape}",
            "Cut the same windows for both models.",
        )
    documents = len(first.energy)
    counts = np.vstack([np.ones(documents), draw_counts(documents, draws, seed)])
    return documents, counts


def compare_profiles(first: LagProfile, second: LagProfile, draws: int = 400, seed: int = 0) -> Interval:
    """Log ratio of the shares of energy by lag, second/first, (lag,), simultaneous over lags."""
    documents, counts = _drawn(first, second, draws, seed)
    sums = [counts @ p.energy for p in (first, second)]
    return _log_ratio(*(_share(s) for s in sums), documents).interval(simultaneous=True)


def compare_centroids(first: LagProfile, second: LagProfile, draws: int = 400, seed: int = 0) -> Interval:
    """Centroid of the second profile less that of the first, in tokens; the same windows are drawn for both."""
    documents, counts = _drawn(first, second, draws, seed)
    near = np.abs(first.lags) < first.length / 2
    centroids = []
    for profile in (first, second):
        energy = counts @ profile.energy[:, near]
        with np.errstate(divide="ignore", invalid="ignore"):
            centroids.append(energy @ np.abs(profile.lags[near]) / energy.sum(axis=1))
    difference = centroids[1] - centroids[0]
    return Replicates(difference[0], difference[1:], documents).interval()


def compare_complexity(
    first: Sequence[Modes], second: Sequence[Modes], epsilon: float = 0.1, draws: int = 100, seed: int = 0
) -> dict[str, Interval]:
    """Second less first of T_spec, entropy rank, participation ratio and H*(ε), (layer,), simultaneous over layers.

    The same documents are drawn for both models.
    """
    if [m.documents for m in first] != [m.documents for m in second]:
        raise HeadlightError(
            "the same layers and windows in both models",
            f"{[m.documents for m in first]} and {[m.documents for m in second]} windows by layer",
            "Cut the same windows for both models and choose as many layers.",
        )
    numbers = [complexity(ensembles, epsilon, draws, seed) for ensembles in (first, second)]
    return {
        name: Replicates(
            numbers[1][name].estimate - numbers[0][name].estimate,
            numbers[1][name].draws - numbers[0][name].draws,
            first[0].documents,
        ).interval(simultaneous=True)
        for name in MEASURES
    }


def paired_t(differences: Array, level: float = 0.95) -> Interval:
    """Student interval of the mean of paired differences (pair, \\*cells), such as training seeds; NaN below two.

    **Source**: Student (1908), *Biometrika* 6.
    """
    differences = np.asarray(differences, dtype=np.float64)
    pairs = len(differences)
    mean = differences.mean(axis=0)
    if pairs < 2:
        nothing = np.full(mean.shape, np.nan)
        return Interval(mean, nothing, nothing.copy(), level, pairs, False)
    reach = stats.t.ppf((1 + level) / 2, pairs - 1) * differences.std(axis=0, ddof=1) / np.sqrt(pairs)
    return Interval(mean, mean - reach, mean + reach, level, pairs, False)


def _total(sums: Array) -> Array:
    return sums.sum(axis=1, keepdims=True)


def _share(sums: Array, parts: Array | None = None) -> Array:
    """Parts of a sum, each cell by itself where none are given; NaN where there is no energy."""
    with np.errstate(invalid="ignore"):
        return (sums if parts is None else sums @ parts) / _total(sums)


def _log_ratio(first: Array, second: Array, documents: int) -> Replicates:
    """log(second/first), the first row being the estimate and the others bootstrap samples."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.log(second / first)
    ratio = np.where(np.isfinite(ratio), ratio, np.nan)
    return Replicates(ratio[0], ratio[1:], documents)


def _placed(cells: Interval, outside: Array) -> Interval:
    bounds = [np.full(outside.shape, np.nan) for _ in range(3)]
    for whole, part in zip(bounds, (cells.estimate, cells.low, cells.high), strict=True):
        whole[outside] = part
    return Interval(*bounds, cells.level, cells.documents, cells.simultaneous)
