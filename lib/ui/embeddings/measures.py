"""What the page works on: documents cut to what fits, their queries and keys, and maps; each once, in the store."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lib.capture import Capture, stored
from lib.embeddings import (
    JointEmbedding,
    MapSettings,
    Projection,
    Sample,
    Trust,
    head_map,
    load_tile,
    project,
    save_tile,
    trust,
)
from lib.embeddings.joint import KEY, QUERY, Z
from lib.embeddings.reading import Reading, read_documents
from lib.embeddings.sampling import THUMBNAIL
from lib.embeddings.tiles import Tile
from lib.errors import HeadlightError
from lib.ui import cached
from lib.ui.captured import corpus_key
from lib.ui.progress import Progress, give_way, progress_line
from lib.ui.scene import Scene

MATRIX, ONE = 2_000, 5_000  # tokens drawn: of all heads by PCA, and of one head; UMAP and t-SNE draw THUMBNAIL


@dataclass(frozen=True)
class Ask:
    """What the controls ask for; all of it ids and numbers, so that it can be a key.

    stream: as in ``Capture.streams``. read: tokens read at most. scale, roles: as in ``head_map``. special: whether
    special tokens are drawn.
    """

    stream: str
    read: int
    method: str
    scale: str | float
    roles: tuple[str, ...]
    special: bool

    def settings(self, most: int | None = None, dimensions: int = 2, seed: int = 0) -> MapSettings:
        """How maps are made; ``most`` tokens, what all heads at once show if None."""
        most = most or (MATRIX if self.method == "pca" else THUMBNAIL)
        return MapSettings(self.method, dimensions, self.scale, self.roles, most, self.special, seed)


@dataclass(frozen=True, eq=False)
class Points:
    """Which token each point of a map is. role: index into ROLES; token: row of the capture's table of its side."""

    role: np.ndarray
    token: np.ndarray

    @property
    def key_side(self) -> np.ndarray:
        """Whether the token is one of the key side's table."""
        return ~np.isin(self.role, (QUERY, Z))


def reading(scene: Scene, ask: Ask) -> Reading:
    """Every document of the corpus where that fits, each to its share of the tokens."""
    return cached.kept(
        "embeddings: reading",
        reading_key(scene, ask),
        lambda: read_documents(scene.documents, scene.engine, ask.read, scene.choice.tokens),
    )


def captured(scene: Scene, ask: Ask) -> Capture:
    """Queries and keys of all heads, and values and outputs where they are shown; mapped from the store."""
    read = reading(scene, ask)
    kinds = [("query", "key")] + [("value", "z")] * bool({"value", "z"} & set(ask.roles))

    def build(keep: tuple[str, ...]) -> Capture:
        with progress_line() as progress:
            return stored(cached.store(), scene.engine, read.encodings, keep, progress=progress)

    key = reading_key(scene, ask)
    found = [cached.kept("embeddings: capture", f"{kind} {key}", lambda kind=kind: build(kind)) for kind in kinds]
    taken = found[0].streams.get(ask.stream)
    if taken is None:
        raise HeadlightError(f"one of {', '.join(found[0].streams)}", ask.stream, "Choose another attention.")
    if len(found) > 1:
        more = found[1].streams[ask.stream]
        taken = replace(taken, value=more.value, z=more.z, others={})
    return taken


def map_points(settings: MapSettings, own: Sample, theirs: Sample) -> Points:
    """Which token each point of a map with these settings is, in the order of ``head_map``."""
    rows = {"query": own.rows, "key": theirs.rows, "value": theirs.rows, "z": own.rows}
    roles = [role for role in rows if role in settings.roles]
    codes = {"query": 0, "key": 1, "value": 2, "z": 3}
    return Points(
        np.concatenate([np.full(len(rows[role]), codes[role], np.uint8) for role in roles]),
        np.concatenate([rows[role] for role in roles]),
    )


def samples(taken: Capture, settings: MapSettings) -> tuple[Sample, Sample]:
    """The tokens of both sides that maps with these settings show; drawn once."""
    key = f"{taken.hash} {settings.most} {settings.special} {settings.seed}"
    return cached.kept("embeddings: samples", key, lambda: settings.samples(taken))


def joint(taken: Capture, settings: MapSettings, layer: int, head: int) -> tuple[JointEmbedding, Sample, Sample]:
    """The map of one head, and the tokens of both sides that it shows."""
    own, theirs = samples(taken, settings)
    return head_map(taken, layer, head, settings.scale, settings.roles, own.rows, theirs.rows), own, theirs


def one_map(taken: Capture, settings: MapSettings, layer: int, head: int, progress: Progress | None = None) -> Tile:
    """The picture of one head: from the store where it was drawn before; PCA is drawn afresh. progress may cancel."""
    store, pca = cached.store(), settings.method == "pca"
    found = None if pca else load_tile(store, taken.hash, settings, layer, head)
    if found is None:
        made, _, _ = joint(taken, settings, layer, head)
        drawn = project(made.points, settings.method, settings.dimensions, settings.seed, progress=progress)
        found = Tile(layer, head, drawn, made.role, made.note)
        if not pca:
            save_tile(store, taken.hash, settings, found)
    return found


def trusted_numbers(taken: Capture, settings: MapSettings, tile: Tile, other: Projection | None) -> Trust | None:
    """The trust numbers of a picture; None where it does not show queries and keys."""
    if not {"query", "key"} <= set(settings.roles):
        return None
    key = f"{settings.key(taken.hash, tile.layer, tile.head)} {other is not None}"

    def build() -> Trust:
        made, own, theirs = joint(taken, settings, tile.layer, tile.head)
        drawn, second, shown = tile.projection, other, made
        if set(settings.roles) != {"query", "key"}:
            keep = np.isin(made.role, (QUERY, KEY))
            shown = replace(made, points=made.points[keep], role=made.role[keep])
            drawn = replace(drawn, xy=drawn.xy[keep])
            second = None if other is None else replace(other, xy=other.xy[keep])
        return trust(taken, tile.layer, tile.head, shown, drawn, own, theirs, second, progress=give_way)

    return cached.kept("embeddings: trust", key, build)


def reading_key(scene: Scene, ask: Ask) -> str:
    """Names the model with these texts as they are read."""
    return f"{corpus_key(scene, scene.documents, scene.engine)} {ask.read}"
