"""A capture from the store: the same question's, or part of a wider one's; only then is the model run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

from lib.capture.naming import capture_key, checked
from lib.capture.observers import Progress
from lib.capture.record import capture
from lib.capture.store import Store
from lib.capture.value import ARRAYS, Capture
from lib.corpora.document import Document
from lib.corpora.tokens import Encoding
from lib.models import Engine

Inputs = Sequence[Document | Encoding]


def stored(
    store: Store,
    engine: Engine,
    documents: Inputs,
    keep: Sequence[str] = ARRAYS,
    wider: Iterable[tuple[Inputs, int]] = (),
    progress: Progress | None = None,
) -> Capture:
    """``capture(engine, documents, keep)``, from a store where it is known, else taken and written there.

    wider: longer lists of documents, each with the place where ``documents`` begin in it; a capture of one of them, or
    one that kept every array, serves as well. Lists are made only when they are looked at. Raises what ``capture``
    raises.
    """
    keep, key = checked(keep), capture_key(engine, documents, keep)
    if (found := store.load_capture(key)) is not None:
        return found
    for among, first in chain([(documents, 0)], wider):
        for kept in dict.fromkeys((keep, ARRAYS)):
            wide = capture_key(engine, among, kept)
            if wide != key and (found := store.load_capture(wide)) is not None:
                return _narrowed(found, keep, first, first + len(documents), key)
    return store.capture(key, lambda: capture(engine, documents, keep, progress=progress))


def _narrowed(wide: Capture, keep: Sequence[str], first: int, stop: int, key: str) -> Capture:
    """What ``capture`` would have given: some documents and arrays of a wider capture, streams included."""
    dropped = dict.fromkeys(name for name in ARRAYS if name not in keep)
    part = wide.part(first, stop)
    others = {name: replace(other, **dropped, hash=f"{key}-{name}", others={}) for name, other in part.others.items()}
    return replace(part, **dropped, hash=key, others=others)
