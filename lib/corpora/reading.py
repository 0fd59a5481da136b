"""Pasted text and uploaded files: to documents, with a note on everything that was changed on the way.

What is read: txt, md, csv, jsonl, conllu, png, jpg, webp. Nothing is executed and nothing is unpickled.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from pathlib import Path, PurePath

from lib.errors import HeadlightError

from .conll import parsed
from .decoding import READABLE, cleaned, content, decoded
from .document import Document
from .pictures import is_picture, picture
from .records import from_csv, from_jsonl
from .sentences import sentence_spans

MAX_BYTES = 5 * 2**20


@dataclass(frozen=True)
class Reading:
    """What came out of a text or file, and one sentence for everything that was changed or guessed."""

    documents: tuple[Document, ...]
    notes: tuple[str, ...] = ()


def from_text(text: str, name: str = "text") -> list[Document]:
    """One document of a text, its sentences found by rule; `read_text` also returns the notes.

    Raises HeadlightError for an empty text and for more than 5 MB.
    """
    return list(read_text(text, name).documents)


def from_file(source: str | Path | bytes, name: str | None = None) -> list[Document]:
    """The documents of a file, given by its path or by its bytes and name; `read_file` also returns the notes.

    Raises HeadlightError, naming what to do, for whatever cannot be read.
    """
    return list(read_file(source, name).documents)


def read_text(text: str, name: str = "text") -> Reading:
    """One document of a text, its sentences found by rule, and what was cleaned.

    Raises HeadlightError for an empty text and for more than 5 MB.
    """
    if (size := len(text.encode("utf-8", "surrogatepass"))) > MAX_BYTES:
        raise _too_large(size)
    clean, notes = cleaned(text)
    return Reading((plain_document(clean, name),), notes)


def read_file(source: str | Path | bytes, name: str | None = None) -> Reading:
    """The documents of a file, given by its path or by its bytes and name, and what was changed or guessed.

    The kind of an image is taken from its bytes, that of a text from its name; an unknown ending is read as plain text.

    Raises HeadlightError, naming what to do, for whatever cannot be read.
    """
    data, name = content(source, name)
    kind = PurePath(name).suffix.lower().lstrip(".")
    stem = PurePath(name).stem or name
    if not data:
        raise HeadlightError(READABLE, f"{name!r}, which is empty (0 bytes)", "Choose another file.")
    if len(data) > MAX_BYTES:
        raise _too_large(len(data))
    if is_picture(data) or kind in ("png", "jpg", "jpeg", "webp"):
        document, notes = picture(data, stem)
        return Reading((document,), notes)
    text, encoding = decoded(data, name)
    text, removed = cleaned(text)
    notes = (*encoding, *removed)
    if kind == "conllu":
        return Reading(tuple(parsed(text, name)), notes)
    if kind in ("csv", "tsv", "jsonl"):
        rows, said = (from_jsonl if kind == "jsonl" else from_csv)(text, stem)
        return Reading(tuple(plain_document(row, title) for title, row in rows), (*notes, *said))
    return Reading((plain_document(text, stem),), notes)


def plain_document(text: str, name: str) -> Document:
    """A text as one document, sentences by rule, the whole text as its single topic.

    Raises HeadlightError where there is nothing that can be seen.
    """
    sentences = sentence_spans(text)
    if not sentences or not any(map(_visible, text)):
        raise HeadlightError("a text with words in it", f"only white space in {name!r}", "Write or choose a text.")
    return Document(name, text, sentences, topics=((0, len(text)),))


def _visible(character: str) -> bool:
    return unicodedata.category(character) not in ("Zs", "Zl", "Zp", "Cc", "Cf", "Cs")


def _too_large(size: int) -> HeadlightError:
    return HeadlightError(
        "at most 5 MB", f"{size / 2**20:.1f} MB", "Cut it into parts; a model reads some hundred words at a time."
    )
