"""Segmentation: a text cut into segments, with the score of every place where it could be cut."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lib.corpora.document import Span
from lib.corpora.sentences import spans_between

from .errors import SegmentationError

GRANULARITIES = ("sentence", "topic")


@dataclass(frozen=True, eq=False)
class Segmentation:
    """A cut text; arrays are read-only.

    text         what was cut
    granularity  "sentence" | "topic"
    gaps         int64 (gap,): character offset of each gap, just after what lies before it
    score        float64 (gap,): 0 … 1, how much speaks for a boundary; 0 where the text cannot be cut
    boundaries   int64 (boundary,): character offsets just after each segment but the last
    threshold    of the score, at and above which there are boundaries; NaN where the cut was found as a whole
    method       what found the boundaries
    names        of the segments, () unless they are named
    notes        what a reader should know before trusting the cut
    """

    text: str
    granularity: str
    gaps: np.ndarray
    score: np.ndarray
    boundaries: np.ndarray
    threshold: float
    method: str
    names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name, kind in (("gaps", np.int64), ("score", np.float64), ("boundaries", np.int64)):
            array = np.array(getattr(self, name), dtype=kind)
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @property
    def segments(self) -> tuple[Span, ...]:
        """Character spans of the segments, without white space at either end."""
        return spans_between(self.text, self.boundaries)

    @property
    def confidence(self) -> np.ndarray:
        """Score of each boundary: (boundary,)."""
        return self.score[np.searchsorted(self.gaps, self.boundaries)]

    def at(self, threshold: float) -> Segmentation:
        """The same text cut at every gap whose score reaches a threshold in 0 … 1; no model is run.

        Raises SegmentationError for any other threshold.
        """
        if not 0 <= threshold <= 1:
            raise SegmentationError("a threshold of 0 … 1", f"{threshold}", "Choose one in between.")
        chosen = self.gaps[self.score >= max(threshold, np.finfo(float).tiny)]
        return replace(self, boundaries=chosen, threshold=float(threshold), names=())


def probability(log_odds: np.ndarray, threshold: float) -> np.ndarray:
    """Scores 0 … 1 of log-odds, shifted so that the threshold becomes 0.5."""
    return 1 / (1 + np.exp(-np.clip(log_odds - threshold, -50, 50)))


def strongest(score: np.ndarray, count: int) -> np.ndarray:
    """Indices of the ``count`` largest scores above 0, ascending; earlier ones where scores are equal."""
    usable = np.flatnonzero(score > 0)
    return np.sort(usable[np.argsort(-score[usable], kind="stable")[:count]])
