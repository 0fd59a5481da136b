"""Sentences: every gap scored by surface cues, by attention, by both, or by one untrained head."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .calibration import FOLDER, Calibration, calibration_for, combined_cues
from .conditions import CONDITIONS, recognise
from .errors import SegmentationError
from .features import TextSignals, averaged_signals
from .passes import Progress
from .positions import candidate_gaps
from .scoring import gap_scores
from .segmentation import Segmentation, probability, strongest
from .surface import surface_cues, words_between
from .windows import Tokens, read_tokens

_NEIGHBOURS = {
    "unstopped": ("lowered-unstopped",),
    "lowered": ("written",),
    "lowered-unstopped": ("bare", "unstopped"),
    "bare": ("lowered-unstopped",),
}


@dataclass(frozen=True)
class _Reading:
    """Log-odds of every gap (gap,), the threshold that goes with them, and how they came about."""

    scores: np.ndarray
    threshold: float
    method: str
    notes: tuple[str, ...] = ()


def cut_sentences(
    text: str, engine: Any | None, segments: int | None, surface: bool, progress: Progress | None = None
) -> Segmentation:
    """Sentences of a text; engine None reads surface cues alone. See `segment`."""
    tokens = read_tokens(text, engine) if engine is not None else _words(text)
    allowed = candidate_gaps(text, tokens.start, tokens.end) if len(tokens) > 1 else np.zeros(0, dtype=bool)
    if not allowed.any():
        _require(segments, int(allowed.sum()))
        gaps = tokens.end[:-1]
        return Segmentation(text, "sentence", gaps, np.zeros(len(gaps)), [], 0.5, "nothing to cut")
    condition = recognise(text)
    reading = _read(text, tokens, allowed, condition, engine, surface, progress)
    score = np.where(allowed, probability(reading.scores, reading.threshold), 0.0)
    _require(segments, int((score > 0).sum()))
    cuts = np.flatnonzero(score >= 0.5) if segments is None else strongest(score, segments - 1)
    threshold = 0.5 if segments is None else float("nan")
    notes = (f"Read as text {CONDITIONS[condition][0]}.", *reading.notes)
    return Segmentation(
        text, "sentence", tokens.end[:-1], score, tokens.end[cuts], threshold, reading.method, notes=notes
    )


def _words(text: str) -> Tokens:
    """Words at white space, where no model reads the text."""
    spans, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        spans.append((start, start + len(word)))
        start += len(word)
    starts, ends = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    nothing = np.zeros(0, dtype=np.int64)
    return Tokens(np.zeros(len(spans), dtype=np.int64), starts, ends, nothing, nothing)


def _require(segments: int | None, gaps: int) -> None:
    if segments is not None and not 1 <= segments <= gaps + 1:
        raise SegmentationError(
            f"1 … {gaps + 1} segments of a text that can be cut at {gaps} places", f"{segments}", "Ask for fewer."
        )


def calibrated(engine: Any | None, condition: str) -> Calibration | None:
    """The calibration of a condition, or of the nearest one that there is."""
    for name in (condition, *_NEIGHBOURS.get(condition, ()), "written"):
        if (found := calibration_for(engine, name, FOLDER)) is not None:
            return found
    return None


def _read(
    text: str,
    tokens: Tokens,
    allowed: np.ndarray,
    condition: str,
    engine: Any | None,
    surface: bool,
    progress: Progress | None,
) -> _Reading:
    words = words_between(tokens.start, tokens.end, allowed)
    calibration = calibrated(engine, condition)
    if engine is None or (calibration is None and surface):
        alone = calibrated(None, condition)
        if alone is None:
            raise SegmentationError("calibrations in data/calibration", "none", "Restore that folder.")
        notes = () if engine is None else (f"No calibration for {engine.name}: its heads were not read.",)
        scores = _spread(alone.surface.scores(surface_cues(text, words)), allowed)
        return _Reading(scores, alone.surface_threshold, "surface cues alone", notes)
    if calibration is None:
        return _untrained(averaged_signals(engine, tokens, ["z_cosine_4"], progress=progress), engine, allowed)
    scores = gap_scores(engine, tokens, calibration.heads.linear, progress=progress)
    if not surface:
        return _Reading(scores, calibration.heads.threshold, "attention and z of all heads, calibrated")
    cues = combined_cues(surface_cues(text, words), scores[allowed])
    combined = _spread(calibration.surface.scores(cues), allowed)
    method = "attention and z of all heads with surface cues, calibrated"
    return _Reading(combined, calibration.surface_threshold, method)


def _spread(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Scores of candidate gaps on the axis of all gaps."""
    full = np.full(len(allowed), -50.0)
    full[allowed] = scores
    return full


def _untrained(signals: TextSignals, engine: Any, allowed: np.ndarray) -> _Reading:
    """A model without calibration: how little z has in common on either side, mean over all heads."""
    contrast = -signals.of("z_cosine_4").mean(axis=(0, 1))
    note = f"No calibration for {engine.name}: an untrained signal was used, and its threshold is a guess."
    return _Reading(_standard(contrast, allowed), 1.0, "dissimilarity of z, mean over all heads, untrained", (note,))


def _standard(values: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Deviations from the mean over candidate gaps, in standard deviations."""
    spread = values[allowed].std()
    return (values - values[allowed].mean()) / spread if spread > 0 else np.zeros(len(values))


def segment_by_signal(
    text: str,
    engine: Any,
    signal: str = "to_last",
    layer: int | None = None,
    head: int | None = None,
    segments: int | None = None,
    progress: Progress | None = None,
) -> Segmentation:
    """Sentences of a text by one boundary signal, untrained.

    signal: a name of signals.MEANINGS; "to_last", attention to [SEP], is the paper's method. layer: the last by
    default; head: the mean of the layer's heads by default. Cosines count by how low they are. A boundary lies where
    the signal stands out by one standard deviation, or at the strongest places where the number of segments is given.

    Raises SegmentationError for a signal, layer or head that the model does not have.

    **Source** Halevi et al., arXiv 2512.21956: late attention concentrates on separators.
    """
    tokens = read_tokens(text, engine)
    signals = averaged_signals(engine, tokens, [signal], progress=progress)
    layer = signals.layers[-1] if layer is None else layer
    if layer not in signals.layers or not 0 <= (head or 0) < engine.n_heads:
        raise SegmentationError(
            f"a layer among {signals.layers} and a head below {engine.n_heads}",
            f"layer {layer}, head {head}",
            f"{engine.name} has no other: choose one of these.",
        )
    values = signals.of(signal)[signals.layers.index(layer)]  # (head, gap)
    values = values.mean(axis=0) if head is None else values[head]
    values = -values if signal.startswith("z_cosine") else values
    allowed = candidate_gaps(text, tokens.start, tokens.end) if len(tokens) > 1 else np.zeros(0, dtype=bool)
    _require(segments, int(allowed.sum()))
    standard = _standard(values, allowed) if allowed.any() else values
    score = np.where(allowed, probability(standard, 1.0), 0.0)
    cuts = np.flatnonzero(score >= 0.5) if segments is None else strongest(score, segments - 1)
    where = f"L{layer}" if head is None else f"L{layer} H{head}"
    return Segmentation(
        text,
        "sentence",
        tokens.end[:-1],
        score,
        tokens.end[cuts],
        0.5 if segments is None else float("nan"),
        f"{signal} of {where}, untrained",
    )
