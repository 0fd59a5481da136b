"""What a point is linked to: a query's strongest keys, rows without the tokens that are hidden, and corpus averages."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.capture import Block, observe
from lib.corpora import Document, Encoding
from lib.numerals import per_cent

from .errors import EmbeddingError
from .spans import allowed, blocks, both_offsets, query_and_key, whole

Array = np.ndarray
Progress = Callable[[int, int, str], None]


def strongest_keys(
    query: Array,
    key: Array,
    doc_offsets: Array,
    causal: bool,
    key_doc_offsets: Array | None = None,
    k: int = 2,
    scaling: float = float("nan"),
) -> tuple[Array, Array]:
    """The k highest-scoring keys of every query within its document, and their softmax weights.

    query, key: (token, d_head) of one head. Returns key tokens int64 (query, k), −1 where a query sees fewer, and
    weights (query, k). scaling: of the scores, d_head^−½ if NaN; weights leave out position biases, sinks and windows
    that a model may add.

    Raises EmbeddingError for shapes and offsets that do not fit, and a k that is no whole number of at least 1.
    """
    query, key = query_and_key(query, key)
    k = whole("k, keys of each query", k, 1)
    bounds = both_offsets(len(query), len(key), doc_offsets, key_doc_offsets, causal)
    factor = scaling if np.isfinite(scaling) else query.shape[1] ** -0.5
    found, weights = np.full((len(query), k), -1), np.zeros((len(query), k))
    for _, rows, keys in blocks(*bounds):
        mask = allowed(rows, keys, causal)
        score = np.where(mask, factor * (query[rows] @ key[keys].T), -np.inf)
        weight = np.exp(score - score.max(axis=1, keepdims=True))
        weight /= weight.sum(axis=1, keepdims=True)
        best = np.argsort(-score, axis=1, kind="stable")[:, :k]
        seen = np.take_along_axis(mask, best, axis=1)
        found[rows, : best.shape[1]] = np.where(seen, best + keys.start, -1)
        weights[rows, : best.shape[1]] = np.where(seen, np.take_along_axis(weight, best, axis=1), 0)
    return found, weights


@dataclass(frozen=True, eq=False)
class Hidden:
    """A pattern without some of its keys.

    pattern  (…, query_pos, key_pos), hidden keys zero, every other weight divided by 1 − the hidden share
    share    (…, query_pos), what the hidden keys had
    note     in words
    """

    pattern: Array
    share: Array
    note: str


def without(pattern: Array, hidden: Array, names: str = "special tokens") -> Hidden:
    """Hide keys and say what that does: a_j becomes a_j/(1 − a_hidden).

    pattern: (…, query_pos, key_pos). hidden: bool (key_pos,). Rows with nothing else to look at become zero.

    Raises EmbeddingError where there is not one flag per key.
    """
    pattern, hidden = np.asarray(pattern), np.asarray(hidden, bool)
    if hidden.shape != pattern.shape[-1:]:
        raise EmbeddingError(f"hidden (key_pos,) = {pattern.shape[-1:]}", f"{hidden.shape}", "Give one flag per key.")
    if not hidden.any():
        return Hidden(pattern, np.zeros(pattern.shape[:-1]), "")
    share = pattern[..., hidden].sum(axis=-1, dtype=np.float64)
    rest = pattern * ~hidden
    left = rest.sum(axis=-1, keepdims=True, dtype=np.float64)
    kept = np.divide(rest, left, out=np.zeros(pattern.shape), where=left > 1e-6)
    taken = per_cent(share.mean())
    note = f"Hidden: {names}, with {taken} of the attention; the rest of every row is scaled up to 1."
    return Hidden(kept.astype(pattern.dtype), share, note)


@dataclass(frozen=True, eq=False)
class ByPosition:
    """Patterns of many documents averaged by position.

    pattern    (head, query_pos, key_pos), mean over the documents that reach so far, NaN where none does
    documents  int (query_pos, key_pos), how many those are
    """

    pattern: Array
    documents: Array


def by_position(
    engine: Any,
    documents: Sequence[Document | Encoding],
    layer: int,
    stream: str | None = None,
    most: int = 64,
    progress: Progress | None = None,
) -> ByPosition:
    """The mean pattern of a corpus by position, of all heads of one layer, over the first ``most`` positions.

    layer: true layer number. Raises what ``lib.capture.observe`` raises.
    """
    keeper = _Sum(most)
    observe(engine, documents, keeper, [layer], stream, progress)
    with np.errstate(invalid="ignore"):
        return ByPosition(keeper.total / keeper.count, keeper.count.astype(int))


class _Sum:
    """Observer: the sum of patterns by position, and of how many documents."""

    needs = frozenset({"pattern"})

    def __init__(self, most: int) -> None:
        self.most, self.total, self.count = most, np.zeros(0), np.zeros((most, most))

    def see(self, block: Block) -> None:
        part = block.pattern[:, : self.most, : self.most]
        if not self.total.size:
            self.total = np.zeros((len(part), self.most, self.most))
        self.total[:, : part.shape[1], : part.shape[2]] += part
        self.count[: part.shape[1], : part.shape[2]] += 1
