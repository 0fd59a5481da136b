"""Store: captures and named results on disk, one safetensors file each, verified before they are served.

A file is written under a temporary name and then renamed, so it is whole or absent. Its header carries a digest of
everything in it; a file that is cut short, altered or of another version is deleted and built again. Arrays are
memory-mapped: ``array[layer]`` reads one layer. Nothing is pickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from lib.capture.value import ARRAYS, Capture, read_only
from lib.corpora.tokens import TokenTable
from lib.errors import HeadlightError

VERSION = "1"  # of the layout of files: others are built again
BOUND = 4 << 30  # bytes
ABANDONED = 3600  # seconds after which a temporary file belongs to no writer any more
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1"}
_TYPES |= {"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "u1", "BOOL": "?", "C64": "<c8"}


_REBUILT = "It is deleted and built again."


class Damaged(HeadlightError):
    """A file that is not what was written."""


class Store:
    """A folder of verified files.

    folder: made when needed. bound: bytes; above it the files unused for longest are deleted. Safe for several threads
    and processes: the last of two writers of one name wins, with the same content.
    """

    def __init__(self, folder: str | Path, bound: int = BOUND) -> None:
        self.folder, self.bound = Path(folder), bound
        self._verified: dict[Path, tuple[int, int, int]] = {}
        self._lock = threading.Lock()

    def capture(self, key: str, build: Callable[[], Capture]) -> Capture:
        """The capture of that key, memory-mapped; built and written first where it is absent or damaged."""
        found = self.load_capture(key)
        if found is None:
            built = build()
            found = self._kept(lambda: self.save_capture(key, built)) and self.load_capture(key)
        return found or built

    def arrays(self, name: str, build: Callable[[], Mapping[str, np.ndarray]]) -> dict[str, np.ndarray]:
        """Named arrays, memory-mapped and read-only; built and written first where absent or damaged."""
        found = self.load(name)
        if found is None:
            built = build()
            found = self._kept(lambda: self.save(name, built)) and self.load(name)
        return found[0] if found else {key: read_only(np.asarray(array)) for key, array in built.items()}

    def save_capture(self, key: str, capture: Capture) -> Path:
        """Write a capture with all its streams."""
        arrays, notes = {}, {}
        for stream, one in capture.streams.items():
            arrays |= {f"{stream}/{name}": array for name in ARRAYS if (array := getattr(one, name)) is not None}
            for side, table in (("tokens", one.tokens), ("key_tokens", one.key_tokens)):
                columns = {field.name: getattr(table, field.name) for field in fields(table)}
                arrays |= {f"{stream}/{side}/{n}": c for n, c in columns.items() if isinstance(c, np.ndarray)}
                notes[f"{stream}/{side}"] = {n: list(c) for n, c in columns.items() if isinstance(c, tuple)}
            arrays |= {f"{stream}/{name}": getattr(one, name) for name in ("doc_offsets", "key_doc_offsets")}
            names = ("layers", "causal", "scaling", "model", "revision", "dtype", "attention", "lost", "hash")
            notes[stream] = {name: getattr(one, name) for name in names}
        return self.save(key, arrays, notes | {"streams": list(capture.streams)})

    def load_capture(self, key: str) -> Capture | None:
        """Read a capture; None where it is absent or was damaged (and is now deleted)."""
        found = self.load(key)
        if found is None:
            return None
        arrays, notes = found
        try:
            main, *rest = notes["streams"]
            others = {stream: _capture(stream, arrays, notes, {}) for stream in rest}
            return _capture(main, arrays, notes, others)
        except (ValueError, KeyError, TypeError):  # written when a capture or its tables had other parts
            _delete(self._path(key))
            return None

    def save(self, name: str, arrays: Mapping[str, np.ndarray], notes: Mapping[str, Any] | None = None) -> Path:
        """Write named arrays and notes (anything JSON can hold) under a name, all or nothing."""
        ready = {key: np.ascontiguousarray(array) for key, array in arrays.items()}
        text = json.dumps({"name": name, "version": VERSION, "notes": notes or {}}, ensure_ascii=True)
        self.folder.mkdir(parents=True, exist_ok=True)
        path = self._path(name)
        temporary = path.with_suffix(f".{uuid.uuid4().hex}.tmp")
        try:
            save_file(ready, temporary, metadata={"headlight": text, "digest": _digest(ready, text)})
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            _delete(temporary)
        self._evict(keep=path)
        return path

    def load(self, name: str) -> tuple[dict[str, np.ndarray], dict[str, Any]] | None:
        """Arrays, memory-mapped and read-only, and notes; None where absent or damaged (and now deleted)."""
        path = self._path(name)
        try:
            arrays, metadata = _mapped(path)
            self._verify(path, arrays, metadata)
            kept = json.loads(metadata["headlight"])
            if (kept["name"], kept["version"]) != (name, VERSION):
                raise Damaged(f"{name!r} of version {VERSION}", f"{kept['name']!r} {kept['version']}", _REBUILT)
        except OSError:  # absent, or out of reach for now: nothing says that it is damaged
            return None
        except (ValueError, KeyError, TypeError, OverflowError):
            _delete(path)
            return None
        with suppress(OSError):  # another user's file, or a folder that cannot be written
            os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))  # used now; not changed
        return arrays, kept["notes"]

    def _verify(self, path: Path, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str]) -> None:
        """Compare the digest, once for each state of a file."""
        stat = path.stat()
        state = (stat.st_ino, stat.st_size, stat.st_mtime_ns)
        if self._verified.get(path) == state:
            return
        if _digest(arrays, metadata["headlight"]) != metadata["digest"]:
            raise Damaged("content that matches its digest", "other content", _REBUILT)
        self._verified[path] = state

    def _kept(self, save: Callable[[], Path]) -> bool:
        """Whether a result could be written; a full or read-only disk costs only the speed of the next visit."""
        try:
            save()
        except OSError:
            return False
        return True

    def _evict(self, keep: Path) -> None:
        """Delete the files unused for longest until the rest fits the bound; ``keep`` stays."""
        with self._lock:
            for path, stat in _files(self.folder, "*.tmp"):
                if time.time() - stat.st_mtime > ABANDONED:
                    _delete(path)
            files = _files(self.folder, "*.safetensors")
            total = sum(stat.st_size for _, stat in files)
            for path, stat in sorted(files, key=lambda entry: entry[1].st_atime_ns):
                if total <= self.bound:
                    break
                if path != keep and _delete(path):
                    self._verified.pop(path, None)
                    total -= stat.st_size

    def _path(self, name: str) -> Path:
        return self.folder / f"{hashlib.sha256(name.encode()).hexdigest()[:40]}.safetensors"


def _files(folder: Path, pattern: str) -> list[tuple[Path, os.stat_result]]:
    """Files of a folder with their state; another process may delete some meanwhile."""
    found = []
    for path in folder.glob(pattern):
        with suppress(OSError):
            if path.is_file():
                found.append((path, path.stat()))
    return found


def _delete(path: Path) -> bool:
    """Whether a file is gone; one that cannot be deleted is simply not used."""
    with suppress(OSError):
        path.unlink(missing_ok=True)
    return not path.exists()


def _mapped(path: Path) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Arrays of a safetensors file as views of one memory map, and its metadata; raises where sizes disagree."""
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if not 0 < length <= path.stat().st_size - 8:
            raise Damaged("a header within the file", f"a header of {length} bytes", _REBUILT)
        header = json.loads(file.read(length))
    metadata = header.pop("__metadata__")
    size = path.stat().st_size - 8 - length
    if max((entry["data_offsets"][1] for entry in header.values()), default=0) != size:
        raise Damaged("as many bytes as the header announces", f"{size}", _REBUILT)
    data = np.memmap(path, dtype=np.uint8, mode="r", offset=8 + length) if size else np.empty(0, np.uint8)
    arrays = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        arrays[name] = read_only(data[start:end].view(_TYPES[entry["dtype"]]).reshape(entry["shape"]))
    return arrays, metadata


def _digest(arrays: Mapping[str, np.ndarray], text: str) -> str:
    """Digest of names, types, shapes and contents, and of the notes."""
    total = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = arrays[name]
        total.update(f"{name} {array.dtype.str} {array.shape}".encode())
        if array.size:
            total.update(array.reshape(-1).view(np.uint8).data)
    return total.hexdigest()


def _capture(
    stream: str, arrays: Mapping[str, np.ndarray], notes: Mapping[str, Any], others: Mapping[str, Capture]
) -> Capture:
    own = {name: arrays.get(f"{stream}/{name}") for name in (*ARRAYS, "doc_offsets", "key_doc_offsets")}
    tables = {side: _table(f"{stream}/{side}", arrays, notes) for side in ("tokens", "key_tokens")}
    return Capture(stream=stream, **own, **tables, **notes[stream], others=others)


def _table(prefix: str, arrays: Mapping[str, np.ndarray], notes: Mapping[str, Any]) -> TokenTable:
    columns = {name.removeprefix(f"{prefix}/"): a for name, a in arrays.items() if name.startswith(f"{prefix}/")}
    return TokenTable(**columns, **notes[prefix])
