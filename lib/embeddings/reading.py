"""Which documents are read for the maps, and how much of each: the same for the page and for who fills its store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lib.capture.budget import kept_bytes
from lib.capture.check import trusted
from lib.corpora import Document, Encoding, encode
from lib.models import Engine

READ = 5_000  # tokens, where nobody asks for another number
IN_MEMORY = 300_000_000  # bytes of vectors while they are captured: a small host has less than a gigabyte in all
LEAST = 16  # tokens of a document: more documents are left out rather than cut shorter


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


def read_documents(documents: Sequence[Document], engine: Engine, most: int = READ, max_length: int = 0) -> Reading:
    """Every document of a corpus where that fits, each to its share of the tokens.

    most: tokens in all, or what memory holds where that is less; max_length: of one text, 0 for the model's own limit.
    Raises what ``encode`` raises.
    """
    most = min(most, most_tokens(engine))
    return _images(documents, engine, most) if engine.kind == "vision" else _texts(documents, engine, most, max_length)


def most_tokens(engine: Engine) -> int:
    """Tokens whose queries and keys, in all heads, may be in memory at once."""
    layout = trusted(engine)
    lengths = [(1000, 1000 if engine.kind == "encoder-decoder" else 0)]
    return int(1000 * IN_MEMORY / kept_bytes(lengths, layout, layout.chosen(None, layout.streams), ("query", "key")))


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


def _images(documents: Sequence[Document], engine: Engine, most: int) -> Reading:
    first = encode(documents[0], engine)
    places = spread(len(documents), max(1, most // len(first.table)))
    chosen = tuple(documents[place] for place in places)
    read = tuple(encode(document, engine) for document in chosen)
    tokens = sum(len(one.table) for one in read)
    return Reading(places, chosen, read, 0, _counted(len(chosen), len(documents), "image", f"{tokens:,} tokens."))


def _texts(documents: Sequence[Document], engine: Engine, most: int, max_length: int) -> Reading:
    places = spread(len(documents), max(1, most // LEAST))
    chosen = tuple(documents[place] for place in places)
    whole = [encode(document, engine, max_length or None) for document in chosen]
    cut = share(np.array([len(one.table) for one in whole]), most)
    read = tuple(
        one if len(one.table) <= cut else encode(document, engine, cut)
        for one, document in zip(whole, chosen, strict=True)
    )
    tokens = sum(len(one.table) for one in read)
    beginnings = f", at most the first {cut} of each" if any(one.lost for one in read) else ""
    note = _counted(len(chosen), len(documents), "document", f"{tokens:,} tokens{beginnings}.")
    return Reading(places, chosen, read, cut, note)


def _counted(chosen: int, there: int, thing: str, rest: str) -> str:
    many = f"{chosen:,} {thing}{'s' if chosen > 1 else ''}" + (f" of {there:,}" if chosen < there else "")
    return f"{many}, {rest}"
