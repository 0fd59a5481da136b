"""Sentences: every gap scored by surface cues, by attention, or by both, as a calibration says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .calibration import FOLDER, Calibration, calibration_for, combined_cues
from .conditions import CONDITIONS, recognise
from .errors import SegmentationError
from .features import averaged_signals
from .passes import Progress
from .positions import candidate_gaps, distinct_gaps
from .scoring import gap_scores
from .segmentation import Segmentation, probability, strongest
from .surface import surface_cues, words_between
from .turns import turn_scores
from .untrained import contrast, require_count, standard
from .windows import Tokens, read_tokens

STRENGTHS = {  # what reads a text, by the same names on the page, in tables and in what is taken away
    "surface": "all heads and surface cues",
    "heads": "all heads",
    "one": "one signal, untrained",
}
SURFACE_ALONE = "surface cues alone"
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
    text: str,
    engine: Any | None,
    segments: int | None,
    surface: bool,
    progress: Progress | None = None,
    condition: str | None = None,
) -> Segmentation:
    """Sentences of a text; engine None reads surface cues alone. See `segment`."""
    if progress is not None:
        progress(0, 1, "finding words")
    tokens = read_tokens(text, engine) if engine is not None else _words(text)
    allowed = candidate_gaps(text, tokens.start, tokens.end) if len(tokens) > 1 else np.zeros(0, dtype=bool)
    if not allowed.any():
        require_count(segments, int(allowed.sum()))
        gaps = np.unique(tokens.end[:-1])
        note = "There are no two words between which the text could be cut."
        return Segmentation(text, "sentence", gaps, np.zeros(len(gaps)), [], 0.5, "nothing to cut", notes=(note,))
    recognised = condition is None
    condition = recognise(text) if recognised else condition
    reading = _read(text, tokens, allowed, condition, engine, surface, progress)
    score = np.where(allowed, probability(reading.scores, reading.threshold), 0.0)
    require_count(segments, int((score > 0).sum()))
    cuts = np.flatnonzero(score >= 0.5) if segments is None else strongest(score, segments - 1)
    threshold = 0.5 if segments is None else float("nan")
    how = "recognised" if recognised else "as asked"
    notes = (f"Read as text {CONDITIONS[condition][0]} ({how}).", *reading.notes)
    place = distinct_gaps(tokens.end)
    gaps = tokens.end[:-1][place]
    return Segmentation(text, "sentence", gaps, score[place], tokens.end[cuts], threshold, reading.method, notes=notes)


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
    calibration = calibrated(engine, condition)
    if engine is None or (calibration is None and surface):
        alone = calibrated(None, condition)
        if alone is None:
            raise SegmentationError("calibrations in data/calibration", "none", "Restore that folder.")
        notes = () if engine is None else (f"No calibration for {engine.name}: its heads were not read.",)
        words = words_between(tokens.start, tokens.end, allowed)
        scores = alone.surface.scores(surface_cues(text, words)) + turn_scores(text, words)
        return _Reading(_spread(scores, allowed), alone.surface_threshold, SURFACE_ALONE, notes)
    if calibration is None:
        signals = averaged_signals(engine, tokens, ["z_cosine_4"], progress=progress)
        note = f"No calibration for {engine.name}: an untrained signal was used, and its threshold is a guess."
        scores = standard(contrast(signals, "z_cosine_4").mean(axis=(0, 1)), allowed)
        return _Reading(scores, 1.0, "dissimilarity of z, mean over all heads, untrained", (note,))
    scores = gap_scores(engine, tokens, calibration.heads.linear, progress=progress)
    if not surface:
        return _Reading(scores, calibration.heads.threshold, f"{STRENGTHS['heads']}, calibrated")
    words = words_between(tokens.start, tokens.end, allowed)
    cues = combined_cues(surface_cues(text, words), scores[allowed])
    combined = calibration.surface.scores(cues) + turn_scores(text, words)
    return _Reading(_spread(combined, allowed), calibration.surface_threshold, f"{STRENGTHS['surface']}, calibrated")


def _spread(scores: np.ndarray, allowed: np.ndarray) -> np.ndarray:
    """Scores of candidate gaps on the axis of all gaps."""
    full = np.full(len(allowed), -50.0)
    full[allowed] = scores
    return full
