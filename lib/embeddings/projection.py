"""Pictures of points: PCA, UMAP and t-SNE in two or three dimensions, every seed explicit, every clamp said.

UMAP and t-SNE see cosine distances, through exact neighbours, and start from the principal axes of the directions.
Neither is safe in two threads at once: one lock queues them.
"""

from __future__ import annotations

import itertools
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import numpy as np

from lib.capture.value import read_only

from .correlation import unit
from .errors import EmbeddingError
from .neighbours import Neighbours, nearest, require_own
from .spans import vectors, whole

Array = np.ndarray
Method = Literal["pca", "umap", "tsne"]
METHODS: tuple[Method, ...] = ("pca", "umap", "tsne")
NEIGHBOURS, MIN_DISTANCE, PERPLEXITY = 15, 0.1, 50
EPOCHS, FEWER_EPOCHS, MANY = 200, 100, 5_000  # many points take fewer: 100, 200 and 500 epochs of 10,000 points of real
# heads gave the same trustworthiness and key recall to within 0.01
FEWEST = 5  # points: below, there is nothing but the principal axes to show
FFT_FROM = 5_000  # points from which t-SNE interpolates its repulsion
Progress = Callable[[int, int, str], None]
_ONE = threading.Lock()


@dataclass(frozen=True, eq=False)
class Projection:
    """Points in the plane or in space.

    xy          float32 (point, 2 or 3)
    method      "pca", "umap" or "tsne", as computed
    parameters  what it was computed with, the seed included
    fidelity    numbers about the picture itself: "variance" (share of the variance that PCA keeps), "neighbours_kept"
                (share of each point's nearest points, by cosine, that are nearest in the picture)
    notes       what was clamped or could not be done, in words
    """

    xy: Array
    method: Method
    parameters: Mapping[str, Any]
    fidelity: Mapping[str, float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "xy", read_only(np.asarray(self.xy, np.float32)))
        for name in ("parameters", "fidelity"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))


def project(
    points: Array,
    method: Method = "pca",
    dimensions: int = 2,
    seed: int = 0,
    neighbours: Neighbours | None = None,
    progress: Progress | None = None,
    epochs: int | None = None,
) -> Projection:
    """A picture of points (point, d_head).

    dimensions: 2 or 3. neighbours: of these very points, searched here if None. epochs: of UMAP, 200 below 5,000 points
    and 100 from there if None. ``progress`` may raise to cancel: while waiting for another map, while neighbours are
    found, and during t-SNE. Fewer than 5 points, or points all in one direction, are shown by PCA, and notes say so.

    Raises EmbeddingError for another method or number of dimensions, points that are not finite, or neighbours of
    other points.

    **Source** McInnes, Healy & Melville, UMAP, arXiv 1802.03426 (15 neighbours, minimal distance 0.1); van der Maaten
    & Hinton, JMLR 9 (2008), in the form of Poličar et al., openTSNE, JSS 109 (2024) (perplexity 50).
    """
    points = vectors("points", points)
    if method not in METHODS or dimensions not in (2, 3):
        raise EmbeddingError(
            f"a method of {METHODS} and 2 or 3 dimensions", f"{method!r} and {dimensions!r}", 'Use "pca" if in doubt.'
        )
    if method == "pca":
        return principal_axes(points, dimensions)
    reason = _nothing_to_arrange(points)
    if reason:
        flat = principal_axes(points, dimensions)
        return Projection(flat.xy, "pca", flat.parameters, flat.fidelity, (*flat.notes, f"{reason} PCA is shown."))
    asked, wanted = _sizes(method)
    k = min(wanted, len(points) - 1)
    if neighbours is None:
        neighbours = nearest(points, k, progress=progress)
    require_own(neighbours, points, k)
    directions = unit(points)
    start = _start(directions, dimensions, seed)
    notes = _said(method, points, k, wanted, asked)
    with _alone(progress):
        if method == "umap":
            xy, parameters = _umap(directions, start, neighbours, k, seed, epochs or usual_epochs(len(points)))
        else:
            xy, parameters = _tsne(start, neighbours, k, seed, progress)
    kept = neighbours_kept(xy, neighbours)
    return Projection(xy, method, {"seed": seed, **parameters}, {"neighbours_kept": kept}, notes)


def principal_axes(points: Array, dimensions: int = 2) -> Projection:
    """The principal axes of points, by the eigenvectors of their covariance; nothing is random.

    The largest coefficient of each axis is positive. Axes that the points do not have (d_head below ``dimensions``)
    are zero, and the notes say so.

    Raises EmbeddingError for a number of dimensions that is not whole and positive.

    **Source** scikit-learn's PCA with ``svd_solver="covariance_eigh"``, in float64; the sign rule is ours.
    """
    from sklearn.decomposition import PCA

    points, dimensions = np.asarray(points, dtype=np.float64), whole("dimensions", dimensions, 1)
    n, width = points.shape
    xy, variance = np.zeros((n, dimensions)), 0.0
    most = min(dimensions, n, width)
    if n > 1 and np.ptp(points, axis=0).any():
        pca = PCA(n_components=most, svd_solver="covariance_eigh").fit(points)
        axes = pca.components_
        largest = np.take_along_axis(axes, np.abs(axes).argmax(axis=1)[:, None], axis=1)
        xy[:, :most] = ((points - pca.mean_) @ axes.T) * np.sign(largest).ravel()
        variance = float(pca.explained_variance_ratio_.sum())
    notes = (f"Only {most} of {dimensions} axes exist for {_points(n)} of width {width}.",) if most < dimensions else ()
    return Projection(xy, "pca", {"dimensions": dimensions}, {"variance": variance}, notes)


def neighbours_kept(xy: Array, neighbours: Neighbours, most_rows: int = 500, seed: int = 0) -> float:
    """Share of each point's 15 nearest by cosine that are among its 15 nearest in the picture, over a seeded sample."""
    from scipy.spatial import KDTree

    k = min(NEIGHBOURS, neighbours.k)
    rows = np.arange(len(neighbours.rows))
    if len(rows) > most_rows:
        rows = np.sort(np.random.default_rng(seed).choice(rows, size=most_rows, replace=False))
    places = np.atleast_2d(KDTree(xy).query(xy[neighbours.rows[rows]], k=k + 1)[1])
    own = neighbours.rows[rows, None]
    shared = [(np.isin(near[near != me][:k], there)).sum() for near, me, there in zip(
        places, own[:, 0], neighbours.index[rows, :k], strict=True)]  # fmt: skip
    return float(np.mean(shared) / k)


def warm_up() -> None:
    """Import UMAP and compile it on a few points, so that the first click does not wait; takes seconds."""
    project(np.random.default_rng(0).normal(size=(40, 4)), "umap", epochs=2)


def wanted_neighbours(method: Method, points: int) -> int:
    """Neighbours per point that a method needs, as many as there are at most."""
    return min(_sizes(method)[1], points - 1)


def usual_epochs(points: int) -> int:
    """Epochs of UMAP for so many points."""
    return EPOCHS if points < MANY else FEWER_EPOCHS


def _sizes(method: Method) -> tuple[int, int]:
    """The setting as asked for, and the neighbours it takes."""
    return (NEIGHBOURS, NEIGHBOURS) if method == "umap" else (PERPLEXITY, 3 * PERPLEXITY)


def _nothing_to_arrange(points: Array) -> str:
    if len(points) < FEWEST:
        return f"{_points(len(points))}: too few to arrange, {FEWEST} are needed."
    directions = unit(points)
    if np.ptp(directions, axis=0).max() < 1e-12:
        return "All points lie in one direction, so cosine distance tells none apart."
    return ""


def _points(count: int) -> str:
    return f"{count:,} point{'s' * (count != 1)}"


def _said(method: Method, points: Array, k: int, wanted: int, asked: int) -> tuple[str, ...]:
    notes = []
    if k < wanted:
        what = (
            f"{k} neighbours instead of {asked}" if method == "umap" else f"Perplexity {k / 3:.3g} instead of {asked}"
        )
        notes.append(f"{what}: there are only {_points(len(points))}.")
    zero = int((~points.any(axis=1)).sum())
    if zero:
        have = "has" if zero == 1 else "have"
        notes.append(f"{_points(zero)} {have} length zero and no direction: the cosine distance is taken as 1.")
    return tuple(notes)


def _start(directions: Array, dimensions: int, seed: int) -> Array:
    """Principal axes of the directions, the widest 10 units from the centre, with noise that parts equal points."""
    xy = principal_axes(directions, dimensions).xy.astype(np.float64)
    xy *= 10 / np.abs(xy).max()
    return (xy + np.random.default_rng(seed).normal(scale=1e-4, size=xy.shape)).astype(np.float32)


@contextmanager
def _alone(progress: Progress | None) -> Iterator[None]:
    """Hold the lock of UMAP and t-SNE; ``progress`` may cancel the wait."""
    while not _ONE.acquire(timeout=0.2):
        if progress:
            progress(0, 1, "waiting for another map")
    try:
        if progress:
            progress(0, 1, "arranging points")
        yield
    finally:
        _ONE.release()


def _umap(
    directions: Array, start: Array, neighbours: Neighbours, k: int, seed: int, epochs: int
) -> tuple[Array, dict[str, Any]]:
    from umap import UMAP  # seconds to import

    n = len(directions)
    count = min(k, NEIGHBOURS)
    own = np.arange(n, dtype=np.int32)[:, None]  # UMAP counts a point as its own first neighbour
    index = np.hstack([own, neighbours.index[:, : count - 1]])
    distance = np.hstack([np.zeros((n, 1), np.float32), neighbours.distance[:, : count - 1]])
    arranger = UMAP(
        n_neighbors=count, n_components=start.shape[1], min_dist=MIN_DISTANCE, metric="cosine", init=start,
        n_epochs=epochs, random_state=seed, n_jobs=1, precomputed_knn=(index, distance, None),
        force_approximation_algorithm=True,
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="precomputed_knn", module="umap")  # no later transform is wanted
        xy = arranger.fit_transform(directions.astype(np.float32))
    return xy, {"neighbours": count, "min_distance": MIN_DISTANCE, "metric": "cosine", "epochs": epochs}


def _tsne(
    start: Array, neighbours: Neighbours, k: int, seed: int, progress: Progress | None
) -> tuple[Array, dict[str, Any]]:
    from openTSNE import TSNE
    from openTSNE.affinity import PerplexityBasedNN
    from openTSNE.nearest_neighbors import PrecomputedNeighbors

    done = itertools.count(25, 25)  # openTSNE's own count begins again after early exaggeration

    def step(iteration: int, error: float, embedding: Array) -> None:
        if progress:
            progress(min(next(done), 750), 750, "arranging points")

    index, distance = (np.ascontiguousarray(array[:, :k]) for array in (neighbours.index, neighbours.distance))
    n, dimensions = start.shape
    perplexity = k / 3
    affinities = PerplexityBasedNN(
        perplexity=perplexity, knn_index=PrecomputedNeighbors(index, distance), n_jobs=1, random_state=seed
    )
    gradient = "fft" if n >= FFT_FROM and dimensions == 2 else "bh"
    arranger = TSNE(
        n_components=dimensions, perplexity=perplexity, n_jobs=1, random_state=seed, negative_gradient_method=gradient,
        callbacks=step, callbacks_every_iters=25,
    )  # fmt: skip
    xy = arranger.fit(affinities=affinities, initialization=start * 1e-5)  # openTSNE's own width of a start
    return np.asarray(xy), {"perplexity": perplexity, "metric": "cosine", "iterations": 750}
