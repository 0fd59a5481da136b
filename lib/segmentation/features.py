"""Features of every token of a text: boundary signals and raw vectors of all heads, window by window.

Two readers of the same forward passes: `gather` keeps features, for calibration; `averaged_signals` keeps the signals
of a whole text, averaged over its windows. Scoring with known weights needs neither (see scoring.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.capture.check import trusted

from .errors import SegmentationError
from .passes import CHUNK, Progress, Shown, counted, show_layers
from .signals import boundary_signals, signal_names
from .windows import SIZE, STRIDE, Tokens, fade, window_size, windows_over


@dataclass(frozen=True)
class Gathered:
    """Features of the windows of several texts, one row per token of a window.

    values    float16 (row, feature): per layer what layer_parts tells, one part after the other
    document  (row,) index of the text; window (row,) running number; token (row,) index of the token in its text
    weight    (row,) weight of the gap behind the token, 0 where the window has none
    """

    values: np.ndarray
    document: np.ndarray
    window: np.ndarray
    token: np.ndarray
    weight: np.ndarray


PARTS = ("signals", "outputs", "queries", "keys", "values")  # of a layer's features, in this order


def part_shapes(engine: Any, signals: int) -> dict[str, tuple[int, int]]:
    """Shape (head, number) of each of PARTS in one layer of a model that has that many boundary signals."""
    layout = trusted(engine)
    stream = layout.stream(None)
    place = next(place for place in layout.places if place.stream == stream)
    numbers = (signals, place.d_value, place.d_query, place.d_query, place.d_value)
    return {name: (place.heads, number) for name, number in zip(PARTS, numbers, strict=True)}


def layer_parts(shown: Shown, prefix: int, suffix: int, causal: bool) -> list[np.ndarray]:
    """Features of one layer, in the order of PARTS: boundary signals, then z, queries, keys and values of each token.

    Each float32 (window, token, head · number), special tokens left out. What attention reads of a token (its query and
    key) and passes on (its value) tells the token itself, z what was mixed into it.
    """
    vectors = shown.vectors()
    inner = slice(prefix, vectors[0].shape[2] - suffix)
    parts = [boundary_signals(shown.pattern, vectors[0], prefix, suffix, causal)]
    parts += [x[:, :, inner].transpose(0, 2, 1, 3) for x in vectors]
    return [part.reshape(*part.shape[:2], -1) for part in parts]


def gather(engine: Any, texts: Sequence[Tokens], progress: Progress | None = None) -> Gathered:
    """Features of all windows of several texts; memory is 2 bytes × rows × features."""
    plans = [windows_over(len(t), window_size(engine, t)) for t in texts]
    encodings = [e for t, plan in zip(texts, plans, strict=True) for e in t.encodings(plan, engine)]
    owner = [(i, w) for i, plan in enumerate(plans) for w in plan]
    offsets = np.cumsum([0, *(b - a for _, (a, b) in owner)])
    values: list[np.ndarray] = []  # per layer (row, feature)
    prefix, suffix = (len(texts[0].prefix), len(texts[0].suffix)) if texts else (0, 0)

    def see(batch: list[int], shown: Shown) -> None:
        features = np.concatenate(layer_parts(shown, prefix, suffix, engine.causal), axis=-1)
        if shown.layer not in seen:
            seen.append(shown.layer)
            values.append(np.zeros((offsets[-1], features.shape[-1]), dtype=np.float16))
        for row, i in enumerate(batch):
            values[seen.index(shown.layer)][offsets[i] : offsets[i + 1]] = features[row]

    seen: list[int] = []
    show_layers(engine, encodings, see, progress)
    weights = [np.r_[fade(w, len(texts[i])), 0.0] for i, w in owner]
    return Gathered(
        np.concatenate(values, axis=1),
        np.repeat([i for i, _ in owner], np.diff(offsets)),
        np.repeat(np.arange(len(owner)), np.diff(offsets)),
        np.concatenate([np.arange(a, b) for _, (a, b) in owner]),
        np.concatenate(weights),
    )


@dataclass(frozen=True)
class TextSignals:
    """Boundary signals of a whole text.

    values  float32 (layer, head, gap, signal), averaged over the windows that hold the gap
    names   of axis signal; layers: true layer numbers; gaps: (gap,) character offset of each gap
    """

    values: np.ndarray
    names: tuple[str, ...]
    layers: tuple[int, ...]
    gaps: np.ndarray

    def of(self, name: str) -> np.ndarray:
        """One signal of all heads: (layer, head, gap)."""
        return self.values[..., self.names.index(name)]


def averaged_signals(
    engine: Any,
    tokens: Tokens,
    keep: Sequence[str] | None = None,
    size: int = SIZE,
    stride: int = STRIDE,
    progress: Progress | None = None,
) -> TextSignals:
    """Boundary signals of every head on a text: what each head says about each gap.

    keep: names of the signals wanted, all by default; memory is 4 bytes × heads × gaps × signals. size, stride: of
    windows, in tokens.

    Raises SegmentationError for a signal that the model does not have.
    """
    every = signal_names(len(tokens.prefix), len(tokens.suffix), engine.causal)
    names = every if keep is None else tuple(keep)
    if not set(names) <= set(every):
        raise SegmentationError(
            f"signals of {engine.name} among {', '.join(every)}",
            ", ".join(sorted(set(names) - set(every))),
            f"{'It looks back only' if engine.causal else 'It has no other signals'}: choose one of these.",
        )
    size = window_size(engine, tokens, size)
    stride = min(stride, max(1, size - 1))
    plan = windows_over(len(tokens), size, stride)
    gaps, columns = max(0, len(tokens) - 1), [every.index(name) for name in names]
    prefix, suffix, total, sums = len(tokens.prefix), len(tokens.suffix), np.zeros(gaps), {}
    for begin in range(0, len(plan) if gaps else 0, CHUNK):
        part = plan[begin : begin + CHUNK]
        fades = [fade(window, len(tokens), size - stride) for window in part]
        for (a, b), weight in zip(part, fades, strict=True):
            total[a : b - 1] += weight

        def see(
            batch: list[int],
            shown: Shown,
            part: Sequence[tuple[int, int]] = part,
            fades: Sequence[np.ndarray] = fades,
        ) -> None:
            signals = boundary_signals(shown.pattern, shown.z, prefix, suffix, engine.causal)[..., columns]
            kept = sums.setdefault(shown.layer, np.zeros((gaps, *signals.shape[2:]), dtype=np.float32))
            for row, i in enumerate(batch):
                a, b = part[i]
                kept[a : b - 1] += signals[row, :-1] * fades[i][:, None, None]

        show_layers(engine, tokens.encodings(part, engine), see, counted(progress, begin, len(plan)))
    layers = tuple(sorted(sums)) or tuple(range(engine.n_layers))
    values = np.zeros((len(layers), engine.n_heads, gaps, len(names)), dtype=np.float32)
    for place, layer in enumerate(layers):
        if layer in sums:
            values[place] = (sums.pop(layer) / total[:, None, None]).transpose(1, 0, 2)
    return TextSignals(values, names, layers, tokens.end[:-1])
