"""Scores of a segmentation against a reference: Pk, WindowDiff, boundary precision/recall/F1, boundary similarity.

A boundary position is the number of units (tokens, sentences, characters) before the boundary: 1 … length − 1 in a text
of ``length`` units. The ends of a text are no boundaries.

Windows: all pairs of units (i, i + k) inside the text, 0 ≤ i < length − k; none reaches over an end. k is half the mean
length of a reference segment, rounded half up, at least 1 and at most length − 1.

No boundary: a reference without boundaries is one segment, so k is half the text, and Pk and WindowDiff are the share
of windows in which the hypothesis has a boundary. Precision, recall, F1 and boundary similarity are 1 where neither
side has a boundary and 0 where only one has. A text of fewer than two units scores as perfect.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .errors import SegmentationError
from .positions import positions_checked


def window_of(reference: Sequence[int], length: int) -> int:
    """k: half the mean length of a reference segment, in units.

    >>> window_of([4, 8], 12), window_of([], 9), window_of([1], 2)
    (2, 5, 1)
    """
    segments = len(set(map(int, reference))) + 1
    return max(1, min(int(length / segments / 2 + 0.5), length - 1))


def pk(reference: Sequence[int], hypothesis: Sequence[int], length: int, k: int | None = None) -> float:
    """Share of windows whose two ends are in one segment on one side and in two on the other; 0 is perfect.

    reference, hypothesis: boundary positions; length: units of the text; k: units, `window_of` by default.
    Raises SegmentationError for positions outside the text.

    **Source** Beeferman, Berger & Lafferty, "Statistical models for text segmentation", Machine Learning 34 (1999).
    """
    ours, theirs = _crossed(reference, hypothesis, length, k)
    return float(((ours > 0) != (theirs > 0)).mean()) if len(ours) else 0.0


def window_diff(reference: Sequence[int], hypothesis: Sequence[int], length: int, k: int | None = None) -> float:
    """Share of windows in which the two sides differ in the number of boundaries; 0 is perfect.

    Arguments as for `pk`.

    **Source** Pevzner & Hearst, "A critique and improvement of an evaluation metric for text segmentation",
    Computational Linguistics 28 (2002).
    """
    ours, theirs = _crossed(reference, hypothesis, length, k)
    return float((ours != theirs).mean()) if len(ours) else 0.0


def _crossed(
    reference: Sequence[int], hypothesis: Sequence[int], length: int, k: int | None
) -> tuple[np.ndarray, np.ndarray]:
    """Boundaries between the ends of every window, on either side: two arrays (window,)."""
    ours = positions_checked(reference, length, "reference")
    theirs = positions_checked(hypothesis, length, "hypothesis")
    if length < 2:
        return np.zeros(0), np.zeros(0)
    k = window_of(ours, length) if k is None else k
    if not 1 <= k < length:
        raise SegmentationError(f"a window of 1 … {length - 1} units", f"k = {k}", "Leave k out for the usual one.")
    counts = []
    for positions in (ours, theirs):
        before = np.cumsum(np.bincount(positions, minlength=length))  # (unit,): boundaries at or before each unit
        counts.append(before[k:] - before[:-k])
    return counts[0], counts[1]


@dataclass(frozen=True)
class BoundaryScores:
    """Precision, recall and F1 of boundaries, and the counts they come from."""

    precision: float
    recall: float
    f1: float
    matched: int
    reference: int
    hypothesis: int


def boundary_scores(
    reference: Sequence[int], hypothesis: Sequence[int], tolerance: int = 0, length: int | None = None
) -> BoundaryScores:
    """Precision, recall and F1 of boundary positions, each matched at most once within ``tolerance`` units.

    Matching is one to one and as large as possible: positions are walked in order, each taking the earliest free
    partner in reach. ``length`` only checks the positions.
    """
    if not tolerance >= 0:
        raise SegmentationError("a tolerance of 0 units or more", f"{tolerance}", "Give 0 for exact matches.")
    limit = np.iinfo(np.int64).max if length is None else length
    ours = positions_checked(reference, limit, "reference")
    theirs = positions_checked(hypothesis, limit, "hypothesis")
    matched = i = j = 0
    while i < len(ours) and j < len(theirs):
        if abs(ours[i] - theirs[j]) <= tolerance:
            matched, i, j = matched + 1, i + 1, j + 1
        elif ours[i] < theirs[j]:
            i += 1
        else:
            j += 1
    return scores_of(matched, len(ours), len(theirs))


def scores_of(matched: int, reference: int, hypothesis: int) -> BoundaryScores:
    """Precision, recall and F1 from counts, which may be sums over documents."""
    if reference == hypothesis == 0:
        return BoundaryScores(1.0, 1.0, 1.0, 0, 0, 0)
    precision = matched / hypothesis if hypothesis else 0.0
    recall = matched / reference if reference else 0.0
    f1 = 2 * matched / (reference + hypothesis)
    return BoundaryScores(precision, recall, f1, matched, reference, hypothesis)


def boundary_similarity(reference: Sequence[int], hypothesis: Sequence[int], length: int, reach: int = 2) -> float:
    """Boundary edit distance as a similarity: 1 identical, 0 nothing in common.

    Exact matches count nothing, near misses of d < reach units d / reach, boundaries without partner 1; the sum is
    divided by the number of matches, near misses and boundaries without partner. Near misses are paired in the order
    of the text, nearest first.

    **Source** Fournier, "Evaluating text segmentation using boundary edit distance", ACL 2013 (B, n_t = 2).
    """
    ours = set(positions_checked(reference, length, "reference").tolist())
    theirs = set(positions_checked(hypothesis, length, "hypothesis").tolist())
    exact = len(ours & theirs)
    ours, theirs = ours - theirs, theirs - ours
    misses, cost = 0, 0.0
    for distance in range(1, reach):
        for position in sorted(ours):
            partner = next((p for p in (position - distance, position + distance) if p in theirs), None)
            if partner is not None:
                ours.discard(position)
                theirs.discard(partner)
                misses, cost = misses + 1, cost + distance / reach
    alone = len(ours) + len(theirs)
    edits = exact + misses + alone
    return 1.0 - (cost + alone) / edits if edits else 1.0
