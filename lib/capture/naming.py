"""The one name of a capture or a pattern: whoever computes it and whoever looks for it in a store use the same."""

from __future__ import annotations

from collections.abc import Sequence

from lib.capture.batching import encoded
from lib.capture.layout import layer_numbers
from lib.capture.value import ARRAYS, digest
from lib.corpora.document import Document
from lib.corpora.tokens import Encoding
from lib.errors import HeadlightError
from lib.models import Engine

PATTERN = ("pattern",)


def capture_key(
    engine: Engine,
    documents: Sequence[Document | Encoding],
    keep: Sequence[str] = ARRAYS,
    layers: Sequence[int] | None = None,
    stream: str | None = None,
    max_length: int | None = None,
) -> str:
    """The ``hash`` that ``capture`` of the same arguments will have, without running the model.

    documents: named by what the model reads of them, so a token limit that cuts nothing changes no name. keep: as for
    ``capture``, or ("pattern",) for what ``pattern`` gives of one document in ``stream`` (None, "self": the main one).
    max_length: tokens of a document at most, where documents are not encodings yet.
    """
    kept = PATTERN if tuple(keep) == PATTERN else checked(keep)
    chosen = None if layers is None else list(layer_numbers(layers))
    of = "" if stream in (None, "self") else stream
    return digest("capture", engine.key, kept, chosen, of, encoded(engine, documents, max_length))


def checked(keep: Sequence[str]) -> tuple[str, ...]:
    """Names of arrays to keep, in the order of the value; raises HeadlightError for anything else."""
    if isinstance(keep, str) or not keep or not set(keep) <= set(ARRAYS):
        raise HeadlightError(f"keep as some of {ARRAYS}", repr(keep), "Patterns are given by pattern or observe.")
    return tuple(name for name in ARRAYS if name in keep)
