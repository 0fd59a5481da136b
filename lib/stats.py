"""Bootstrap over documents, chance levels and rank correlations: the arithmetic every room shares.

Documents are the unit of resampling everywhere: tokens of one document are not independent, documents are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import stats as scipy_stats

Array = np.ndarray


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval; the four arrays share one shape (\\*cells).

    documents: how many documents define each cell; level: of confidence; simultaneous: over all cells together.
    """

    estimate: Array
    low: Array
    high: Array
    level: float
    documents: Array
    simultaneous: bool

    def excludes(self, value: float | Array) -> Array:
        """Where the interval lies wholly on one side of ``value``: bool (\\*cells)."""
        return (self.low > value) | (self.high < value)


def weighted_mean(values: Array, weights: Array | None = None) -> Array:
    """Mean over documents, ignoring undefined cells.

    values: (document, \\*cells), NaN where a document does not define a cell; weights: (document,) or
    (document, \\*cells), non-negative. Returns (\\*cells), NaN where no document defines the cell.
    """
    values, weights = _with_weights(values, weights)
    total = weights.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(total > 0, (np.nan_to_num(values) * weights).sum(axis=0) / total, np.nan)


def bootstrap_mean(
    values: Array,
    weights: Array | None = None,
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    simultaneous: bool = False,
) -> Interval:
    """Confidence interval of the mean over documents, by resampling documents.

    values: (document, \\*cells), NaN where undefined. weights: (document,) or (document, \\*cells).
    ``simultaneous=True`` widens every interval by one common factor, so that *all* cells are covered together
    with probability ``level``: the quantile of the largest studentised deviation over cells. Otherwise each
    cell gets its own percentile interval. A cell that fewer than two documents define has the interval NaN: one
    document says nothing about the spread over documents. ``Interval.documents`` counts, per cell, those that do.

    **Source**: Efron & Tibshirani, *An Introduction to the Bootstrap* (1993), ch. 13 (percentile);
    Beran (1988), *J. Amer. Statist. Assoc.* 83 (simultaneous, by studentised maxima).
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim < 1 or values.shape[0] == 0:
        raise ValueError(f"values must be (document, *cells) with at least one document, got {values.shape}")
    estimate = weighted_mean(values, weights)
    documents = (_with_weights(values, weights)[1] > 0).sum(axis=0)  # (*cells)
    replicates = _bootstrap_replicates(values, weights, draws, seed)  # (draw, *cells)
    replicates[:, documents < 2] = np.nan
    low, high = (
        _simultaneous_bounds(estimate, replicates, level) if simultaneous else _percentile_bounds(replicates, level)
    )
    return Interval(estimate, low, high, level, documents, simultaneous)


def _with_weights(values: Array, weights: Array | None) -> tuple[Array, Array]:
    values = np.asarray(values, dtype=np.float64)
    weights = np.ones(values.shape[0]) if weights is None else np.asarray(weights, dtype=np.float64)
    if weights.shape[0] != values.shape[0]:
        raise ValueError(f"weights {weights.shape} and values {values.shape} disagree on the document axis")
    if weights.ndim == 1:
        weights = weights.reshape(-1, *([1] * (values.ndim - 1)))
    return values, np.where(np.isnan(values), 0.0, np.broadcast_to(weights, values.shape))


def _bootstrap_replicates(values: Array, weights: Array | None, draws: int, seed: int) -> Array:
    values, weights = _with_weights(values, weights)
    documents, cells = values.shape[0], values.shape[1:]
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(documents, np.full(documents, 1 / documents), size=draws).astype(np.float64)
    numerator = counts @ (np.nan_to_num(values) * weights).reshape(documents, -1)
    denominator = counts @ weights.reshape(documents, -1)
    with np.errstate(invalid="ignore", divide="ignore"):
        means = np.where(denominator > 0, numerator / denominator, np.nan)
    return means.reshape(draws, *cells)


def _percentile_bounds(replicates: Array, level: float) -> tuple[Array, Array]:
    tail = (1 - level) / 2
    everywhere_undefined = np.isnan(replicates).all(axis=0)
    filled = np.where(everywhere_undefined, 0.0, replicates)
    low, high = np.nanquantile(filled, [tail, 1 - tail], axis=0)
    return np.where(everywhere_undefined, np.nan, low), np.where(everywhere_undefined, np.nan, high)


def _simultaneous_bounds(estimate: Array, replicates: Array, level: float) -> tuple[Array, Array]:
    known = ~np.isnan(replicates).all(axis=0)
    spread = np.where(known, np.nanstd(np.where(known, replicates, 0.0), axis=0), np.nan)
    with np.errstate(invalid="ignore", divide="ignore"):
        deviation = np.abs(replicates - estimate) / np.where(spread > 0, spread, np.nan)
    flat = np.nan_to_num(deviation.reshape(len(replicates), -1))
    factor = np.quantile(flat.max(axis=1), level) if flat.shape[1] else 0.0
    return estimate - factor * spread, estimate + factor * spread


def same_group_chance(groups: Array) -> float:
    """Chance that two distinct positions share a group: Σ_g n_g(n_g − 1)/(n(n − 1)).

    groups: (token,) integer labels; negative labels belong to no group (they count in n, never in n_g).
    """
    groups = np.asarray(groups)
    n = len(groups)
    if n < 2:
        return float("nan")
    counts = np.unique(groups[groups >= 0], return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum() / (n * (n - 1)))


def spearman(a: Array, b: Array) -> float:
    """Spearman rank correlation of two vectors; NaN for fewer than three pairs or a constant vector."""
    a, b = np.asarray(a, dtype=np.float64).ravel(), np.asarray(b, dtype=np.float64).ravel()
    if a.shape != b.shape:
        raise ValueError(f"spearman needs vectors of one length, got {a.shape} and {b.shape}")
    if len(a) < 3 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return float("nan")
    return float(scipy_stats.spearmanr(a, b).statistic)
