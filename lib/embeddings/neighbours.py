"""Exact nearest neighbours by cosine distance, by blocked matrix products: what UMAP, t-SNE and the trust numbers use.

A search belongs to the points it was made from: it carries their digest, so neighbours of another method, sample or
model can never be taken for these.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from lib.capture.value import read_only

from .correlation import unit
from .errors import EmbeddingError
from .spans import indices, vectors, whole

Array = np.ndarray
BLOCK = 4 << 20  # similarities held at once
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest other points of some points, nearest first.

    index     int32 (row, k) into the points; a point is never its own neighbour
    distance  float32 (row, k), 1 − cosine
    rows      int64 (row,), the points whose neighbours these are: all of them unless sampled
    source    digest of the points
    """

    index: Array
    distance: Array
    rows: Array
    source: str

    def __post_init__(self) -> None:
        for name in ("index", "distance", "rows"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def k(self) -> int:
        """Neighbours per point."""
        return self.index.shape[1]


def nearest(
    points: Array, k: int, rows: Array | None = None, apart: Array | None = None, progress: Progress | None = None
) -> Neighbours:
    """The k nearest other points of every point (or of ``rows``), by cosine distance, exactly.

    points: (point, d_head), k at most point − 1. apart: int (point,), points with the same number are never each
    other's neighbours. Zero vectors are at distance 1 from everything. Equal distances are ordered by index. Where
    ``apart`` leaves fewer than k candidates the rest has distance infinity.

    Raises EmbeddingError for points that are not finite, k below 1 or above point − 1, and rows or numbers in ``apart``
    that are not those of points.
    """
    points = vectors("points", points)
    n = len(points)
    if n < 2:
        raise EmbeddingError("at least two points", f"{n}", "One point has no neighbours.")
    k = whole("k, neighbours of each point", k, 1, n - 1)
    rows = np.arange(n) if rows is None else indices("rows", rows, n)
    if apart is not None and np.shape(apart) != (n,):
        raise EmbeddingError(f"apart: one number for each of {n:,} points", f"{np.shape(apart)}", "Pass (point,).")
    directions = unit(points).astype(np.float32)
    index, distance = np.empty((len(rows), k), np.int32), np.empty((len(rows), k), np.float32)
    step = max(1, BLOCK // n)
    for start in range(0, len(rows), step):
        if progress:
            progress(start, len(rows), "finding neighbours")
        own = rows[start : start + step]
        similarity = directions[own] @ directions.T  # (row, point)
        if apart is None:
            similarity[np.arange(len(own)), own] = -np.inf
        else:
            similarity[apart[own, None] == apart] = -np.inf
        best = np.argpartition(similarity, n - k, axis=1)[:, n - k :]
        values = np.take_along_axis(similarity, best, axis=1)
        order = np.lexsort((best, -values), axis=1)
        index[start : start + step] = np.take_along_axis(best, order, axis=1)
        distance[start : start + step] = np.maximum(1 - np.take_along_axis(values, order, axis=1), 0)
    return Neighbours(index, distance, rows, source_of(points))


def source_of(points: Array) -> str:
    """Digest of points: shape and content."""
    array = np.ascontiguousarray(points, dtype=np.float64)
    return hashlib.blake2b(
        array.view(np.uint8).reshape(-1).data, digest_size=16, key=str(array.shape).encode()
    ).hexdigest()


def require_own(neighbours: Neighbours, points: Array, k: int) -> None:
    """Raise EmbeddingError where neighbours are of other points, of some of them only, or too few."""
    if neighbours.source != source_of(points) or len(neighbours.rows) != len(points) or neighbours.k < k:
        raise EmbeddingError(
            f"the {k} nearest neighbours of all {len(points):,} points of this map",
            f"{neighbours.k} of {len(neighbours.rows):,} points"
            + " of another map" * (neighbours.source != source_of(points)),
            "Search them again with nearest(points, k).",
        )
