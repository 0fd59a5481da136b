"""Does distance stand for attention? Spearman, query by query, of distance against score.

A map is only as good as this number: where it is near −1 the nearest keys are the most attended ones. It is mostly
arithmetic, so it always stands beside the untrained twin's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import rankdata

from .errors import EmbeddingError
from .spans import allowed, blocks, both_offsets, query_and_key, whole

Array = np.ndarray
FEWEST_KEYS = 5


@dataclass(frozen=True, eq=False)
class Agreement:
    """How rows of distances agree with rows of scores.

    correlation   mean over documents of the mean over their rows of Spearman(distance, score); −1 is perfect
    per_document  (document,) that mean in each document, NaN where it has no usable row
    rows          rows used
    few, constant rows left out: fewer than 5 allowed keys; all distances or all scores equal
    recall        share of each row's ``k`` highest-scoring keys that are among its ``k`` nearest, same averages
    recall_per_document  (document,)
    recall_chance what keys in random order would give
    """

    correlation: float
    per_document: Array
    rows: int
    few: int
    constant: int
    k: int
    recall: float
    recall_per_document: Array
    recall_chance: float


def distance_score_correlation(
    query: Array, key: Array, doc_offsets: Array, causal: bool, key_doc_offsets: Array | None = None
) -> float:
    """Mean Spearman, per query and within its document, of cosine distance after translation (c = 1) against q·k.

    query, key: (token, d_head) of one head, documents end to end. Averaged over queries, then documents; future keys
    are left out where ``causal``; rows with fewer than 5 allowed keys and constant rows are left out. NaN if no row
    is left.

    Raises EmbeddingError for shapes and offsets that do not fit.

    **Source** Yeh et al., AttentionViz, arXiv 2305.03210: −0.938 for BERT, −0.792 for GPT-2. Averaging within
    documents first and the exclusions are ours.
    """
    return distance_agreement(query, key, doc_offsets, causal, key_doc_offsets).correlation


def distance_agreement(
    query: Array,
    key: Array,
    doc_offsets: Array,
    causal: bool,
    key_doc_offsets: Array | None = None,
    k: int = 5,
) -> Agreement:
    """As ``distance_score_correlation``, with all that lies behind it."""
    query, key = query_and_key(query, key)
    moved = key - key.mean(axis=0) + query.mean(axis=0)
    return agreement(query, key, query, moved, doc_offsets, causal, key_doc_offsets, k)


def agreement(
    query: Array,
    key: Array,
    query_points: Array,
    key_points: Array,
    doc_offsets: Array,
    causal: bool,
    key_doc_offsets: Array | None = None,
    k: int = 5,
    metric: Literal["cosine", "euclidean"] = "cosine",
) -> Agreement:
    """How the distance between points of a map or a picture follows q·k, row by row.

    query, key: (token, d_head), what is scored. query_points, key_points: (token, anything), where the same tokens
    lie. Zero points are at cosine distance 1 from all.

    Raises EmbeddingError for shapes and offsets that do not fit, and a k that is no whole number of at least 1.
    """
    query, key = query_and_key(query, key)
    k = whole("k, keys of each query", k, 1)
    bounds = both_offsets(len(query), len(key), doc_offsets, key_doc_offsets, causal)
    placed = [np.asarray(points, np.float64) for points in (query_points, key_points)]
    if [len(points) for points in placed] != [len(query), len(key)]:
        raise EmbeddingError(
            f"{len(query)} and {len(key)} points", f"{len(placed[0])} and {len(placed[1])}", "Take the same tokens."
        )
    if metric == "cosine":
        placed = [unit(points) for points in placed]

    def apart(rows: slice, cols: slice) -> Array:
        if metric == "cosine":
            return 1 - placed[0][rows] @ placed[1][cols].T
        return cdist(placed[0][rows], placed[1][cols])

    sums, counts = np.zeros((2, len(bounds[0]) - 1)), np.zeros((2, len(bounds[0]) - 1))  # of Spearman and of recall
    chance, few, constant = 0.0, 0, 0
    for document, rows, keys in blocks(*bounds):
        mask = allowed(rows, keys, causal)
        enough = mask.sum(axis=1) >= FEWEST_KEYS
        few += int((~enough).sum())
        if not enough.any():
            continue
        mask, score = mask[enough], query[rows][enough] @ key[keys].T
        correlation, near = _compared(_settled(apart(rows, keys)[enough]), _settled(score), mask, k)
        used = ~np.isnan(correlation)
        many = used & (mask.sum(axis=1) > k)
        constant += int((~used).sum())
        sums[:, document] += correlation[used].sum(), near[many].sum()
        counts[:, document] += used.sum(), many.sum()
        chance += (k / mask.sum(axis=1)[many]).sum()
    return _averaged(sums, counts, chance, few, constant, k)


def unit(vectors: Array) -> Array:
    """Vectors of length 1, however long they were; a zero vector stays zero: at cosine distance 1 from any other."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True, initial=0.0)  # squares of what is left can be taken
    scaled = np.divide(vectors, largest, out=np.zeros_like(vectors), where=largest > 0)
    length = np.linalg.norm(scaled, axis=-1, keepdims=True)
    return np.divide(scaled, length, out=scaled, where=length > 0)


def _averaged(sums: Array, counts: Array, chance: float, few: int, constant: int, k: int) -> Agreement:
    with np.errstate(invalid="ignore"):
        means = np.where(counts > 0, sums / counts, np.nan)
    spearman, recall = (float(np.nanmean(row)) if not np.isnan(row).all() else float("nan") for row in means)
    rows, many = counts.sum(axis=1)
    expected = float(chance / many) if many else float("nan")
    return Agreement(spearman, means[0], int(rows), few, constant, k, recall, means[1], expected)


def _settled(values: Array) -> Array:
    """Values rounded so that what is equal but for the last bits ties."""
    largest = np.abs(values).max(initial=0.0)
    return np.round(values / largest, 12) if largest > 0 else values


def _compared(distance: Array, score: Array, mask: Array, k: int) -> tuple[Array, Array]:
    """Spearman of each row over its allowed keys, NaN where constant; and the share of the top k kept nearest."""
    count = mask.sum(axis=1, keepdims=True)
    near, high = _ranks(distance, mask), _ranks(score, mask)
    a, b = (np.where(mask, ranks - (count + 1) / 2, 0.0) for ranks in (near, high))
    with np.errstate(invalid="ignore", divide="ignore"):
        spread = (a**2).sum(axis=1) * (b**2).sum(axis=1)
        correlation = np.where(spread > 0, (a * b).sum(axis=1) / np.sqrt(spread), np.nan)
    top = mask & (high > count - k)
    return correlation, (top & (near <= k)).sum(axis=1) / np.maximum(top.sum(axis=1), 1)


def _ranks(values: Array, mask: Array) -> Array:
    """Ranks from 1 within each row among the allowed keys, ties sharing their mean; meaningless elsewhere."""
    values = np.where(mask, values, np.inf)
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    ranks = np.empty(values.shape)
    np.put_along_axis(ranks, order, np.arange(1.0, values.shape[1] + 1)[None], axis=1)
    tied = ((ordered[:, 1:] == ordered[:, :-1]) & np.isfinite(ordered[:, 1:])).any(axis=1)
    if tied.any():
        ranks[tied] = rankdata(values[tied], axis=1)
    return ranks
