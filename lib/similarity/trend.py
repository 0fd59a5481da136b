"""How similarity changes with depth: curves over layers, their first-to-last change and rank trend, distributions.

A layer's value is the mean over its heads, per document; documents are resampled.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from lib.stats import bootstrap_mean, spearman, weighted_mean

from .document import SIMILARITY_EDGES
from .errors import SimilarityError
from .statistics import STATISTICS, Measured, Weights, ratio, ratio_draws

Array = np.ndarray
MOST_LAYERS = 8  # up to which all orders of the layers are counted


def layer_trend(
    measured: Measured,
    weights: Weights = "documents",
    simultaneous: bool = True,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """Every statistic by layer: columns layer, statistic, value, low, high, chance, lift, lift_low, lift_high.

    Intervals are bootstrapped over documents and, by default, simultaneous over the layers of a statistic. contrast
    has chance 0 and no lift. Raises SimilarityError for unknown weights.
    """
    weight = measured.weights(weights)
    frames = []
    for name in STATISTICS:
        values, chance = layer_values(measured, name)
        plain = bootstrap_mean(values, weight, level, seed=seed, simultaneous=simultaneous)
        lift = ratio(values, chance, weight, level, seed, simultaneous)
        frames.append(
            pd.DataFrame(
                {
                    "layer": measured.layers,
                    "statistic": name,
                    "value": plain.estimate,
                    "low": plain.low,
                    "high": plain.high,
                    "chance": weighted_mean(chance, weight),
                    "lift": lift.estimate,
                    "lift_low": lift.low,
                    "lift_high": lift.high,
                }
            )
        )
    return pd.concat(frames, ignore_index=True)


def layer_values(measured: Measured, name: str) -> tuple[Array, Array]:
    """A statistic and its chance value, averaged over the heads of each layer: two arrays (document, layer)."""
    if name not in STATISTICS:
        raise SimilarityError(f"one of {', '.join(STATISTICS)}", repr(name), "Choose a statistic of the table.")
    values, chance = measured.values[name], measured.chance[name]
    chance = np.where(np.isnan(values), np.nan, chance)  # of the heads that the values average over
    heads = values.shape[2]
    mean = weighted_mean(np.moveaxis(values, 2, 0).reshape(heads, -1))
    expected = weighted_mean(np.moveaxis(chance, 2, 0).reshape(heads, -1))
    return mean.reshape(values.shape[:2]), expected.reshape(values.shape[:2])


def over_chance(measured: Measured, name: str) -> tuple[Array, Array]:
    """A statistic by layer and what it is divided by for its lift: chance, or 1 for contrast, whose chance is 0."""
    values, chance = layer_values(measured, name)
    return values, np.where(np.isnan(values), np.nan, 1.0) if name == "contrast" else chance


def first_to_last(
    measured: Measured, name: str = "distance", weights: Weights = "documents", level: float = 0.95, seed: int = 0
) -> tuple[float, float, float]:
    """Relative change of a statistic from the first to the last layer, with its interval over documents.

    −0.3 is a fall of 30 per cent. Both layers are resampled together. NaN with a single layer.

    **Source**: Halevi et al., arXiv 2512.21956, for the claim about BERT-base; the interval is ours.
    """
    values, _ = layer_values(measured, name)
    if values.shape[1] < 2:
        return (float("nan"),) * 3
    change = ratio(values[:, -1], values[:, 0], measured.weights(weights), level, seed)
    return float(change.estimate) - 1, float(change.low) - 1, float(change.high) - 1


@dataclass(frozen=True)
class RankTrend:
    """Spearman's ρ with layer, its interval over documents, and the middle of ρ when layers are permuted.

    p: share of orders of the layers whose |ρ| is at least as large.
    """

    rho: float
    low: float
    high: float
    null: tuple[float, float]
    p: float


def rank_trend(
    measured: Measured,
    name: str,
    weights: Weights = "documents",
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> RankTrend:
    """Spearman's ρ of a statistic's lift with layer, beside what the order of the layers gives by chance.

    contrast, whose chance is 0, is taken as it is. The interval holds the percentiles of ρ over resampled documents
    and ρ itself; the null the middle ``level`` of ρ over all orders of the layers (of 10,000 drawn ones beyond
    ``MOST_LAYERS`` layers). With few layers that is wide: six need |ρ| > 0.83. NaN with fewer than three layers.
    """
    values, base = over_chance(measured, name)
    curve, curves = ratio_draws(values, base, measured.weights(weights), draws, seed)  # (layer,), (draw, layer)
    curve, curves = curve.round(9), curves.round(9)  # equal shares differ in the last digits of their sums
    layers = np.arange(len(curve))
    rho, tails = spearman(layers, curve), [(1 - level) / 2, (1 + level) / 2]
    if np.isnan(rho):
        return RankTrend(rho, rho, rho, (rho, rho), rho)
    shuffled = _permuted(curve, seed)
    null = tuple(float(bound) for bound in np.quantile(shuffled, tails))
    p = float((np.abs(shuffled) >= abs(rho) - 1e-9).mean())
    if (~np.isnan(values)).any(axis=1).sum() < 2:
        return RankTrend(rho, float("nan"), float("nan"), null, p)
    drawn = _correlation(rankdata(curves[~np.isnan(curves).any(axis=1)], axis=1), layers)
    low, high = (float(bound) for bound in np.nanquantile(drawn, tails))
    return RankTrend(rho, min(low, rho), max(high, rho), null, p)


def _correlation(ranks: Array, layers: Array) -> Array:
    centred = ranks - ranks.mean(axis=1, keepdims=True)
    steps = layers - layers.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        return (centred @ steps) / np.sqrt((centred**2).sum(axis=1) * (steps**2).sum())


def _permuted(curve: Array, seed: int) -> Array:
    """ρ of every order of the layers (order,), or of 10,000 of them."""
    ranks = rankdata(curve)
    if len(ranks) <= MOST_LAYERS:
        orders = np.array(list(permutations(ranks)))
    else:
        rng = np.random.default_rng(seed)
        orders = np.stack([rng.permutation(ranks) for _ in range(10_000)])
    return _correlation(orders, np.arange(len(ranks)))


def distance_distribution(
    measured: Measured, bins: int = 16, weights: Weights = "documents", level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """P(Δ | similar) beside P(Δ), by layer, in bins of distance that widen with it.

    Columns layer, distance (the bin's first), last, similar, low, high, chance: probability of a distance in the
    bin, mean over heads and documents; intervals over documents, simultaneous over layers and bins.
    """
    documents = [document for document in measured.documents if document.pairs]
    weight = measured.weights(weights)[[d.pairs > 0 for d in measured.documents]]
    longest = max(len(document.distances_chance) for document in documents) - 1
    start = min(d.distances_chance.nonzero()[0][0] for d in documents)  # 1
    edges = np.unique(np.geomspace(start, longest + 1, bins + 1).round().astype(int))
    similar = np.stack([_binned(document.distances, edges) for document in documents])  # (document, layer, bin)
    chance = np.stack([_binned(document.distances_chance, edges) for document in documents])
    interval = bootstrap_mean(similar, weight, level, seed=seed, simultaneous=True)
    n_layers, n_bins = similar.shape[1:]
    return pd.DataFrame(
        {
            "layer": np.repeat(measured.layers, n_bins),
            "distance": np.tile(edges[:-1], n_layers),
            "last": np.tile(edges[1:] - 1, n_layers),
            "similar": interval.estimate.ravel(),
            "low": interval.low.ravel(),
            "high": interval.high.ravel(),
            "chance": np.tile(weighted_mean(chance, weight), n_layers),
        }
    )


def _binned(shares: Array, edges: Array) -> Array:
    total = np.concatenate([np.zeros((*shares.shape[:-1], 1)), shares.cumsum(axis=-1)], axis=-1)
    return np.diff(total[..., np.minimum(edges, shares.shape[-1])], axis=-1)


def similarity_distribution(measured: Measured) -> pd.DataFrame:
    """How similarities are distributed in each layer: columns layer, similarity (bin centre), share.

    Of at most 2,000 evenly spaced pairs per head and document; the scalar product in units of the head's mean ‖z‖²
    in the document. The outermost bins hold what lies beyond them.
    """
    counts = sum(document.similarity for document in measured.documents)
    centres = (SIMILARITY_EDGES[:-1] + SIMILARITY_EDGES[1:]) / 2
    total = np.maximum(counts.sum(axis=1, keepdims=True), 1)
    return pd.DataFrame(
        {
            "layer": np.repeat(measured.layers, len(centres)),
            "similarity": np.tile(centres, len(measured.layers)),
            "share": (counts / total).ravel(),
        }
    )
