"""The first bytes of a GGUF file: which architecture it holds and how many numbers.

The library's reader takes seconds for a large vocabulary and trusts what it reads; this takes a fraction and does not.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import BinaryIO

from lib.errors import HeadlightError

_SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # value type: bytes
_TEXT, _ARRAY = 8, 9
_LONGEST = 1 << 20  # bytes of one text, items of one list of tensors


class BrokenGGUF(HeadlightError):
    """A file that is not GGUF, is cut short, or holds an architecture that cannot be read."""


@dataclass(frozen=True)
class Header:
    """architecture: the value of ``general.architecture``; numbers: in all tensors together."""

    architecture: str
    numbers: int


def read_header(path: Path) -> Header:
    """Header of a GGUF file; raises BrokenGGUF.

    Source: GGUF specification, versions 2 and 3: magic, version, number of tensors, number of pairs, pairs, tensors.
    """
    try:
        with path.open("rb") as file:
            return _read(file, path.stat().st_size)
    except (OSError, struct.error, UnicodeDecodeError, OverflowError) as error:
        raise BrokenGGUF("a whole GGUF file", f"{path.name}, {error}", "Download it again.") from error


def _read(file: BinaryIO, size: int) -> Header:
    magic, version, tensors, pairs = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or version not in (2, 3):
        raise struct.error(f"which begins with {magic!r} version {version}, not b'GGUF' version 2 or 3")
    architecture = ""
    for _ in range(pairs):
        key = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        if key == "general.architecture" and kind == _TEXT:
            architecture = _text(file)
        else:
            _skip(file, kind)
    if not architecture:
        raise struct.error("which names no architecture")
    found = [_tensor(file) for _ in range(tensors)]
    if file.tell() + max((place for _, place in found), default=0) > size:
        raise struct.error(f"which ends after {size:,} bytes, before its last tensor")
    return Header(architecture, sum(numbers for numbers, _ in found))


def _tensor(file: BinaryIO) -> tuple[int, int]:
    """Numbers in the next tensor, and its place after the header."""
    _text(file)
    (dimensions,) = struct.unpack("<I", file.read(4))
    if dimensions > 8:
        raise struct.error(f"whose tensor has {dimensions} dimensions")
    shape = struct.unpack(f"<{dimensions}Q", file.read(8 * dimensions))
    _type, place = struct.unpack("<IQ", file.read(12))
    return prod(shape), place


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > _LONGEST:
        raise struct.error(f"whose text is {length} bytes long")
    return file.read(length).decode("utf-8", "replace")


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _TEXT:
        _text(file)
    elif kind == _ARRAY:
        inner, count = struct.unpack("<IQ", file.read(12))
        if inner in _SCALARS:
            file.seek(_SCALARS[inner] * count, 1)
        else:
            for _ in range(count):
                _skip(file, inner)
    elif kind in _SCALARS:
        file.seek(_SCALARS[kind], 1)
    else:
        raise struct.error(f"whose value type {kind} is unknown")
