"""Which pairs of query and key may meet: within one document, and never a later key where the model is causal."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .errors import EmbeddingError

Array = np.ndarray
CELLS = 1 << 20  # of one block of pairs
LARGEST = 1e50  # of a number; beyond, the square of a score is no number any more


def vectors(name: str, array: Array) -> Array:
    """Float64 (token, d_head) of one head.

    Raises EmbeddingError for other shapes, no token, NaN, infinity and numbers whose squares would be none.
    """
    array = np.asarray(array)
    if array.ndim != 2 or 0 in array.shape or array.dtype.kind not in "fiu":
        raise EmbeddingError(
            f"{name} as numbers (token, d_head), at least one token",
            f"{array.dtype} {array.shape}",
            "Pass one head of a capture: capture.query[layer, head].",
        )
    array = array.astype(np.float64)
    if not np.isfinite(array).all():
        bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
        raise EmbeddingError(
            f"finite numbers in {name}", f"NaN or infinity at token {bad[0]}", "Capture again in float32."
        )
    if (sizes := np.abs(array).max(axis=1)).max() > LARGEST:
        raise EmbeddingError(
            f"numbers in {name} of size {LARGEST:g} at most",
            f"{sizes.max():.3g} at token {sizes.argmax()}",
            "Divide them all by their largest.",
        )
    return array


def whole(name: str, value: int, least: int, most: int | None = None) -> int:
    """A whole number within bounds; raises EmbeddingError for anything else."""
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not number or value < least or (most is not None and value > most):
        bounds = f"of at least {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise EmbeddingError(f"{name}: a whole number {bounds}", repr(value), "Pass one within these bounds.")
    return int(value)


def indices(name: str, rows: Array, count: int) -> Array:
    """Indices (row,) of ``count`` things, from 0, as int64; raises EmbeddingError for anything else."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or (rows.size and not (rows.min() >= 0 and rows.max() < count)):
        found = f"{rows.dtype} {rows.shape}" + (f" up to {rows.max()}" if rows.size and rows.dtype.kind in "iu" else "")
        raise EmbeddingError(f"{name}: whole numbers (row,) from 0 to {count - 1:,}", found, "Count from 0.")
    return rows.astype(np.int64)


def query_and_key(query: Array, key: Array) -> tuple[Array, Array]:
    """Both sides of one head as float64; raises EmbeddingError where d_head differs."""
    query, key = vectors("query", query), vectors("key", key)
    if query.shape[1] != key.shape[1]:
        raise EmbeddingError(
            "query and key of one d_head", f"query {query.shape} and key {key.shape}", "Take both from one head."
        )
    return query, key


def offsets(given: Array | None, tokens: int, name: str = "doc_offsets") -> Array:
    """Bounds of the documents (document + 1,), one document if None; raises EmbeddingError where they do not fit."""
    if given is None:
        return np.array([0, tokens])
    bounds = np.asarray(given)
    fits = bounds.ndim == 1 and len(bounds) > 1 and bounds[0] == 0 and bounds[-1] == tokens
    if not fits or bounds.dtype.kind not in "iu" or (np.diff(bounds) < 0).any():
        raise EmbeddingError(
            f"{name} (document + 1,) rising from 0 to {tokens}, the length of axis token",
            f"{bounds.dtype} {bounds.shape}: {bounds.ravel()[:4].tolist()} … {bounds.ravel()[-1:].tolist()}",
            "Pass the offsets of the same capture or sample.",
        )
    return bounds.astype(np.int64)


def both_offsets(
    queries: int, keys: int, doc_offsets: Array | None, key_doc_offsets: Array | None, causal: bool
) -> tuple[Array, Array]:
    """Bounds of the documents on both sides; the keys' are the queries' if None and both sides are equally long."""
    own = offsets(doc_offsets, queries)
    same = key_doc_offsets is None and queries == keys
    theirs = own if same else offsets(key_doc_offsets, keys, "key_doc_offsets")
    if len(own) != len(theirs):
        raise EmbeddingError(
            f"as many documents on both sides ({len(own) - 1})", f"{len(theirs) - 1} of keys", "Pass key_doc_offsets."
        )
    if causal and not np.array_equal(own, theirs):
        raise EmbeddingError(
            "queries and keys of the same tokens where attention is causal",
            f"{queries} queries and {keys} keys",
            "Set causal=False for cross-attention.",
        )
    return own, theirs


def blocks(own: Array, theirs: Array) -> Iterator[tuple[int, slice, slice]]:
    """(document, rows, keys) of at most CELLS pairs each, in order; documents empty on a side are left out."""
    for document in range(len(own) - 1):
        start, stop = int(own[document]), int(own[document + 1])
        keys = slice(int(theirs[document]), int(theirs[document + 1]))
        if start == stop or keys.start == keys.stop:
            continue
        step = max(1, CELLS // (keys.stop - keys.start))
        for first in range(start, stop, step):
            yield document, slice(first, min(first + step, stop)), keys


def allowed(rows: slice, keys: slice, causal: bool) -> Array:
    """Bool (row, key): which pairs of a block may meet."""
    if not causal:
        return np.ones((rows.stop - rows.start, keys.stop - keys.start), dtype=bool)
    return np.arange(keys.start, keys.stop) <= np.arange(rows.start, rows.stop)[:, None]
