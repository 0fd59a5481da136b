"""Field: attention patterns of many windows of one length, one layer; and how a model fills it.

No window is padded and no row is renormalised: what special tokens take is reported, not given back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from lib.corpora.document import Document
from lib.corpora.table import TokenTable
from lib.corpora.tokens import Encoding, encode
from lib.errors import HeadlightError
from lib.numerals import plural

from .given import real_numbers
from .windows import cut, kept_length

Array = np.ndarray
FEWEST_DOCUMENTS = 3  # two centred documents have one fluctuation, up to sign: no statistics
FEWEST_TOKENS = 4
LARGEST = 1e6  # attention lies between 0 and 1; far beyond, its squares no longer fit
ROUNDING_STEPS = 32  # documents that differ by so many units in the last place do not differ


@dataclass(frozen=True, eq=False)
class Field:
    """Attention patterns of N windows of L tokens: one layer, averaged over heads or one head.

    pattern        float32 (doc, query_pos, key_pos), read-only; an array of that type is taken as it is, not copied
    causal         True where no row sees a later key; read from the zeros of the pattern where not given
    layer, head    true numbers; head None for the average over heads
    excluded_mass  (doc,) share of attention that the kept rows give to special tokens, None where unknown
    model          the engine's cache key, "" where the field does not come from a model
    dropped        tokens cut off so that all windows have one length
    hash           digest of all of the above; the cache key

    Raises HeadlightError for another shape, what is not a real number, NaN, infinity or values beyond a million, and
    future keys in a field said to be causal.
    """

    pattern: Array
    causal: bool | None = None
    layer: int | None = None
    head: int | None = None
    excluded_mass: Array | None = None
    model: str = ""
    dropped: int = 0

    def __post_init__(self) -> None:
        pattern = real_numbers(self.pattern, "a pattern (doc, query_pos, key_pos)")
        if pattern.ndim != 3 or pattern.shape[1] != pattern.shape[2] or not pattern.shape[0]:
            raise HeadlightError(
                "a pattern (doc, query_pos, key_pos) with as many keys as queries",
                f"{pattern.shape}",
                "Cut the documents to one length first; cross-attention has no lag.",
            )
        if pattern.shape[1] < FEWEST_TOKENS:
            raise HeadlightError(
                f"windows of at least {FEWEST_TOKENS} tokens", f"{pattern.shape[1]}", "Use longer windows."
            )
        pattern = _frozen(pattern)
        for document, rows in enumerate(pattern):
            if not np.isfinite(rows).all():
                raise HeadlightError(
                    "finite attention", f"NaN or infinity in document {document}", "Leave the document out."
                )
            if (largest := np.abs(rows).max()) > LARGEST:
                raise HeadlightError(
                    f"attention, or values up to {LARGEST:,.0f}",
                    f"{largest:.3g} in document {document}",
                    "Divide the field by its largest value.",
                )
        future = any(np.triu(rows, 1).any() for rows in pattern)
        if self.causal and future:
            raise HeadlightError(
                "no attention to later keys in a causal field",
                "some above the diagonal",
                "Pass causal=False, or swap the axes to (doc, query_pos, key_pos).",
            )
        object.__setattr__(self, "causal", not future if self.causal is None else bool(self.causal))
        object.__setattr__(self, "pattern", pattern)
        if self.excluded_mass is not None:
            object.__setattr__(self, "excluded_mass", _frozen(self.excluded_mass))

    documents = property(lambda self: self.pattern.shape[0], doc="N, the number of windows.")
    length = property(lambda self: self.pattern.shape[1], doc="L, the tokens per window.")

    @property
    def cells(self) -> int:
        """Cells that attention can fill: L², or L(L + 1)/2 in a causal field."""
        return self.length * (self.length + 1) // 2 if self.causal else self.length**2

    @cached_property
    def mean(self) -> Array:
        """Mean field Ā, float64 (query_pos, key_pos)."""
        mean = self.pattern.mean(axis=0, dtype=np.float64)
        mean.setflags(write=False)
        return mean

    @property
    def fluctuation(self) -> Array:
        """u_s = A_s − Ā, float32 (doc, query_pos, key_pos); made anew at each access, as large as the pattern."""
        return np.subtract(self.pattern, self.mean, dtype=np.float32, casting="same_kind")

    @cached_property
    def hash(self) -> str:
        """Hex digest of the numbers and of what they are."""
        digest = hashlib.sha256(repr((self.causal, self.layer, self.head, self.model, self.dropped)).encode())
        digest.update(f"{self.pattern.shape}".encode())
        digest.update(self.pattern.data)
        return digest.hexdigest()


def as_field(field: Field | Array) -> Field:
    """The field itself, or one made of a bare pattern (doc, query_pos, key_pos)."""
    return field if isinstance(field, Field) else Field(field)


def is_rounding(variance: float, mean_square: float, dtype: np.dtype | type = np.float32) -> bool:
    """Whether an ensemble of this variance about a mean of this energy differs by the rounding of its type only."""
    return bool(variance <= (ROUNDING_STEPS * np.finfo(dtype).eps) ** 2 * (variance + mean_square))


def require_documents(field: Field, fewest: int = FEWEST_DOCUMENTS) -> None:
    """Raise HeadlightError where a field has too few documents for statistics over documents."""
    if field.documents < fewest:
        raise HeadlightError(
            f"at least {fewest} windows, for statistics over documents",
            plural(field.documents, "window"),
            "Add text, shorten the windows or let them overlap.",
        )


def require_alike(fields: Sequence[Field]) -> None:
    """Raise HeadlightError unless there are fields, all of as many windows of as many tokens: one per layer."""
    shapes = {field.pattern.shape[:2] for field in fields}
    if len(shapes) != 1:
        told = " and ".join(f"{plural(n, 'window')} of {length} tokens" for n, length in sorted(shapes))
        raise HeadlightError("fields of the same windows, one per layer", told or "none", "Cut one set of windows.")
    require_documents(fields[0])


def head_mean_field(
    engine: Any,
    windows: Sequence[Encoding] | Sequence[Document],
    layers: Sequence[int] | None = None,
    head: int | None = None,
    stream: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> list[Field]:
    """Attention fields of the chosen layers, averaged over heads (or of one head), in one pass over the windows.

    windows: from ``windows``, or documents; special tokens are fed and left out of the field, and windows of
    different lengths are cut to the shortest (``Field.dropped`` counts the tokens). layers: true layer numbers,
    None for all. stream: "encoder" or "decoder" of an encoder–decoder, whose decoder reads the same windows; None
    for the only one, or the encoder. Returns one Field per layer, ascending.

    Raises HeadlightError for fewer than three windows, for a head that the model does not have, for windows
    shorter than four tokens and for cross-attention, which has no lag.

    **Source**: Zeris, arXiv 2606.06573 (the field and its fluctuation); deviations: rows and columns of
    special tokens are left out, and no row is renormalised afterwards.
    """
    from lib.capture import observe

    encodings, dropped = _of_one_length(windows, engine)
    observer = _HeadMean(_tables(encodings, stream), head)
    observe(engine, encodings, observer, layers=layers, stream=stream, progress=progress)
    return [
        Field(
            pattern=observer.pattern[layer],
            layer=layer,
            head=head,
            excluded_mass=observer.excluded[layer],
            model=engine.key,
            dropped=dropped,
        )
        for layer in sorted(observer.pattern)
    ]


def _of_one_length(windows: Sequence[Any], engine: Any) -> tuple[list[Encoding], int]:
    encodings = [w if isinstance(w, Encoding) else encode(w, engine) for w in windows]
    lengths = [kept_length(e) for e in encodings]
    if len(encodings) < FEWEST_DOCUMENTS or min(lengths) < FEWEST_TOKENS:
        raise HeadlightError(
            f"at least {FEWEST_DOCUMENTS} windows of at least {FEWEST_TOKENS} tokens",
            plural(len(encodings), "window")
            + (f", the shortest of {plural(min(lengths), 'token')}" if lengths else ""),
            "Add text; with enough of it, shorter windows help too.",
        )
    shortest = min(lengths)
    return [cut(e, 0, shortest) for e in encodings], sum(lengths) - shortest * len(lengths)


def _tables(encodings: Sequence[Encoding], stream: str | None) -> list[TokenTable]:
    """The token tables of the side that attends, all with as many ordinary tokens."""
    if stream == "cross":
        raise HeadlightError("self-attention", "cross-attention", "Choose the encoder or the decoder: it has lags.")
    tables = [e.target_table if stream == "decoder" else e.table for e in encodings]
    lengths = {int((~table.is_special).sum()) for table in tables}
    if len(lengths) > 1:
        raise HeadlightError(
            "decoder texts of one length", f"{sorted(lengths)} tokens", "Leave Document.target out: it is the text."
        )
    return tables


class _HeadMean:
    """Observer that keeps the mean over heads, or one head, of each window's pattern between ordinary tokens."""

    needs = frozenset({"pattern"})

    def __init__(self, tables: Sequence[TokenTable], head: int | None) -> None:
        self.kept = [np.flatnonzero(~table.is_special) for table in tables]
        self.head = head
        self.pattern: dict[int, Array] = {}  # layer -> (doc, query_pos, key_pos)
        self.excluded: dict[int, Array] = {}  # layer -> (doc,)

    def see(self, block: Any) -> None:
        pattern, kept = block.pattern, self.kept[block.document]
        if self.head is not None and not 0 <= self.head < len(pattern):
            raise HeadlightError(f"a head in 0 … {len(pattern) - 1}", f"{self.head}", "Choose another head.")
        if block.layer not in self.pattern:
            self.pattern[block.layer] = np.zeros((len(self.kept), len(kept), len(kept)), np.float32)
            self.excluded[block.layer] = np.zeros(len(self.kept), np.float32)
        rows = pattern.mean(axis=0) if self.head is None else pattern[self.head]
        if kept[-1] - kept[0] + 1 == len(kept):  # special tokens at the ends only: a view, no gather
            field = rows[kept[0] : kept[-1] + 1, kept[0] : kept[-1] + 1]
        else:
            field = rows[np.ix_(kept, kept)]
        self.pattern[block.layer][block.document] = field
        self.excluded[block.layer][block.document] = rows[kept].sum(axis=1).mean() - field.sum(axis=1).mean()


def _frozen(array: Array) -> Array:
    with np.errstate(over="ignore"):  # infinite then, which is told
        array = np.ascontiguousarray(array, dtype=np.float32)
    if array.flags.writeable:
        array = array.view()
        array.setflags(write=False)
    return array
