"""Converted models on disk: written once under a temporary name, verified whenever they are read.

A folder of the cache is named by the digest of what it was made from, so it never goes stale.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from lib.models.offline import file_digest

MANIFEST = "manifest.json"
ABANDONED = 86_400  # seconds after which a draft belongs to no process any more: the longest conversion takes minutes
_ONE_AT_A_TIME = threading.Lock()


def cache_folder() -> Path:
    """Where converted files are kept: ``HEADLIGHT_CACHE``, or the platform's place for caches."""
    chosen = os.environ.get("HEADLIGHT_CACHE")
    if chosen:
        return Path(chosen).expanduser()
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "headlight"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "headlight" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "headlight"


def find(name: str) -> Path | None:
    """The cached folder of a name, whole and undamaged; None otherwise."""
    for parent in (cache_folder(), _temporary()):
        if _whole(parent / name):
            return parent / name
    return None


def convert(name: str, fill: Callable[[Path], None]) -> Path:
    """The cached folder of a name, made by ``fill(folder)`` where it is missing or damaged.

    Where the cache cannot be written, a temporary folder serves that lives as long as the process.
    """
    with _ONE_AT_A_TIME:
        found = find(name)
        if found is not None:
            return found
        try:
            return _make(cache_folder(), name, fill)
        except OSError:  # read-only or full
            return _make(_temporary(), name, fill)


def _make(parent: Path, name: str, fill: Callable[[Path], None]) -> Path:
    parent.mkdir(parents=True, exist_ok=True)
    _sweep(parent)
    draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=parent))
    try:
        fill(draft)
        files = sorted(p.name for p in draft.iterdir())
        manifest = {file: file_digest(draft / file) for file in files}
        (draft / MANIFEST).write_text(json.dumps(manifest, indent=1), "utf-8")
        target = parent / name
        if target.exists() and not _whole(target):
            shutil.rmtree(target)
        try:
            draft.rename(target)
        except OSError:  # another process was faster; what it wrote is checked like everything else
            if not _whole(target):
                raise
        return target
    finally:
        shutil.rmtree(draft, ignore_errors=True)


def _sweep(parent: Path) -> None:
    """Delete the drafts of processes that were killed."""
    for draft in parent.glob(".*-*"):
        with suppress(OSError):  # another process was faster
            if time.time() - draft.stat().st_mtime > ABANDONED:
                shutil.rmtree(draft, ignore_errors=True)


def _whole(folder: Path) -> bool:
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        return all(file_digest(folder / file) == sha256 for file, sha256 in manifest.items())
    except (OSError, ValueError, AttributeError):
        return False


@lru_cache(maxsize=1)
def _temporary() -> Path:
    keep = tempfile.TemporaryDirectory(prefix="headlight-")
    _KEPT.append(keep)  # removed when the process ends
    return Path(keep.name)


_KEPT: list[tempfile.TemporaryDirectory[str]] = []
