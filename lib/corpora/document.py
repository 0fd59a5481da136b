"""Document: one text or one image with what is known about it. It does not tokenise; see tokens.py."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np

from lib.errors import HeadlightError

Span = tuple[int, int]  # [start, end) character offsets into Document.text


@dataclass(frozen=True, eq=False)
class Document:
    """One text or one image, its gold sentences, topics and words where they are known.

    name       what the document is called on screen
    text       the text exactly as models read it; "" for images
    sentences  character spans, ascending and disjoint, from gold data or from a rule (see `gold`)
    topics     character spans of topical segments; one whole-text span where there is a single topic
    image      uint8 (height, width, 3), made read-only
    second     character offset where the second text of a sentence pair begins
    target     what the decoder of an encoder–decoder reads; None means the text itself
    words, tags  gold word spans and their universal part-of-speech tags, of equal length
    gold       the sentences come from the source, not from a rule
    subject    the field that the document is about, "" where unknown

    Raises HeadlightError where a span leaves the text or the image has another shape or type.
    """

    name: str
    text: str = ""
    sentences: tuple[Span, ...] = ()
    topics: tuple[Span, ...] = ()
    image: np.ndarray | None = None
    second: int | None = None
    target: str | None = None
    words: tuple[Span, ...] = ()
    tags: tuple[str, ...] = ()
    gold: bool = False
    subject: str = ""

    def __post_init__(self) -> None:
        for axis in ("sentences", "topics", "words"):
            object.__setattr__(self, axis, _checked_spans(getattr(self, axis), axis, self.text))
        object.__setattr__(self, "tags", tuple(self.tags))
        if self.tags and len(self.tags) != len(self.words):
            raise HeadlightError(
                f"one tag per word, ({len(self.words)},)", f"tags ({len(self.tags)},)", "Give both or neither."
            )
        if self.second is not None and not 0 < self.second < len(self.text):
            raise HeadlightError(
                f"the second text to begin inside the text (0 < second < {len(self.text)})",
                f"second = {self.second}",
                "Give the offset of its first character.",
            )
        if self.image is not None:
            object.__setattr__(self, "image", _checked_image(self.image))

    @property
    def kind(self) -> str:
        """ "image" where the document holds an image, else "text"."""
        return "text" if self.image is None else "image"

    @cached_property
    def hash(self) -> str:
        """Hex digest of everything that the document holds; equal documents have equal digests."""
        digest = hashlib.sha256()
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, np.ndarray):
                digest.update(f"{field.name}{value.shape}".encode())
                digest.update(np.ascontiguousarray(value).tobytes())
            else:
                digest.update(f"{field.name}={value!r}\x1f".encode("utf-8", "surrogatepass"))
        return digest.hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Document) and self.hash == other.hash

    def __hash__(self) -> int:
        return hash(self.hash)


def _checked_spans(spans: tuple[Span, ...], axis: str, text: str) -> tuple[Span, ...]:
    clean = tuple((int(start), int(end)) for start, end in spans)
    last = 0
    for start, end in clean:
        if not last <= start < end <= len(text):
            raise HeadlightError(
                f"{axis} as ascending, disjoint, non-empty spans inside a text of {len(text)} characters",
                f"span ({start}, {end}) after offset {last}",
                "Give [start, end) character offsets into the text.",
            )
        last = end
    return clean


def _checked_image(image: np.ndarray) -> np.ndarray:
    image = np.asarray(image)
    if image.ndim != 3 or image.shape[2] != 3 or image.dtype != np.uint8 or 0 in image.shape:
        raise HeadlightError(
            "an image of uint8 (height, width, 3)",
            f"{image.dtype} {image.shape}",
            "Convert it to 8-bit RGB first; lib.corpora.from_file does so.",
        )
    image = image.copy()
    image.setflags(write=False)
    return image
