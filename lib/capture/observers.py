"""Observers: run a model over documents once and show each one's attention, a layer at a time, to who keeps it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import torch

from lib.capture.batching import NotRunnable, batches, encoded, model_inputs
from lib.capture.check import trusted
from lib.capture.layout import Layout
from lib.capture.tap import Call, tapped
from lib.corpora.document import Document
from lib.corpora.tokens import Encoding, TokenTable
from lib.errors import HeadlightError
from lib.models import Engine
from lib.models.devices import give_back_pages, out_of_memory
from lib.threads import one_thread

NEEDS = frozenset({"query", "key", "value", "z", "pattern"})
Progress = Callable[[int, int, str], None]


class NotFinite(HeadlightError):
    """NaN or infinity where attention should be."""


@dataclass(frozen=True)
class Block:
    """Attention of one document in one layer, padding removed; read-only float32 NumPy arrays.

    query, z      (head, query_pos, d_head), None unless needed
    key, value    (head, key_pos, d_head), grouped heads repeated, None unless needed
    pattern       (head, query_pos, key_pos), None unless needed
    document      index into the documents given
    window, windows  which of the document's windows, for windowed attention; 0 of 1 elsewhere
    shift         tokens by which the image was rolled up and left before it was cut into windows

    Arrays may share memory with the running model: copy what outlives ``see``.
    """

    layer: int
    stream: str
    document: int
    query: np.ndarray | None = None
    key: np.ndarray | None = None
    value: np.ndarray | None = None
    z: np.ndarray | None = None
    pattern: np.ndarray | None = None
    window: int = 0
    windows: int = 1
    shift: int = 0


class Observer(Protocol):
    """Sees blocks and keeps what it wants; only the arrays it ``needs`` are converted.

    An observer of windowed attention says ``windows = True``; others are never given a window as if it were a document.
    """

    needs: frozenset[str]

    def see(self, block: Block) -> None:
        """Called per document and layer; layers ascend within a document, documents come in any order."""


@dataclass(frozen=True)
class Observed:
    """What an observer was shown: tokens of all documents end to end, the key side's, layers, and tokens lost."""

    tokens: TokenTable
    doc_offsets: np.ndarray
    key_tokens: TokenTable
    key_doc_offsets: np.ndarray
    layers: tuple[int, ...]
    lost: tuple[int, ...]


def observe(
    engine: Engine,
    documents: Sequence[Document | Encoding],
    observer: Observer,
    layers: Sequence[int] | None = None,
    stream: str | None = None,
    progress: Progress | None = None,
) -> Observed:
    """Show an observer the attention of every document in one stream of a model.

    layers: true layer numbers, all by default; the forward pass stops after the deepest. stream: None for the only one
    (the encoder's of an encoder–decoder). ``progress(done, total, stage)`` counts documents and may raise to cancel.
    Documents of similar length share a batch; what an observer sees is each document's own, whatever it shared with.

    Raises CheckFailed, NotTappable, LayerUnknown, WindowedAttention, NotRunnable or NotFinite.
    """
    encodings = encoded(engine, documents)
    layout = trusted(engine)
    stream = layout.stream(stream)
    wanted = layout.chosen(layers, [stream])
    if not getattr(observer, "windows", False):
        layout.refuse_windows()
    run(engine, encodings, wanted, {stream: observer}, progress)
    own, keys = sides(encodings, stream)
    return Observed(
        tokens=TokenTable.join(own),
        doc_offsets=offsets(own),
        key_tokens=TokenTable.join(keys),
        key_doc_offsets=offsets(keys),
        layers=wanted[stream],
        lost=tuple(encoding.lost for encoding in encodings),
    )


def sides(encodings: Sequence[Encoding], stream: str) -> tuple[list[TokenTable], list[TokenTable]]:
    """Token tables of the query side and of the key side of a stream."""
    source = [encoding.table for encoding in encodings]
    if stream not in ("decoder", "cross"):
        return source, source
    target = [encoding.target_table for encoding in encodings]
    return target, source if stream == "cross" else target


def offsets(tables: Sequence[TokenTable]) -> np.ndarray:
    """Where each document begins and the last ends: int64 (document + 1,)."""
    return np.cumsum([0, *map(len, tables)], dtype=np.int64)


@one_thread()
def run(
    engine: Engine,
    encodings: Sequence[Encoding],
    wanted: Mapping[str, Sequence[int]],
    observers: Mapping[str, Observer],
    progress: Progress | None = None,
) -> None:
    """Run a trusted model over encodings, showing ``wanted`` layers of each stream to the stream's observer.

    Raises EngineReleased where the model is released before the last batch.
    """
    layout = trusted(engine)
    report = progress or (lambda done, total, stage: None)
    done, stage = 0, f"reading with {engine.name}"
    report(done, len(encodings), stage)
    for batch in plan(encodings, layout):
        with engine.lock, torch.inference_mode(), out_of_memory(engine.name):
            engine.require_loaded()  # between batches another session may have loaded a model in its place
            inputs = model_inputs(engine, group := [encodings[i] for i in batch])
            showing = _Showing(group, batch, wanted, observers, layout.last(wanted), layout.windowed)
            try:
                with tapped(engine.model, see=showing.see):
                    engine.model(**inputs)
            except _SeenEnough:
                pass
        give_back_pages()
        done += len(batch)
        report(done, len(encodings), stage)


def plan(encodings: Sequence[Encoding], layout: Layout) -> Iterable[list[int]]:
    """Batches as indices of documents; images share one only where they are equally large."""
    heads = max(place.heads for place in layout.places)
    shapes = [() if encoding.pixels is None else encoding.pixels.shape for encoding in encodings]
    for shape in dict.fromkeys(shapes):
        group = [i for i, own in enumerate(shapes) if own == shape]
        lengths = [
            tuple(len(t) for t in (encodings[i].table, encodings[i].target_table) if t is not None) for i in group
        ]
        for batch in batches(lengths, heads, padding=layout.pads):
            yield [group[i] for i in batch]


class _SeenEnough(Exception):
    """The deepest wanted layer has been seen: the rest of the forward pass would change nothing."""


@dataclass(frozen=True)
class _Showing:
    """Cuts the calls of one batch into blocks."""

    encodings: Sequence[Encoding]
    documents: Sequence[int]
    wanted: Mapping[str, Sequence[int]]
    observers: Mapping[str, Observer]
    last: tuple[str, int]
    windowed: bool

    def see(self, call: Call) -> None:
        if call.layer in self.wanted.get(call.stream, ()):
            self._show(call, self.observers[call.stream])
        if (call.stream, call.layer) == self.last:
            raise _SeenEnough

    def _show(self, call: Call, observer: Observer) -> None:
        arrays = {name: getattr(call, name).float().cpu().numpy() for name in sorted(observer.needs & NEEDS)}
        lengths = self._lengths(call)
        for row, document in enumerate(self.documents):
            for window in range(call.windows):
                part = row * call.windows + window
                cut = {name: _cut(name, array[part], *lengths[row]) for name, array in arrays.items()}
                _require_finite(cut, f"layer {call.layer}, document {document}")
                place = {"window": window, "windows": call.windows, "shift": call.shift}
                observer.see(Block(call.layer, call.stream, document, **cut, **place))

    def _lengths(self, call: Call) -> list[tuple[int, int]]:
        """Queries and keys of each document without padding; of each window where attention is windowed."""
        queries, keys = call.pattern.shape[2:]
        if self.windowed:
            return [(queries, keys)] * len(self.documents)
        own, other = ([len(table) for table in side] for side in sides(self.encodings, call.stream))
        if (max(own), max(other)) != (queries, keys):
            raise NotRunnable(
                f"attention over axes query_pos, key_pos of {(max(own), max(other))} tokens",
                f"{(queries, keys)} in layer {call.layer}, stream '{call.stream}'",
                "The token table does not describe what this model attends over.",
            )
        return list(zip(own, other, strict=True))


def _require_finite(arrays: Mapping[str, np.ndarray], where: str) -> None:
    for name, array in arrays.items():
        if not np.isfinite(array.sum()):
            raise NotFinite(
                f"finite numbers in {name}",
                f"NaN or infinity in {where}",
                "Try float32; if it persists, the model's weights are damaged.",
            )


def _cut(name: str, array: np.ndarray, n: int, m: int) -> np.ndarray:
    """One document's (or window's) part of an array without padding: n queries, m keys."""
    part = array[:, :n, :m] if name == "pattern" else array[:, : n if name in ("query", "z") else m]
    part.setflags(write=False)
    return part
