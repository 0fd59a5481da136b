"""The one free factor of a joint embedding: queries times c, keys divided by c. Three rules for c, or by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .errors import EmbeddingError
from .spans import allowed, blocks

Array = np.ndarray
Rule = Literal["variance", "norm", "search"]
GRID = 5.0 ** np.linspace(-1, 1, 33)  # 0.2 … 5
BY_HAND = (1e-6, 1e6)  # c; beyond, one side of the map is nothing but a point
MOST_PAIRS = 400_000
FLAT = 1e-6  # a minimum this much below the edges of the grid at most is none


@dataclass(frozen=True, eq=False)
class ScaleCurve:
    """How well distance follows score at each c.

    scale        (grid,) c
    correlation  (grid,) weighted Pearson of cosine distance and centred score; −1 is best, NaN undefined
    best         the c of the lowest correlation, None where no c is better than the edges of the grid
    pairs        pairs looked at, of pairs_allowed
    """

    scale: Array
    correlation: Array
    best: float | None
    pairs: int
    pairs_allowed: int


def chosen_scale(
    query: Array, key: Array, scale: Rule | float, own: Array, theirs: Array, causal: bool
) -> tuple[float, str, ScaleCurve | None, str]:
    """c, the rule that gave it, the curve of a search, and what to say about it.

    own, theirs: bounds of the documents. Raises EmbeddingError for an unknown rule or c that is not within ``BY_HAND``.
    """
    if scale == "search":
        curve = search_scale(query, key, own, theirs, causal)
        if curve.best is not None:
            return curve.best, "search", curve, ""
        c, note = variance_scale(query, key)
        note = f"No interior optimum between {GRID[0]:g} and {GRID[-1]:g}: spreads are made equal instead. {note}"
        return c, "variance", curve, note.strip()
    if scale in ("variance", "norm"):
        c, note = (variance_scale if scale == "variance" else norm_scale)(query, key)
        return c, scale, None, note
    number = isinstance(scale, int | float | np.number) and not isinstance(scale, bool)
    least, most = BY_HAND
    if not number or not least <= scale <= most:
        raise EmbeddingError(
            f'scale "variance", "norm", "search" or a number between {least:g} and {most:g}',
            repr(scale),
            'Use "variance" if in doubt.',
        )
    return float(scale), "by hand", None, ""


def variance_scale(query: Array, key: Array) -> tuple[float, str]:
    """c = √(σ_k/σ_q), equal spread after translation; σ is the root mean square distance from the centroid."""
    spread = [np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()) for points in (query, key)]
    return _balance(*spread, "spread")


def norm_scale(query: Array, key: Array) -> tuple[float, str]:
    """c = √(mean‖k‖/mean‖q‖): equal mean lengths before translation, which leaves centroids out of account."""
    return _balance(*(np.linalg.norm(points, axis=1).mean() for points in (query, key)), "length")


def _balance(of_query: float, of_key: float, what: str) -> tuple[float, str]:
    ratio = of_key / of_query if of_query > 0 else 0.0
    if not np.isfinite(ratio) or ratio <= 0:
        return 1.0, f"Queries or keys have no {what}: c is 1."
    return float(np.sqrt(ratio)), ""


def search_scale(
    query: Array, key: Array, own: Array, theirs: Array, causal: bool, most_pairs: int = MOST_PAIRS, seed: int = 0
) -> ScaleCurve:
    """The curve of c: weighted Pearson correlation of distance and score over all allowed pairs at once.

    The distance d_ij is the cosine distance of c·q_i and (k_j − k̄)/c + c·q̄; the score is q_i·(k_j − k̄), since a
    constant added to all keys must not matter; the weight (D − d_ij)²₊ with D the median distance makes near pairs
    count more. Above ``most_pairs`` a seeded sample of the pairs is taken.

    **Source** Yeh et al., AttentionViz, arXiv 2305.03210, which weighs near pairs more without giving the weights;
    these are ours.
    """
    rows, cols, total = _pairs(own, theirs, causal, most_pairs, seed)
    q_mean, centred = query.mean(axis=0), key - key.mean(axis=0)
    lengths = np.linalg.norm(query, axis=1)
    pull = query @ q_mean  # q_i·q̄, what translation adds to every key alike
    score = np.concatenate(
        [np.einsum("pd,pd->p", query[rows[at]], centred[cols[at]]) for at in _pieces(len(rows), 1 << 16)] or [[]]
    )
    squared, along, centre = (centred**2).sum(axis=1), centred @ q_mean, q_mean @ q_mean
    correlation = np.full(len(GRID), np.nan)
    for index, c in enumerate(GRID):
        length = np.sqrt(np.maximum(squared / c**2 + 2 * along + c**2 * centre, 0))
        product = lengths[rows] * length[cols]
        with np.errstate(invalid="ignore", divide="ignore"):
            cosine = np.where(product > 0, (score / c + c * pull[rows]) / product, 0.0)
        distance = 1 - cosine
        if len(distance):
            correlation[index] = _weighted_pearson(distance, score, np.maximum(np.median(distance) - distance, 0) ** 2)
    best = None
    if not np.isnan(correlation).all():
        lowest = int(np.nanargmin(correlation))
        edge = np.nanmin(correlation[[0, -1]]) if not np.isnan(correlation[[0, -1]]).all() else np.inf
        best = float(GRID[lowest]) if correlation[lowest] < edge - FLAT else None
    return ScaleCurve(GRID, correlation, best, len(rows), total)


def _weighted_pearson(a: Array, b: Array, weight: Array) -> float:
    total = weight.sum()
    if total <= 0:
        return float("nan")
    a, b = a - (weight * a).sum() / total, b - (weight * b).sum() / total
    spread = (weight * a**2).sum() * (weight * b**2).sum()
    return float((weight * a * b).sum() / np.sqrt(spread)) if spread > 0 else float("nan")


def _pairs(own: Array, theirs: Array, causal: bool, most: int, seed: int) -> tuple[Array, Array, int]:
    """Query and key of each pair, and how many are allowed: all, or a seeded sample with replacement."""
    n, m = np.diff(own), np.diff(theirs)
    counts = n * (n + 1) // 2 if causal else n * m
    total = int(counts.sum())
    if total <= most:
        found = [np.nonzero(allowed(rows, keys, causal)) for _, rows, keys in blocks(own, theirs)]
        starts = [(rows.start, keys.start) for _, rows, keys in blocks(own, theirs)]
        rows = [r + start for (r, _), (start, _) in zip(found, starts, strict=True)]
        cols = [c + start for (_, c), (_, start) in zip(found, starts, strict=True)]
        empty = [np.empty(0, np.int64)]
        return np.concatenate(rows or empty), np.concatenate(cols or empty), total
    rng = np.random.default_rng(seed)
    document = np.sort(rng.choice(len(n), size=most, p=counts / total))
    row, col = (rng.random(most) * n[document]).astype(np.int64), (rng.random(most) * m[document]).astype(np.int64)
    if causal:  # n(n + 1)/2 pairs: a square of n × (n + 1) cells folded along its diagonal
        col = (rng.random(most) * (n[document] + 1)).astype(np.int64)
        above = col > row
        row, col = np.where(above, n[document] - 1 - row, row), np.where(above, n[document] - col, col)
    return row + own[document], col + theirs[document], total


def _pieces(count: int, size: int) -> list[slice]:
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]
