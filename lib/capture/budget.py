"""What a capture will need before it runs, and the refusal, with a way out, of what would not fit."""

from __future__ import annotations

import math
import os
import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import torch

from lib.capture.batching import encoded, model_inputs
from lib.capture.check import trusted
from lib.capture.layout import Layout
from lib.capture.probe import probe_encodings
from lib.capture.tap import tapped
from lib.capture.value import ARRAYS
from lib.corpora.document import Document
from lib.corpora.tokens import Encoding
from lib.errors import HeadlightError
from lib.models import Engine
from lib.models.devices import free_bytes

SHARE = 0.5  # of the memory that is free, unless HEADLIGHT_MEMORY says otherwise
EAGER = 3  # copies of one layer's patterns that eager attention holds at once: scores, masked scores, weights
TIMED = 128  # tokens of the forward pass that is timed
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}

Lengths = tuple[int, int]  # tokens of the source and of the target (0 without one)


class TooLarge(HeadlightError):
    """More memory than may be used."""


@dataclass(frozen=True)
class Estimate:
    """Before a run: bytes kept, bytes of all patterns if they were kept, bytes in passing, the limit, and seconds."""

    bytes: int
    patterns_bytes: int
    passing_bytes: int
    limit: int
    seconds: float

    @property
    def fits(self) -> bool:
        """Whether the run would be allowed."""
        return self.bytes + self.passing_bytes <= self.limit


def estimate(
    engine: Engine,
    documents: Sequence[Document | Encoding | int],
    keep: Sequence[str] = ARRAYS,
    layers: Sequence[int] | None = None,
) -> Estimate:
    """What keeping arrays of these documents would take.

    documents: as for ``capture``, or plain lengths in tokens. keep: of "query", "key", "value", "z", "pattern".
    Seconds are scaled, by the arithmetic that each length needs, from a short timed forward pass.
    """
    layout = trusted(engine)
    wanted = layout.chosen(layers, layout.streams)
    if not (isinstance(documents, Sequence) and documents and all(isinstance(one, int) for one in documents)):
        documents = encoded(engine, documents)
    lengths = [_lengths(document, layout) for document in documents]
    return Estimate(
        bytes=kept_bytes(lengths, layout, wanted, keep),
        patterns_bytes=kept_bytes(lengths, layout, wanted, ("pattern",)),
        passing_bytes=passing_bytes(lengths, layout),
        limit=memory_limit(),
        seconds=_seconds_per_operation(engine) * sum(_operations(engine, layout, length) for length in lengths),
    )


def require_memory(
    encodings: Sequence[Encoding], layout: Layout, wanted: Mapping[str, Sequence[int]], keep: Sequence[str]
) -> None:
    """Raise TooLarge where a run would need more than the limit; the error says how many layers or tokens would do."""
    lengths = [_lengths(encoding, layout) for encoding in encodings]
    kept, passing, limit = kept_bytes(lengths, layout, wanted, keep), passing_bytes(lengths, layout), memory_limit()
    if kept + passing <= limit:
        return
    layers, documents = max(len(chosen) for chosen in wanted.values()), len(lengths)
    longest, share = max(max(length) for length in lengths), max(0, limit - passing) / kept
    power = 0.5 if "pattern" in keep else 1.0
    tokens = int(longest * (limit / (kept + passing)) ** power)
    ways = [
        f"at most {int(layers * share)} of these {layers} layers at a time" if layers * share >= 1 else "",
        f"at most {int(documents * share)} of these {documents} documents" if documents * share >= 1 else "",
        f"texts of at most {tokens} tokens" if tokens else "",
    ]
    larger = "set HEADLIGHT_MEMORY (such as 8G) on a larger machine"
    choices = ", or ".join(filter(None, ways))
    raise TooLarge(
        f"at most {_gigabytes(limit)} of memory",
        f"{_gigabytes(kept + passing)} for {', '.join(keep)} of {layers} layers, longest document {longest} tokens",
        f"Choose {choices}, or {larger}." if choices else f"Close another model, or {larger}.",
    )


def kept_bytes(
    lengths: Sequence[Lengths], layout: Layout, wanted: Mapping[str, Sequence[int]], keep: Sequence[str]
) -> int:
    """Bytes of float32 arrays."""
    total = 0
    for place in layout.places:
        if place.layer not in wanted.get(place.stream, ()):
            continue
        for length in lengths:
            queries, keys = _of_stream(length, place.stream)
            sizes = {"query": queries * place.d_query, "key": keys * place.d_query, "z": queries * place.d_value}
            sizes |= {"value": keys * place.d_value, "pattern": queries * keys}
            total += 4 * place.heads * sum(sizes[name] for name in keep)
    return total


def passing_bytes(lengths: Sequence[Lengths], layout: Layout) -> int:
    """Bytes that eager attention holds for a moment, at the longest document."""
    if layout.windowed:
        return 0
    return max(
        4 * EAGER * place.heads * math.prod(_of_stream(length, place.stream))
        for place in layout.places
        for length in lengths
    )


def memory_limit() -> int:
    """Bytes one run may use: HEADLIGHT_MEMORY ("500M", "8G" or bytes), else half of what is free."""
    given = os.environ.get("HEADLIGHT_MEMORY", "").strip().upper().removesuffix("B")
    if not given:
        return int(SHARE * free_bytes("cpu"))
    parsed = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+) ?([KMG]?)", given)
    if parsed is None:
        raise HeadlightError("HEADLIGHT_MEMORY such as 500M or 8G", repr(given), "Correct or unset it.")
    return int(float(parsed[1]) * _UNITS[parsed[2]])


def _lengths(document: Encoding | int, layout: Layout) -> Lengths:
    if isinstance(document, int):
        return document, document if "decoder" in layout.streams else 0
    return len(document.table), 0 if document.target_table is None else len(document.target_table)


def _of_stream(length: Lengths, stream: str) -> Lengths:
    """Queries and keys of one document in a stream."""
    source, target = length
    return {"decoder": (target, target), "cross": (target, source)}.get(stream, (source, source))


def _operations(engine: Engine, layout: Layout, length: Lengths) -> int:
    """Multiplications of one forward pass: every weight once per token, and q·k and A·v per layer."""
    weights = sum(parameter.numel() for parameter in engine.require_loaded().parameters() if parameter.ndim > 1)
    tables = sum(m.weight.numel() for m in engine.model.modules() if isinstance(m, torch.nn.Embedding))
    attention = sum(
        place.heads * (place.d_query + place.d_value) * math.prod(_of_stream(length, place.stream))
        for place in layout.places
    )
    return (weights - tables) * sum(length) + attention


@torch.inference_mode()
def _seconds_per_operation(engine: Engine) -> float:
    """From a forward pass over one document, timed once per engine."""
    with engine.lock:
        if engine not in _rates:
            encodings = probe_encodings(engine, long=TIMED)[:1]
            inputs = model_inputs(engine, encodings)
            with tapped(engine.model):
                seconds = min(_timed(engine.model, inputs) for _ in range(2))  # the first pass also warms up
            layout = trusted(engine)
            _rates[engine] = seconds / _operations(engine, layout, _lengths(encodings[0], layout))
        return _rates[engine]


def _timed(model: Any, inputs: Mapping[str, Any]) -> float:
    start = time.perf_counter()
    model(**inputs)
    return time.perf_counter() - start


def _gigabytes(size: float) -> str:
    return f"{size / (1 << 30):.2f} GB"


_rates: WeakKeyDictionary[Engine, float] = WeakKeyDictionary()
