"""capture, pattern and window_patterns: the observers that keep whole arrays, allocated once and filled in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from lib.capture.batching import encoded
from lib.capture.budget import require_memory
from lib.capture.check import trusted
from lib.capture.layout import Place
from lib.capture.naming import capture_key, checked
from lib.capture.observers import Block, Progress, observe, offsets, run, sides
from lib.capture.value import ARRAYS, QUERY_SIDE, Capture, read_only
from lib.corpora.document import Document
from lib.corpora.tokens import Encoding, TokenTable
from lib.errors import HeadlightError
from lib.models import Engine


def capture(
    engine: Engine,
    documents: Sequence[Document | Encoding],
    keep: Sequence[str] = ARRAYS,
    layers: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Capture:
    """Keep attention's vectors over some documents.

    keep: of "query", "key", "value", "z"; layers: true layer numbers, all by default. ``progress(done, total, stage)``
    counts documents and may raise to cancel. An encoder–decoder gives its encoder's capture; the others are in
    ``.streams``.

    Raises TooLarge before anything is computed, CheckFailed where the tap's numbers are not the model's own, and
    LayerUnknown, WindowedAttention, NotTappable, NotRunnable or NotFinite.
    """
    keep = checked(keep)
    encodings = encoded(engine, documents)
    layout = trusted(engine)
    wanted = layout.chosen(layers, layout.streams)
    require_memory(encodings, layout, wanted, keep)
    recorders = {
        stream: _Recorder(layout.uniform(stream, wanted[stream]), wanted[stream], encodings, keep) for stream in wanted
    }
    run(engine, encodings, wanted, recorders, progress)
    key = capture_key(engine, encodings, keep, layers)
    captures = {stream: _value(engine, encodings, recorder, key) for stream, recorder in recorders.items()}
    main, *others = captures
    return replace(captures[main], others={name: captures[name] for name in others})


def pattern(
    engine: Engine,
    document: Document | Encoding,
    layers: Sequence[int] | None = None,
    stream: str | None = "self",
    progress: Progress | None = None,
) -> np.ndarray:
    """Every attention weight of one document: (layer, head, query_pos, key_pos) float32, read-only.

    layers: true layer numbers, all by default, in ascending order on the axis. stream: "self", or "encoder" (what
    "self" means for an encoder–decoder), "decoder", "cross". Rows sum to 1, a sink's share apart.

    Raises TooLarge, CheckFailed, LayerUnknown, NotTappable, NotRunnable or NotFinite; WindowedAttention for Swin,
    whose windows ``window_patterns`` gives.
    """
    encodings = encoded(engine, [document])
    layout = trusted(engine)
    stream = layout.stream(stream)
    wanted = layout.chosen(layers, [stream])
    require_memory(encodings, layout, wanted, ("pattern",))
    recorder = _Recorder(layout.uniform(stream, wanted[stream]), wanted[stream], encodings, ("pattern",))
    run(engine, encodings, wanted, {stream: recorder}, progress)
    return read_only(recorder.arrays["pattern"])


@dataclass(frozen=True)
class WindowPattern:
    """Attention inside the windows of an image in one layer.

    pattern     (window, head, query_pos, key_pos) float32, read-only
    rows, cols  of the grid that the windows form, row by row
    side        tokens along a window's side
    shift       tokens by which the grid of tokens was rolled up and left before it was cut
    """

    layer: int
    pattern: np.ndarray
    rows: int
    cols: int
    side: int
    shift: int


def window_patterns(
    engine: Engine, document: Document | Encoding, layers: Sequence[int] | None = None
) -> list[WindowPattern]:
    """The patterns of every window of an image, layer by layer, for models that attend within windows (Swin).

    Raises HeadlightError for other models; CheckFailed, LayerUnknown, NotTappable, NotRunnable or NotFinite.
    """
    encodings = encoded(engine, [document])
    layout = trusted(engine)
    if not layout.windowed:
        raise HeadlightError(
            "a model that attends within windows (Swin)", f"{engine.family}, which attends to the whole", "Use pattern."
        )
    recorder = _Windows({})
    observe(engine, encodings, recorder, layers)
    _, height, width = encodings[0].pixels.shape
    return [_placed(layer, blocks, height / width) for layer, blocks in sorted(recorder.blocks.items())]


class _Recorder:
    """Keeps arrays of one stream: vectors as (layer, head, token, d_head), one document's pattern by layer."""

    def __init__(
        self, place: Place, layers: tuple[int, ...], encodings: Sequence[Encoding], keep: Sequence[str]
    ) -> None:
        self.needs = frozenset(keep)
        self.place, self.layers = place, layers
        self.tables = dict(zip(("query", "key"), sides(encodings, place.stream), strict=True))
        self.offsets = {side: offsets(tables) for side, tables in self.tables.items()}
        self.arrays = {name: np.empty(self._shape(name), dtype=np.float32) for name in keep}

    def _shape(self, name: str) -> tuple[int, ...]:
        queries, keys = self.offsets["query"][-1], self.offsets["key"][-1]
        if name == "pattern":
            return len(self.layers), self.place.heads, queries, keys
        tokens = queries if name in QUERY_SIDE else keys
        return len(self.layers), self.place.heads, tokens, self.place.width(name)

    def see(self, block: Block) -> None:
        layer = self.layers.index(block.layer)
        for name, array in self.arrays.items():
            if name == "pattern":
                array[layer] = block.pattern
                continue
            start, end = self.offsets["query" if name in QUERY_SIDE else "key"][block.document :][:2]
            array[layer, :, start:end] = getattr(block, name)


@dataclass(frozen=True)
class _Windows:
    """Keeps a copy of every window's pattern."""

    blocks: dict[int, list[Block]]
    needs = frozenset({"pattern"})
    windows = True

    def see(self, block: Block) -> None:
        self.blocks.setdefault(block.layer, []).append(replace(block, pattern=block.pattern.copy()))


def _placed(layer: int, blocks: list[Block], ratio: float) -> WindowPattern:
    """Windows of one layer on their grid; ``ratio`` is the image's height over its width."""
    stacked = read_only(np.stack([block.pattern for block in blocks]))
    count, side = len(blocks), round(stacked.shape[2] ** 0.5)
    rows = min((n for n in range(1, count + 1) if count % n == 0), key=lambda n: abs(n - (count * ratio) ** 0.5))
    return WindowPattern(layer, stacked, rows, count // rows, side, blocks[0].shift)


def _value(engine: Engine, encodings: Sequence[Encoding], recorder: _Recorder, key: str) -> Capture:
    stream = recorder.place.stream
    return Capture(
        **recorder.arrays,
        tokens=TokenTable.join(recorder.tables["query"]),
        doc_offsets=recorder.offsets["query"],
        key_tokens=TokenTable.join(recorder.tables["key"]),
        key_doc_offsets=recorder.offsets["key"],
        layers=recorder.layers,
        stream=stream,
        causal=engine.causal if stream == "self" else stream == "decoder",
        scaling=recorder.place.scaling,
        model=engine.name,
        revision=engine.revision,
        dtype=engine.dtype,
        lost=tuple(encoding.lost for encoding in encodings),
        hash=key if stream in ("self", "encoder") else f"{key}-{stream}",
    )
