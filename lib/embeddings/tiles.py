"""The maps of all heads at once: each is handed over as soon as it is ready, from as many processes as joblib has."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np
from joblib import Parallel, delayed

from lib.capture.value import Capture

from .errors import EmbeddingError
from .joint import JointEmbedding, head_map
from .projection import METHODS, Method, Projection, principal_axes, project
from .sampling import THUMBNAIL, Sample, sample_tokens
from .scale import Rule
from .spans import whole

Array = np.ndarray
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class MapSettings:
    """What a map is made with; two maps with the same settings of the same capture are the same.

    method, dimensions, seed as in ``project``; scale as in ``joint_embedding``; roles of ROLES; most: tokens
    shown; special: whether special tokens are.

    Raises EmbeddingError for another method, dimensions other than 2 and 3, and numbers that are not whole.
    """

    method: Method = "pca"
    dimensions: int = 2
    scale: Rule | float = "variance"
    roles: tuple[str, ...] = ("query", "key")
    most: int = THUMBNAIL
    special: bool = True
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise EmbeddingError(f"a method of {METHODS}", f"{self.method!r}", 'Use "pca" if in doubt.')
        whole("dimensions", self.dimensions, 2, 3)
        whole("most, tokens shown", self.most, 1)
        whole("seed", self.seed, 0)

    def key(self, capture_hash: str, layer: int, head: int) -> str:
        """The name under which a store keeps this map of one head."""
        shown = f"{'+'.join(self.roles)} {self.most} {'with' if self.special else 'without'} special"
        how = f"{self.method} {self.dimensions}d c={self.scale} seed={self.seed}"
        return f"map {capture_hash} L{layer} H{head} {how} {shown}"

    def samples(self, capture: Capture) -> tuple[Sample, Sample]:
        """The tokens shown of the query side and of the key side."""
        sides = ((capture.tokens, capture.doc_offsets), (capture.key_tokens, capture.key_doc_offsets))
        keep = [None if self.special else ~table.is_special for table, _ in sides]
        own, theirs = (
            sample_tokens(bounds, self.most, self.seed, kept) for (_, bounds), kept in zip(sides, keep, strict=True)
        )
        return own, theirs


@dataclass(frozen=True, eq=False)
class Tile:
    """The map of one head: its points as drawn, which role each has, and how the picture was made."""

    layer: int
    head: int
    projection: Projection
    role: Array
    note: str = ""


def all_heads(capture: Capture) -> list[tuple[int, int]]:
    """(true layer, head) of every head of a capture."""
    array = next(array for array in (capture.query, capture.key, capture.value, capture.z) if array is not None)
    return [(layer, head) for layer in capture.layers for head in range(array.shape[1])]


def wanted_heads(capture: Capture, heads: Iterable[tuple[int, int]] | None) -> list[tuple[int, int]]:
    """Those (true layer, head), all if None; raises EmbeddingError where there is none."""
    wanted = all_heads(capture) if heads is None else list(heads)
    if not wanted:
        raise EmbeddingError("at least one head", "none", "Pass (layer, head), or None for all.")
    return wanted


def tiles(
    capture: Capture,
    settings: MapSettings = MapSettings(),
    heads: Iterable[tuple[int, int]] | None = None,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Iterator[Tile]:
    """The maps of heads, each as soon as it is ready, in any order.

    heads: (true layer, head), all if None; those asked for first come first. jobs: processes; None leaves it to
    ``joblib.parallel_config`` (one by default), which may also hand the work to Dask or Ray. Principal axes take
    milliseconds and stay in this process. ``progress(done, total, stage)`` may raise to cancel between maps; closing
    the iterator does the same.

    Raises what ``head_map`` and ``project`` raise.
    """
    wanted = list(all_heads(capture) if heads is None else heads)
    own, theirs = settings.samples(capture)
    stage = f"arranging {len(wanted)} heads"

    def one(place: tuple[int, int]) -> tuple[int, int, JointEmbedding, MapSettings]:
        return (*place, head_map(capture, *place, settings.scale, settings.roles, own.rows, theirs.rows), settings)

    if settings.method == "pca":
        ready = (_tile(*one(place)) for place in wanted)
    else:  # the first here, since other processes take seconds to start
        rest = Parallel(n_jobs=jobs, return_as="generator_unordered", pre_dispatch="2*n_jobs")(
            delayed(_tile)(*one(place)) for place in wanted[1:]
        )
        ready = chain((_tile(*one(place)) for place in wanted[:1]), rest)
    if progress:
        progress(0, len(wanted), stage)
    for done, tile in enumerate(ready, start=1):
        yield tile
        if progress:
            progress(done, len(wanted), stage)


def _tile(layer: int, head: int, joint: JointEmbedding, settings: MapSettings) -> Tile:
    if settings.method == "pca":
        drawn = principal_axes(joint.points, settings.dimensions)
    else:
        drawn = project(joint.points, settings.method, settings.dimensions, settings.seed)
    return Tile(layer, head, drawn, joint.role, joint.note)
