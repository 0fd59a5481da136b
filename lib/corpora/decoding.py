"""From the bytes of a file to clean text, with a note on everything that was guessed or removed."""

from __future__ import annotations

import re
from pathlib import Path

from lib.errors import HeadlightError

READABLE = "a txt, md, csv, jsonl, conllu, png, jpg or webp file"

_FOREIGN = {  # no text begins with these bytes
    b"%PDF-": "a PDF",
    b"PK\x03\x04": "a ZIP archive (docx, xlsx and the like are such)",
    b"\x1f\x8b": "a gzip archive",
    b"GIF87a": "a GIF",
    b"GIF89a": "a GIF",
    b"\x7fELF": "a program",
    b"SQLite format 3\0": "a database",
    b"\xd0\xcf\x11\xe0": "an old Office file",
}
_BINARY = {b"MZ": "a program", b"GGUF": "a model"}  # a text may; they name what is found not to be text
_CONTROL = bytes(set(range(32)) - {9, 10, 11, 12, 13, 27} | {127})
_SURROGATE = re.compile("[\ud800-\udfff]")


def decoded_file(path: str | Path) -> str:
    """The cleaned text of a file on disk, for the readers of gold data.

    Raises HeadlightError where it cannot be found, is empty or is not text.
    """
    data, name = content(path, None)
    if not data:
        raise HeadlightError("a text file", f"{name!r}, which is empty (0 bytes)", "Choose another file.")
    return cleaned(decoded(data, name)[0])[0]


def content(source: str | Path | bytes, name: str | None) -> tuple[bytes, str]:
    """Bytes and name of a file given by its path or by its bytes.

    Raises HeadlightError where the path cannot be read.
    """
    if isinstance(source, bytes):
        return source, name or "upload.txt"
    path = Path(source)
    try:
        return path.read_bytes(), name or path.name
    except (OSError, ValueError) as error:  # ValueError: a path with NUL in it
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise HeadlightError(READABLE, f"{path.name!r}: {reason}", "Check the path and that it is a file.") from error


def decoded(data: bytes, name: str) -> tuple[str, tuple[str, ...]]:
    """Text of bytes: UTF-8, UTF-16 where a byte-order mark says so, else Windows-1252, which is noted.

    Raises HeadlightError for bytes that are not text, naming what they are where that is known.
    """
    if kind := next((what for magic, what in _FOREIGN.items() if data.startswith(magic)), None):
        raise HeadlightError(READABLE, f"{name!r}, which is {kind}", "Export it as one of these.")
    marked = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    try:
        if marked:
            return data.decode("utf-16"), ("Read as UTF-16.",)
        _refuse_binary(data, name)
        return data.decode("utf-8-sig"), ()
    except UnicodeDecodeError as error:
        if marked:
            raise _other_encoding(data, name, error) from error
    try:
        return data.decode("cp1252"), ("Not UTF-8; read as Windows-1252. If letters look wrong, save it as UTF-8.",)
    except UnicodeDecodeError as error:
        raise _other_encoding(data, name, error) from error


def _other_encoding(data: bytes, name: str, error: UnicodeDecodeError) -> HeadlightError:
    return HeadlightError(
        "text in UTF-8, UTF-16 with a byte-order mark, or Windows-1252",
        f"{name!r} in another encoding (byte {data[error.start]:#04x} at {error.start} is none of these)",
        "Save it as UTF-8.",
    )


def _refuse_binary(data: bytes, name: str) -> None:
    controls = len(data) - len(data.translate(None, _CONTROL))
    if controls > 0.01 * len(data) + 3:
        kind = next((f", probably {what}" for magic, what in _BINARY.items() if data.startswith(magic)), "")
        raise HeadlightError(
            READABLE,
            f"{name!r}, whose bytes are not text ({controls} control bytes in {len(data)}){kind}",
            "Choose a text file; UTF-16 text needs a byte-order mark.",
        )


def cleaned(text: str) -> tuple[str, tuple[str, ...]]:
    """One kind of line end, no NUL, no half characters; what was removed is noted."""
    notes = []
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    if count := text.count("\0"):
        text = text.replace("\0", "")
        notes.append(f"Removed {count} NUL character{'s' * (count > 1)}.")
    text, halves = _SURROGATE.subn("\ufffd", text)
    if halves:
        notes.append(f"Replaced {halves} broken character{'s' * (halves > 1)} by \ufffd.")
    return text, tuple(notes)
