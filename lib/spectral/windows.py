"""Windows: stretches of one length cut from documents, ready for a model, with what was skipped.

A window holds ``length`` ordinary tokens; the model's special tokens stand round each window as round a document.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lib.corpora.document import Document, Span
from lib.corpora.table import TokenTable
from lib.corpora.tokens import Encoding, encode
from lib.errors import HeadlightError
from lib.numerals import plural

DEFAULT_COUNT = 150
SHORTER = (192, 128, 96, 64, 48, 32, 24, 18)  # tokens tried where text is short; 18 have the fewest lags for one scale
ENOUGH = 12  # windows with which a shorter length is left alone
FEWEST = 3  # windows without which there are no statistics
SPARE_TEXT = 2  # times the text that the windows need is read, so that they spread over it
READ_AT_LEAST = 40_000  # characters, so that small requests are spread over many documents too
SAMPLED_CHARACTERS = 2000  # from which the characters per token are estimated


@dataclass(frozen=True, eq=False)
class Windows(Sequence[Encoding]):
    """Windows of one length; a sequence of Encoding.

    encodings  one per window, special tokens included
    texts      what each window covers, as it was written
    documents  index of the document that each window comes from
    starts     position of its first token among the document's ordinary tokens
    length     L, ordinary tokens per window
    overlap    share of a window that the next one of the same document repeats: 0 or ½
    skipped    documents shorter than L tokens, left out
    unread     documents not looked at, because enough text came before them
    wanted     the length asked for, or the usual one; longer than L where the text is too short for it
    """

    encodings: tuple[Encoding, ...]
    texts: tuple[str, ...]
    documents: tuple[int, ...]
    starts: tuple[int, ...]
    length: int
    overlap: float
    skipped: int
    unread: int
    wanted: int

    def __len__(self) -> int:
        return len(self.encodings)

    def __getitem__(self, index: Any) -> Any:
        return self.encodings[index]

    @property
    def summary(self) -> str:
        """One sentence for the figure: how many windows of what, and what was left out."""
        sources = plural(len(set(self.documents)), "document")
        said = [f"{plural(len(self), 'window')} of {self.length} tokens from {sources}"]
        if self.overlap:
            said.append("neighbours overlap by half, so they are not independent")
        if self.skipped:
            were = "was" if self.skipped == 1 else "were"
            said.append(f"{plural(self.skipped, 'document')} shorter than {self.length} tokens {were} skipped")
        if self.unread:
            were = "was" if self.unread == 1 else "were"
            said.append(f"{plural(self.unread, 'document')} {were} not needed")
        return "; ".join(said) + "."

    @property
    def special(self) -> int:
        """Special tokens that are fed with each window and not counted in its length."""
        return int(self.encodings[0].table.is_special.sum())


def windows(
    documents: Sequence[Document],
    engine: Any,
    length: int | None = None,
    count: int = DEFAULT_COUNT,
    overlap: bool = True,
) -> Windows:
    """Cut up to ``count`` windows of ``length`` ordinary tokens from documents, spread evenly over them.

    length: tokens per window, special tokens not counted; None gives 256 for character models and 64 for others,
    or what fits the model, and less, 18 at least, where the text does not give a dozen such windows. overlap: whether
    windows may overlap by half where the text is too short for ``count`` windows side by side.

    Raises HeadlightError where ``length`` does not fit the model, where no document is long enough and for a
    ``count`` below 1.
    """
    if count < 1:
        raise HeadlightError("at least 1 window to cut", f"a count of {count}", "Ask for 3 or more.")
    if engine.kind == "vision":
        raise HeadlightError("a text model", f"{engine.name}, a vision model", "Patches have no lag.")
    wanted = _default_length(engine) if length is None else int(length)
    bodies, unread = _read(documents, engine, wanted * count)
    sizes = [kept_length(body) for body in bodies]
    length = _fitted(wanted, sizes, count) if length is None else wanted
    _check_length(length, bodies, engine)
    skipped = sum(size < length for size in sizes)
    slots, share = _slots(sizes, length, length), 0.0
    if len(slots) < count and overlap:
        slots, share = _slots(sizes, length, max(1, length // 2)), 0.5
    if not slots:
        raise HeadlightError(
            f"a document of at least {length} tokens",
            f"{plural(len(documents), 'document')}, the longest of {plural(max(sizes, default=0), 'token')}",
            "Choose a longer text or shorter windows.",
        )
    chosen = np.unique(np.linspace(0, len(slots) - 1, min(count, len(slots))).round().astype(int))
    slots = [slots[i] for i in chosen]
    encodings = tuple(cut(bodies[d], start, start + length) for d, start in slots)
    return Windows(
        encodings=encodings,
        texts=tuple(_text(e, documents[d].text) for e, (d, _) in zip(encodings, slots, strict=True)),
        documents=tuple(d for d, _ in slots),
        starts=tuple(start for _, start in slots),
        length=length,
        overlap=share,
        skipped=skipped,
        unread=unread,
        wanted=wanted,
    )


def kept_length(encoding: Encoding) -> int:
    """Ordinary tokens of an encoding: special tokens not counted."""
    return int((~encoding.table.is_special).sum())


def cut(encoding: Encoding, start: int, stop: int) -> Encoding:
    """The encoding of its ordinary tokens ``start`` … ``stop`` − 1 between the special tokens at its ends.

    Special tokens between ordinary ones are dropped, unless nothing is cut.
    """
    kept = np.flatnonzero(~encoding.table.is_special)
    if start == 0 and stop == len(kept):
        return encoding
    rows = np.r_[: kept[0], kept[start:stop], kept[-1] + 1 : len(encoding.table)]
    types = None if encoding.type_ids is None else encoding.type_ids[rows]
    target: dict[str, Any] = {}
    if encoding.target_table is not None:
        ahead = np.arange(min(1 + start, len(encoding.target_table)), len(encoding.target_table))
        target_rows = np.r_[0, ahead[: stop - start]]
        target = {
            "target_ids": encoding.target_ids[target_rows],
            "target_table": _renumbered(encoding.target_table, target_rows),
        }
    return replace(
        encoding,
        table=_renumbered(encoding.table, rows),
        token_ids=encoding.token_ids[rows],
        type_ids=types,
        lost=0,
        **target,
    )


class _Unbounded:
    """An engine without a window: the document is read whole, only windows of it are fed."""

    max_length = None

    def __init__(self, engine: Any) -> None:
        self._engine = engine

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def _read(documents: Sequence[Document], engine: Any, tokens: int) -> tuple[list[Encoding], int]:
    """Encodings of the first documents, some times ``tokens`` in all, and how many documents were left."""
    engine = _Unbounded(engine)
    sample = next((d for d in documents if d.text.strip()), None)
    if sample is None:
        return [Encoding(table=TokenTable.join([])) for _ in documents], 0
    sampled = encode(_beginning(sample, SAMPLED_CHARACTERS), engine)
    per_token = min(len(sample.text), SAMPLED_CHARACTERS) / kept_length(sampled)
    characters = max(READ_AT_LEAST, int(SPARE_TEXT * per_token * tokens))
    bodies: list[Encoding] = []
    for document in documents:
        if characters <= 0:
            break
        if document.text.strip():
            bodies.append(encode(_beginning(document, characters), engine))
        else:
            bodies.append(Encoding(table=TokenTable.join([])))  # counts as too short
        characters -= len(document.text)
    return bodies, len(documents) - len(bodies)


def _beginning(document: Document, characters: int) -> Document:
    if len(document.text) <= characters:
        return document
    text = document.text[:characters]

    def within(spans: tuple[Span, ...]) -> tuple[Span, ...]:
        return tuple(span for span in spans if span[1] <= characters)

    words = within(document.words)
    second = document.second if document.second is not None and document.second < characters else None
    return replace(
        document,
        text=text,
        sentences=within(document.sentences),
        topics=(),
        words=words,
        tags=document.tags[: len(words)],
        second=second,
    )


def _slots(sizes: Sequence[int], length: int, stride: int) -> list[tuple[int, int]]:
    return [(d, start) for d, size in enumerate(sizes) for start in range(0, size - length + 1, stride)]


def _default_length(engine: Any) -> int:
    characters = engine.family == "char_gpt"
    room = engine.max_length or 256
    return min(256, room) if characters else min(64, room - 2)


def _fitted(wanted: int, sizes: Sequence[int], count: int) -> int:
    """The longest usual length, ``wanted`` at most, that gives enough windows; else the shortest."""
    tried = [wanted, *(length for length in SHORTER if length < wanted)]
    windows_of = {length: len(_slots(sizes, length, max(1, length // 2))) for length in tried}
    enough = [length for length in tried if windows_of[length] >= min(ENOUGH, count)]
    if not enough and windows_of[tried[-1]] < min(FEWEST, count):
        raise HeadlightError(
            f"text for {FEWEST} windows of {tried[-1]} tokens, which is {2 * tried[-1]} tokens in a row",
            f"{plural(len(sizes), 'document')}, the longest of {plural(max(sizes, default=0), 'token')}",
            "Choose or paste a longer text.",
        )
    return enough[0] if enough else tried[-1]


def _check_length(length: int, bodies: Sequence[Encoding], engine: Any) -> None:
    special = max((int(b.table.is_special.sum()) for b in bodies), default=0)
    room = (engine.max_length or length + special) - special
    if not 4 <= length <= room:
        around = f" ({engine.max_length} less {special} special tokens)" if special else ""
        raise HeadlightError(
            f"windows of 4 to {room} tokens for {engine.name}{around}", f"{length}", "Choose shorter windows."
        )


def _text(encoding: Encoding, text: str) -> str:
    table = encoding.table
    shown = table.start >= 0
    return text[table.start[shown].min() : table.end[shown].max()] if shown.any() else ""


def _renumbered(table: TokenTable, rows: np.ndarray) -> TokenTable:
    return replace(table.at(rows), pos=np.arange(len(rows)))
