"""What the page works on: documents cut to what fits, their queries and keys, and maps; each once, in the store."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lib.capture import Capture, capture
from lib.capture.budget import kept_bytes
from lib.capture.check import trusted
from lib.corpora import Document, Encoding, encode
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
from lib.embeddings.tiles import Tile
from lib.errors import HeadlightError
from lib.models import Engine
from lib.ui import cached
from lib.ui.captured import corpus_key
from lib.ui.progress import progress_line
from lib.ui.scene import Scene

IN_MEMORY = 300_000_000  # bytes of vectors while they are captured: a small host has less than a gigabyte in all
LEAST = 16  # tokens of a document: more documents are left out rather than cut shorter
MATRIX, THUMBNAIL, ONE = 2_000, 1_000, 5_000  # tokens drawn: of all heads by PCA, by UMAP or t-SNE, and of one head


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
class Reading:
    """The documents as they are read: some of the corpus, each cut to its share.

    places: index of each document in the corpus. cut: tokens of each at most. note: in words, what was left out.
    """

    places: tuple[int, ...]
    documents: tuple[Document, ...]
    encodings: tuple[Encoding, ...]
    cut: int
    note: str


@dataclass(frozen=True, eq=False)
class Points:
    """Which token each point of a map is. role: index into ROLES; token: row of the capture's table of its side."""

    role: np.ndarray
    token: np.ndarray

    @property
    def key_side(self) -> np.ndarray:
        """Whether the token is one of the key side's table."""
        return ~np.isin(self.role, (QUERY, Z))


def most_tokens(engine: Engine) -> int:
    """Tokens whose queries and keys, in all heads, may be in memory at once."""
    layout = trusted(engine)
    lengths = [(1000, 1000 if engine.kind == "encoder-decoder" else 0)]
    return int(1000 * IN_MEMORY / kept_bytes(lengths, layout, layout.chosen(None, layout.streams), ("query", "key")))


def reading(scene: Scene, ask: Ask) -> Reading:
    """Every document of the corpus where that fits, each to its share of the tokens."""

    def build() -> Reading:
        most = min(ask.read, most_tokens(scene.engine))
        if scene.engine.kind == "vision":
            return _images(scene, most)
        return _texts(scene, most)

    return cached.kept("embeddings: reading", reading_key(scene, ask), build)


def _images(scene: Scene, most: int) -> Reading:
    first = encode(scene.documents[0], scene.engine)
    places = spread(len(scene.documents), max(1, most // len(first.table)))
    chosen = tuple(scene.documents[place] for place in places)
    read = tuple(encode(document, scene.engine) for document in chosen)
    tokens = sum(len(one.table) for one in read)
    return Reading(places, chosen, read, 0, _counted(len(chosen), len(scene.documents), "image", f"{tokens:,} tokens."))


def _texts(scene: Scene, most: int) -> Reading:
    places = spread(len(scene.documents), max(1, most // LEAST))
    chosen = tuple(scene.documents[place] for place in places)
    whole = [encode(document, scene.engine, scene.choice.tokens) for document in chosen]
    cut = share(np.array([len(one.table) for one in whole]), most)
    read = tuple(
        one if len(one.table) <= cut else encode(document, scene.engine, cut)
        for one, document in zip(whole, chosen, strict=True)
    )
    tokens = sum(len(one.table) for one in read)
    beginnings = f", at most the first {cut} of each" if any(one.lost for one in read) else ""
    return Reading(
        places,
        chosen,
        read,
        cut,
        _counted(len(chosen), len(scene.documents), "document", f"{tokens:,} tokens{beginnings}."),
    )


def _counted(chosen: int, there: int, thing: str, rest: str) -> str:
    many = f"{chosen:,} {thing}{'s' if chosen > 1 else ''}" + (f" of {there:,}" if chosen < there else "")
    return f"{many}, {rest}"


def spread(count: int, most: int) -> tuple[int, ...]:
    """At most so many of 0 … count − 1, evenly spaced."""
    return tuple(np.unique(np.linspace(0, count - 1, min(count, most)).astype(int)).tolist())


def share(lengths: np.ndarray, most: int) -> int:
    """The longest cut with which documents of these lengths hold ``most`` tokens together.

    >>> share(np.array([4, 10, 30]), 24)
    10
    """
    low, high = 1, int(lengths.max())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(lengths, middle).sum() <= most else (low, middle - 1)
    return low


def captured(scene: Scene, ask: Ask) -> Capture:
    """Queries and keys of all heads, and values and outputs where they are shown; mapped from the store."""
    read = reading(scene, ask)
    kinds = [("query", "key")] + [("value", "z")] * bool({"value", "z"} & set(ask.roles))

    def build(keep: tuple[str, ...]) -> Capture:
        with progress_line() as progress:
            return cached.store().capture(
                f"{'+'.join(keep)} {reading_key(scene, ask)}",
                lambda: capture(scene.engine, read.encodings, keep, progress=progress),
            )

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


def joint(taken: Capture, settings: MapSettings, layer: int, head: int) -> tuple[JointEmbedding, Sample, Sample]:
    """The map of one head, and the tokens of both sides that it shows."""
    own, theirs = settings.samples(taken)
    return head_map(taken, layer, head, settings.scale, settings.roles, own.rows, theirs.rows), own, theirs


def one_map(taken: Capture, settings: MapSettings, layer: int, head: int) -> Tile:
    """The picture of one head: from the store where it was drawn before; PCA is drawn afresh."""
    store, pca = cached.store(), settings.method == "pca"
    found = None if pca else load_tile(store, taken.hash, settings, layer, head)
    if found is None:
        made, _, _ = joint(taken, settings, layer, head)
        drawn = project(made.points, settings.method, settings.dimensions, settings.seed)
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
        return trust(taken, tile.layer, tile.head, shown, drawn, own, theirs, second)

    return cached.kept("embeddings: trust", key, build)


def reading_key(scene: Scene, ask: Ask) -> str:
    """Names the model with these texts as they are read."""
    return f"{corpus_key(scene, scene.documents, scene.engine)} {ask.read}"
