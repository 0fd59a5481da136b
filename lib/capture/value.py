"""Capture: what was kept of a model's attention over some documents; frozen, validated once, read-only."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from types import MappingProxyType

import numpy as np

from lib.corpora.tokens import Encoding, TokenTable
from lib.errors import HeadlightError

QUERY_SIDE, KEY_SIDE = ("query", "z"), ("key", "value")
ARRAYS = ("query", "key", "value", "z")


class WrongShape(HeadlightError):
    """An array whose axes do not agree with the rest of the value."""


@dataclass(frozen=True, eq=False)
class Capture:
    """Attention's vectors over some documents, in one stream of a model.

    query, key, value, z  (layer, head, token, d_head) float32 and read-only; None where not kept. Grouped key/value
                heads are repeated. query and key are as scored: after rotation. z is a head's output before W_O
    tokens      one row per token, documents end to end; doc_offsets (document + 1,) int64 bounds each document
    key_tokens, key_doc_offsets  the same for the key side; they differ from tokens in stream "cross" only
    layers      true layer numbers of axis ``layer``
    stream      "self", or "encoder", "decoder", "cross"
    causal      a row sees only keys at or before it
    scaling     what q·k is multiplied by before softmax; NaN where layers differ
    model, revision, dtype, attention  what computed the numbers
    lost        tokens cut off, per document
    hash        digest of the model, the inputs and what was kept: the cache key
    others      the other streams of an encoder–decoder
    """

    tokens: TokenTable
    doc_offsets: np.ndarray
    layers: tuple[int, ...]
    query: np.ndarray | None = None
    key: np.ndarray | None = None
    value: np.ndarray | None = None
    z: np.ndarray | None = None
    key_tokens: TokenTable | None = None
    key_doc_offsets: np.ndarray | None = None
    stream: str = "self"
    causal: bool = False
    scaling: float = float("nan")
    model: str = ""
    revision: str = ""
    dtype: str = "float32"
    attention: str = "eager"
    lost: tuple[int, ...] = ()
    hash: str = ""
    others: Mapping[str, Capture] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if self.key_tokens is None:
            object.__setattr__(self, "key_tokens", self.tokens)
            object.__setattr__(self, "key_doc_offsets", self.doc_offsets)
        object.__setattr__(self, "layers", tuple(self.layers))
        object.__setattr__(self, "lost", tuple(self.lost) or (0,) * self.documents)
        object.__setattr__(self, "others", MappingProxyType(dict(self.others)))
        for name in ("doc_offsets", "key_doc_offsets"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name), dtype=np.int64)))
        _check_offsets("doc_offsets", self.doc_offsets, len(self.tokens), len(self.lost))
        _check_offsets("key_doc_offsets", self.key_doc_offsets, len(self.key_tokens), len(self.lost))
        for name in ARRAYS:
            if (array := getattr(self, name)) is not None:
                object.__setattr__(self, name, read_only(array))
                self._check_array(name, array)

    def _check_array(self, name: str, array: np.ndarray) -> None:
        tokens = self.tokens if name in QUERY_SIDE else self.key_tokens
        before = (getattr(self, other) for other in ARRAYS[: ARRAYS.index(name)])
        heads = [other.shape[1] for other in before if other is not None]
        expected = {"layer": len(self.layers), "head": (heads or [None])[0], "token": len(tokens), "d_head": None}
        if array.ndim == 4 and array.dtype == np.float32:
            wrong = [axis for axis, n in zip(expected, array.shape, strict=True) if expected[axis] not in (None, n)]
        else:
            wrong = list(expected)
        if wrong:
            axes = ", ".join(axis if n is None else f"{axis} {n}" for axis, n in expected.items())
            raise WrongShape(
                f"{name} as float32 ({axes})",
                f"{array.dtype} {array.shape}, wrong in axis {' and '.join(wrong)}",
                "Arrays, layers and token tables must come from one run.",
            )

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len(self.doc_offsets) - 1

    @property
    def streams(self) -> Mapping[str, Capture]:
        """Every stream of the model by name, this one included."""
        return MappingProxyType({self.stream: self, **self.others})

    def layer_index(self, layer: int) -> int:
        """Position on axis ``layer`` of a true layer number."""
        if layer not in self.layers:
            raise HeadlightError(f"one of the captured layers {self.layers}", f"layer {layer}", "Capture it as well.")
        return self.layers.index(layer)

    def of(self, document: int) -> Capture:
        """The capture of one document; its arrays are views of this one's."""
        if not 0 <= document < self.documents:
            raise HeadlightError(f"a document below {self.documents}", f"document {document}", "Count from 0.")
        return replace(self.part(document, document + 1), hash=f"{self.hash}:{document}", others={})

    def part(self, first: int, stop: int) -> Capture:
        """The capture of documents ``first`` to ``stop`` − 1, with all streams; its arrays are views of this one's."""
        if not 0 <= first < stop <= self.documents:
            raise HeadlightError(
                f"documents first < stop among {self.documents}", f"{first} to {stop}", "Count from 0."
            )
        bounds, key_bounds = self.doc_offsets[first : stop + 1], self.key_doc_offsets[first : stop + 1]
        own, keys = slice(bounds[0], bounds[-1]), slice(key_bounds[0], key_bounds[-1])
        cut = {
            name: array[:, :, own if name in QUERY_SIDE else keys]
            for name in ARRAYS
            if (array := getattr(self, name)) is not None
        }
        return replace(
            self,
            **cut,
            tokens=TokenTable.join([self.tokens.of(document) for document in range(first, stop)]),
            doc_offsets=bounds - bounds[0],
            key_tokens=TokenTable.join([self.key_tokens.of(document) for document in range(first, stop)]),
            key_doc_offsets=key_bounds - key_bounds[0],
            lost=self.lost[first:stop],
            hash=f"{self.hash}:{first}-{stop}",
            others={name: other.part(first, stop) for name, other in self.others.items()},
        )


def digest(*parts: object) -> str:
    """Hex digest of values: strings, numbers, None, arrays, encodings, token tables, and sequences of them."""
    total = hashlib.sha256()
    for part in _flat(parts):
        if isinstance(part, np.ndarray):
            total.update(f"{part.dtype}{part.shape}".encode())
            total.update(np.ascontiguousarray(part).view(np.uint8).data)
        else:
            total.update(f"{type(part).__name__}:{part!r}".encode("utf-8", "surrogatepass"))
        total.update(b"\x1f")
    return total.hexdigest()


def _flat(parts: Iterable[object]) -> Iterable[object]:
    for part in parts:
        if isinstance(part, Encoding | TokenTable):
            yield from _flat((f.name, getattr(part, f.name)) for f in fields(part))
        elif isinstance(part, list | tuple) and not all(isinstance(one, str) for one in part):
            yield f"{len(part)} of"
            yield from _flat(part)
        else:
            yield part


def read_only(array: np.ndarray) -> np.ndarray:
    """A view that cannot be written through."""
    view = array.view()
    view.setflags(write=False)
    return view


def _check_offsets(name: str, offsets: np.ndarray, tokens: int, documents: int) -> None:
    rising = offsets.ndim == 1 and len(offsets) > 1 and offsets[0] == 0 and (np.diff(offsets) > 0).all()
    if not rising or offsets[-1] != tokens or len(offsets) != documents + 1:
        raise WrongShape(
            f"{name} (document + 1 = {documents + 1},) rising from 0 to {tokens}, the length of axis token",
            f"{offsets.shape} {offsets.tolist()[:4]} … {offsets.tolist()[-1:]}",
            "Give every document at least one token.",
        )
