"""Change points of a sequence of vectors: the best cut into segments by dynamic programming.

The score of a segment of l units is Σ_ij K_ij / l^power over its units, with the kernel K = X Xᵀ. It needs no kernel
matrix: the sum is ‖Σ_i x_i‖², a difference of two running sums. With a longest segment of m units the table has n × m
numbers, so memory grows with the text and not with its square.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .errors import SegmentationError

Progress = Callable[[int, int, str], None]
POWER = 0.8  # 1 would be kernel least squares, which splits too readily where similarity falls slowly
LONGEST = 400  # units of a segment
COPIES = 4  # shuffled copies of a text
STRETCH = 300  # units on which a number of segments is chosen at once
CAUTION = 1.4  # times the gain on shuffled copies that a cut has to bring; 1.35 to 1.5 do about as well


@dataclass(frozen=True)
class Gains:
    """score[s, e − s − 1] of the segment [s, e), −inf where too short or beyond the end: (unit, longest)."""

    table: np.ndarray
    shortest: int


def segment_gains(vectors: np.ndarray, shortest: int = 1, longest: int = LONGEST, power: float = POWER) -> Gains:
    """Scores of all segments of vectors (unit, dimension)."""
    n = len(vectors)
    longest = min(longest, n)
    shortest = max(1, min(shortest, n))
    sums = np.concatenate([np.zeros((1, vectors.shape[1])), np.cumsum(vectors, axis=0, dtype=np.float64)])
    squares = np.einsum("id,id->i", sums, sums)
    table = np.full((n, longest), -np.inf)
    for length in range(shortest, longest + 1):
        cross = np.einsum("id,id->i", sums[length:], sums[:-length])
        inside = squares[length:] + squares[:-length] - 2 * cross
        table[: n - length + 1, length - 1] = inside / length**power
    return Gains(table, shortest)


def best_cut(gains: Gains, penalty: float) -> np.ndarray:
    """First units of all segments but the first that maximise Σ score − penalty · segments: int64 (boundary,)."""
    n, longest = gains.table.shape
    best, back = np.full(n + 1, -np.inf), np.zeros(n + 1, dtype=np.int64)
    best[0] = 0.0
    for end in range(1, n + 1):
        starts = np.arange(max(0, end - longest), end)
        totals = best[starts] + gains.table[starts, end - starts - 1] - penalty
        back[end] = starts[totals.argmax()]
        best[end] = totals.max()
    return _walk(back, n)


def _walk(back: np.ndarray, n: int) -> np.ndarray:
    cuts, end = [], n
    while (end := int(back[end])) > 0:
        cuts.append(end)
    return np.array(cuts[::-1], dtype=np.int64)


def best_totals(gains: Gains, most: int, progress: Progress | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Best Σ score with 1 … most segments, (most,), and where the last of them begins: int32 (most, unit + 1)."""
    n, longest = gains.table.shape
    # ending[e, l − 1] = score of the segment of l units that ends before unit e
    ending = np.full((n + 1, longest), -np.inf)
    for length in range(1, longest + 1):
        ending[length:, length - 1] = gains.table[: n - length + 1, length - 1]
    before = np.arange(n + 1)[:, None] - np.arange(1, longest + 1)  # first unit of that segment
    best = np.full(n + 1, -np.inf)
    best[0] = 0.0
    totals, back = np.full(most, -np.inf), np.zeros((most, n + 1), dtype=np.int32)
    for k in range(most):
        if progress is not None:
            progress(k, most, "placing changes of topic")
        options = np.where(before >= 0, best[np.maximum(before, 0)], -np.inf) + ending
        chosen = options.argmax(axis=1)
        best = options[np.arange(n + 1), chosen]
        back[k] = np.maximum(before[np.arange(n + 1), chosen], 0)
        totals[k] = best[n]
    return totals, back


def cut_into(gains: Gains, segments: int, progress: Progress | None = None) -> np.ndarray:
    """The best cut into exactly that many segments: first units of all but the first, int64 (segments − 1,).

    progress: progress(done, total, stage), in segments; may raise to cancel.

    Raises SegmentationError where there are too few units.
    """
    n = len(gains.table)
    if not 1 <= segments <= max(1, n // gains.shortest):
        raise SegmentationError(
            f"1 … {max(1, n // gains.shortest)} segments of at least {gains.shortest} of {n} units",
            f"{segments}",
            "Ask for fewer segments.",
        )
    totals, back = best_totals(gains, segments, progress)
    if not np.isfinite(totals[-1]):
        raise SegmentationError(
            f"segments of at most {gains.table.shape[1]} of {n} units", f"{segments} of them", "Ask for more segments."
        )
    cuts, end = [], n
    for k in range(segments - 1, 0, -1):
        end = int(back[k, end])
        cuts.append(end)
    return np.array(cuts[::-1], dtype=np.int64)


@dataclass(frozen=True)
class Chosen:
    """A number of segments, and the penalty per segment under which the best cut has that number (0: never cut)."""

    segments: int
    penalty: float


def chosen_number(
    vectors: np.ndarray,
    shortest: int,
    caution: float = CAUTION,
    copies: int = COPIES,
    longest: int = LONGEST,
    seed: int = 0,
    progress: Progress | None = None,
) -> Chosen:
    """How many segments a text has, told from the text alone.

    The number K that maximises f(K) − caution · g(K): f the best total of K segments, g its mean over copies of the
    same units in random order. What cutting gains where there is nothing to find is thus charged at every K, and more
    of it the more caution. In a text of more than 300 units the penalties of stretches of that length are found, and
    their median is used for the whole.

    vectors (unit, dimension); shortest, longest: units of a segment; copies: shuffled ones; progress: progress(done,
    total, stage), in stretches of a long text; may raise to cancel.

    **Source** the gap statistic (Tibshirani, Walther & Hastie, J. R. Stat. Soc. B 63, 2001) with permutations as the
    reference; the factor is this product's.
    """
    n = len(vectors)
    if n > STRETCH:
        starts = np.linspace(0, n - STRETCH, -(-n // STRETCH)).astype(int)
        parts = []
        for number, start in enumerate(starts):
            if progress is not None:
                progress(number, len(starts), "finding how often the topic changes")
            stretch = vectors[start : start + STRETCH]
            parts.append(chosen_number(stretch, shortest, caution, copies, longest, seed))
        penalty = float(np.median([part.penalty for part in parts]))
        gains = segment_gains(vectors, shortest, longest)
        return Chosen(len(best_cut(gains, penalty)) + 1 if penalty > 0 else 1, penalty)
    most = int(n / (1.2 * shortest))
    if most < 2:
        return Chosen(1, 0.0)
    rng = np.random.default_rng(seed)
    totals, _ = best_totals(segment_gains(vectors, shortest, longest), most)
    shuffled = [
        best_totals(segment_gains(vectors[rng.permutation(n)], shortest, longest), most)[0] for _ in range(copies)
    ]
    usable = np.isfinite(totals) & np.isfinite(shuffled).all(axis=0)
    excess = np.where(usable, totals - caution * np.where(usable, np.mean(shuffled, axis=0), 0.0), -np.inf)
    best = int(excess.argmax())
    around = [totals[k] - totals[k - 1] for k in (best, best + 1) if 0 < k < most and usable[k] and usable[k - 1]]
    return Chosen(best + 1, max(0.0, float(np.mean(around))) if around else 0.0)
