"""Sentences by one boundary signal as it is, without any training: of one head, of a layer, or of all heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from lib.numerals import plural

from .errors import SegmentationError
from .features import TextSignals, averaged_signals
from .passes import Progress
from .positions import candidate_gaps, distinct_gaps
from .segmentation import Segmentation, probability, strongest
from .signals import signal_names
from .windows import read_tokens, without_halves

STANDS_OUT = 1.0  # standard deviations above the mean over all places at which a boundary is set


def signals_there(engine: Any) -> tuple[str, ...]:
    """Names of the boundary signals that a text model has: one that looks back only has fewer."""
    some = read_tokens("a b", engine)
    return signal_names(len(some.prefix), len(some.suffix), engine.causal)


def contrast(signals: TextSignals, name: str) -> np.ndarray:
    """A signal turned so that it is high where it may speak for a boundary, (layer, head, gap): cosines are negated."""
    values = signals.of(name)
    return -values if name.startswith("z_cosine") else values


def standard(values: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Deviations from the mean over candidate gaps, in standard deviations."""
    spread = values[allowed].std()
    return (values - values[allowed].mean()) / spread if spread > 0 else np.zeros(len(values))


def require_count(segments: int | None, gaps: int) -> None:
    """Raise SegmentationError where a text that can be cut at so many gaps cannot have that many segments."""
    if segments is not None and not 1 <= segments <= gaps + 1:
        raise SegmentationError(
            f"1 … {gaps + 1} segments of a text that can be cut at {plural(gaps, 'place')}",
            f"{segments}",
            "Ask for a number in this range.",
        )


def segment_by_signal(
    text: str,
    engine: Any,
    signal: str = "to_last",
    layer: int | None = None,
    head: int | None = None,
    segments: int | None = None,
    progress: Progress | None = None,
    signals: TextSignals | None = None,
) -> Segmentation:
    """Sentences of a text by one boundary signal, untrained.

    signal: a name of signals.MEANINGS; "to_last", attention to [SEP], is the paper's method. layer: the last by
    default, −1 for the mean of all layers; head: the mean of the layer's heads by default. signals: of this text,
    where they are known already. Cosines count by how low they are. A boundary lies where the signal stands out by one
    standard deviation, or at the strongest places where the number of segments is given.

    Raises SegmentationError for a signal, layer or head that the model does not have.

    **Source** Halevi et al., arXiv 2512.21956: late attention concentrates on separators.
    """
    text = without_halves(text)
    tokens = read_tokens(text, engine)
    if signals is None:
        signals = averaged_signals(engine, tokens, [signal], progress=progress)
    layer = signals.layers[-1] if layer is None else layer
    if layer not in (-1, *signals.layers) or not 0 <= (head or 0) < engine.n_heads:
        raise SegmentationError(
            f"a layer among {signals.layers} and a head below {engine.n_heads}",
            f"layer {layer}, head {head}",
            f"{engine.name} has no other: choose one of these.",
        )
    values = contrast(signals, signal)
    values = values.mean(axis=0) if layer == -1 else values[signals.layers.index(layer)]  # (head, gap)
    values = values.mean(axis=0) if head is None else values[head]
    allowed = candidate_gaps(text, tokens.start, tokens.end) if len(tokens) > 1 else np.zeros(0, dtype=bool)
    require_count(segments, int(allowed.sum()))
    scores = standard(values, allowed) if allowed.any() else values
    score = np.where(allowed, probability(scores, STANDS_OUT), 0.0)
    cuts = np.flatnonzero(score >= 0.5) if segments is None else strongest(score, segments - 1)
    where = "all layers" if layer == -1 else f"L{layer}"
    where = f"{where}, mean over heads" if head is None else f"{where} H{head}"
    place = distinct_gaps(tokens.end)
    return Segmentation(
        text,
        "sentence",
        tokens.end[:-1][place],
        score[place],
        tokens.end[cuts],
        0.5 if segments is None else float("nan"),
        f"{signal} of {where}, untrained",
    )
