"""How well every head's boundary signals tell gold boundaries from other gaps, beside what the best of all would reach
by chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

from .errors import SegmentationError
from .features import TextSignals

SHIFTS = 200


@dataclass(frozen=True)
class Separation:
    """2 · AUC − 1 of every signal: 1 where every boundary is above every other gap, 0 by chance, −1 where below.

    values  float64 (layer, head, signal); chance: |value| that the best of *all* heads and signals exceeds in one of
    twenty shifts of the boundaries along the text; boundaries, gaps: how many there were
    """

    values: np.ndarray
    chance: float
    boundaries: int
    gaps: int


def separation(
    signals: TextSignals, target: np.ndarray, allowed: np.ndarray, shifts: int = SHIFTS, seed: int = 0
) -> Separation:
    """Separation of the candidate gaps of a text into boundaries and others.

    target, allowed: bool (gap,), where boundaries are and where the text can be cut; shifts: for the chance level, by
    which the boundaries are moved round the text, so that their spacing stays as it is.

    Raises SegmentationError where every candidate gap is a boundary, or none.

    **Source** AUC by ranks: Mann & Whitney, Annals of Mathematical Statistics 18 (1947).
    """
    truth = target[allowed]
    count, total = int(truth.sum()), len(truth)
    if not 0 < count < total:
        raise SegmentationError(
            "a text with a boundary and with a gap that is none",
            f"{count} boundaries at {total} gaps",
            "Take more text.",
        )
    layers, heads, _, kinds = signals.values.shape
    values = signals.values[:, :, allowed].transpose(0, 1, 3, 2).reshape(-1, total)
    ranks = rankdata(values, axis=1).astype(np.float64)  # (head · signal, gap)
    moves = np.random.default_rng(seed).integers(1, total, size=shifts)
    truths = np.stack([truth, *(np.roll(truth, move) for move in moves)]).astype(np.float64)
    above = (ranks @ truths.T - count * (count + 1) / 2) / (count * (total - count))  # AUC (feature, shift)
    separated = 2 * above - 1
    best = np.abs(separated[:, 1:]).max(axis=0) if shifts else np.zeros(1)
    return Separation(separated[:, 0].reshape(layers, heads, kinds), float(np.quantile(best, 0.95)), count, total)
