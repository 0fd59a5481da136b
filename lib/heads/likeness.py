"""Likeness: how far apart the attention of any two heads is, over the whole model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.cluster import hierarchy
from scipy.spatial.distance import squareform

from lib.capture import Block, observe
from lib.capture.batching import TOKENS, encoded
from lib.capture.check import trusted
from lib.capture.observers import sides
from lib.corpora import Document, Encoding
from lib.errors import HeadlightError
from lib.heads.outcome import Progress

ROWS = 256  # sampled over the corpus for the Jensen–Shannon distance
CELLS = 1 << 21  # of all heads' rows that are compared at a time
BYTES = 1 << 28  # of one document's patterns over all heads, for the Hellinger distance

Rows = np.ndarray  # (head, row, key) float32, heads of all layers, layer by layer


def likeness(
    engine: Any,
    documents: Sequence[Document | Encoding],
    kind: str = "js",
    stream: str | None = None,
    progress: Progress | None = None,
) -> np.ndarray:
    """Distances between the attention of all heads: (head, head), heads of layer 0 first.

    kind "js": Jensen–Shannon distance (root of the divergence in nats, 0 … √ln 2 = 0.833) between the two heads' rows,
    averaged over rows; over all rows where the corpus has 256 at most, else over 256 rows spread evenly over the
    documents and within each. kind "hellinger": mean squared Hellinger distance (0 … 1) over all rows; of documents
    whose patterns take more than 256 MB, over as many evenly spaced rows as fit.

    Raises HeadlightError for another kind, and what ``lib.capture.observe`` raises.

    **Source** Clark et al., "What Does BERT Look At?", 2019, §6 (Jensen–Shannon); Hellinger 1909.
    """
    if kind not in ("js", "hellinger"):
        raise HeadlightError('kind "js" or "hellinger"', repr(kind), "Choose one of the two.")
    encodings = encoded(engine, documents)
    layout = trusted(engine)
    stream = layout.stream(stream)
    layers = layout.streams[stream]
    heads = sum(place.heads for place in layout.places if place.stream == stream)
    shapes = [(len(own), len(keys)) for own, keys in zip(*sides(encodings, stream), strict=True)]
    total, count = np.zeros((heads, heads)), 0

    def add(rows: Rows) -> None:
        nonlocal total, count
        total = total + (_js_sums(rows) if kind == "js" else _hellinger_sums(rows))
        count += rows.shape[1]

    chosen = _sample(shapes, ROWS) if kind == "js" else _fitting(shapes, heads)
    done = 0
    for group in _groups(shapes, chosen, heads if kind == "hellinger" else 0):
        observer = _Collector([chosen[i] for i in group], layers[-1], add)
        observe(engine, [encodings[i] for i in group], observer, stream=stream)
        done += len(group)
        if progress is not None:
            progress(done, len(encodings), "comparing heads")
    return total / max(count, 1)


def pattern_likeness(rows: Rows, kind: str = "js") -> np.ndarray:
    """The distances of ``likeness`` from rows of patterns (head, row, key) in memory: (head, head)."""
    return (_js_sums(rows) if kind == "js" else _hellinger_sums(rows)) / rows.shape[1]


class _Collector:
    """Observer: chosen rows of every head of a document, handed on when its last layer has come."""

    needs = frozenset({"pattern"})

    def __init__(self, rows: Sequence[np.ndarray], last: int, take: Callable[[Rows], None]) -> None:
        self.rows, self.last, self.take = rows, last, take
        self.held: dict[int, list[np.ndarray]] = {}

    def see(self, block: Block) -> None:
        chosen = self.rows[block.document]
        self.held.setdefault(block.document, []).append(block.pattern[:, chosen])
        if block.layer == self.last:
            rows = np.concatenate(self.held.pop(block.document))
            self.take(rows)


def _sample(shapes: Sequence[tuple[int, int]], rows: int) -> list[np.ndarray]:
    """Rows of each document: all where there are few, else ``rows`` at even distances over all documents end to end."""
    starts = np.cumsum([0, *(own for own, _ in shapes)])
    count = int(starts[-1])
    chosen = np.arange(count) if count <= rows else (np.arange(rows) + 0.5) * count // rows
    return [chosen[(chosen >= a) & (chosen < b)].astype(int) - a for a, b in pairwise(starts)]


def _fitting(shapes: Sequence[tuple[int, int]], heads: int) -> list[np.ndarray]:
    """Rows of each document: all, or as many at even distances as fit into memory."""
    most = [max(1, min(own, BYTES // (4 * heads * keys))) for own, keys in shapes]
    return [np.unique((np.arange(m) + 0.5) * own // m).astype(int) for m, (own, _) in zip(most, shapes, strict=True)]


def _groups(shapes: Sequence[tuple[int, int]], rows: Sequence[np.ndarray], heads: int) -> list[list[int]]:
    """Documents that are read in one go, those without a chosen row left out.

    heads: of all layers, where every row is held: long documents are then read alone, so that one document's patterns
    are in memory at a time.
    """
    wanted = [i for i in range(len(shapes)) if len(rows[i])]
    long = [i for i in wanted if heads and max(shapes[i]) > BYTES // (4 * TOKENS * heads)]
    short = [i for i in wanted if i not in set(long)]
    return ([short] if short else []) + [[i] for i in long]


def _normalised(rows: Rows) -> np.ndarray:
    """Rows divided by their sums, float64; a row of nothing stays nothing."""
    rows = np.nan_to_num(rows.astype(np.float64))
    total = rows.sum(axis=2, keepdims=True)
    return rows / np.where(total > 0, total, 1)


def _js_sums(rows: Rows) -> np.ndarray:
    """Jensen–Shannon distances of all pairs of heads, summed over rows: (head, head)."""
    sums = np.zeros((len(rows), len(rows)))
    step = max(1, CELLS // (len(rows) * rows.shape[2]))
    for first in range(0, rows.shape[1], step):
        part = _normalised(rows[:, first : first + step])
        entropy = _entropies(part)  # (head, row)
        for head in range(len(part) - 1):
            middle = (part[head] + part[head + 1 :]) / 2
            divergence = _entropies(middle) - (entropy[head] + entropy[head + 1 :]) / 2
            sums[head, head + 1 :] += np.sqrt(np.maximum(divergence, 0)).sum(axis=1)
    return sums + sums.T


def _entropies(rows: np.ndarray) -> np.ndarray:
    return -np.einsum("hrk,hrk->hr", rows, np.log(np.maximum(rows, np.finfo(np.float64).tiny)))


def _hellinger_sums(rows: Rows) -> np.ndarray:
    """Squared Hellinger distances, 1 − Σ_k √(p q), of all pairs of heads, summed over rows: (head, head)."""
    roots = np.sqrt(_normalised(rows)).reshape(len(rows), -1).astype(np.float32)
    sums = np.maximum(rows.shape[1] - (roots @ roots.T).astype(np.float64), 0)
    np.fill_diagonal(sums, 0)
    return sums


def leaf_order(distances: np.ndarray) -> np.ndarray:
    """Heads in an order that puts like ones side by side: indices (head,), by average linkage."""
    tree = hierarchy.linkage(_condensed(distances), method="average")
    return hierarchy.leaves_list(hierarchy.optimal_leaf_ordering(tree, _condensed(distances)))


def redundancy_groups(distances: np.ndarray, threshold: float) -> list[list[int]]:
    """Groups of two heads or more in which *every* two are at most ``threshold`` apart; largest first."""
    tree = hierarchy.linkage(_condensed(distances), method="complete")
    labels = hierarchy.fcluster(tree, t=threshold, criterion="distance")
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    return sorted((group for group in groups if len(group) > 1), key=lambda group: (-len(group), group))


def heads_like(distances: np.ndarray, heads_per_layer: int, layer_index: int, head: int) -> pd.DataFrame:
    """All other heads by their distance from one: layer_index, head, distance; nearest first."""
    own = layer_index * heads_per_layer + head
    others = np.delete(np.arange(len(distances)), own)
    others = others[np.argsort(distances[own, others], kind="stable")]
    return pd.DataFrame(
        {
            "layer_index": others // heads_per_layer,
            "head": others % heads_per_layer,
            "distance": distances[own, others],
        }
    )


def _condensed(distances: np.ndarray) -> np.ndarray:
    if not np.isfinite(distances).all() or len(distances) < 2:
        raise HeadlightError(
            "finite distances between at least two heads", f"{distances.shape}", "Compare heads that attend."
        )
    return squareform(distances, checks=False)
