"""The numbers of verdicts in words, the same on the page, in the report and from the command."""

from __future__ import annotations

import math

from lib.numerals import written

Null = float | tuple[float, float]  # a value, or the interval of a null that was itself measured


def bounds(null: Null) -> tuple[float, float]:
    """Both ends of a null; twice the value where it is one."""
    low, high = null if isinstance(null, tuple) else (null, null)
    return float(low), float(high)


def null_words(null: Null) -> str:
    """A null in three digits, as an interval where it was measured as one."""
    if any(math.isnan(bound) for bound in bounds(null)):
        return "not measured"
    return " … ".join(written(end, ".3g") for end in (null if isinstance(null, tuple) else (null,)))


def number_words(number: float) -> str:
    """A measured number in three digits."""
    return "not defined" if math.isnan(number) else written(number, ".3g")


def interval_words(number: float, interval: tuple[float, float]) -> str:
    """The interval of a number, [low, high]; "" where there is no number to have one."""
    if math.isnan(number):
        return ""
    if any(math.isnan(end) for end in interval):
        return "no interval"
    return f"[{', '.join(written(end, '.3g') for end in interval)}]"


def more_words(estimate: float, low: float, high: float, null: Null, documents: int | None, unit: str) -> str:
    """How many documents the interval would need to leave the null, if the estimate stayed where it is."""
    null_low, null_high = bounds(null)
    gap = max(estimate - null_high, null_low - estimate)
    half = (estimate - low) if estimate > null_high else (high - estimate)
    if documents is None or documents < 2:
        return f"More {unit}."
    if gap <= 0 and isinstance(null, tuple):
        return f"The estimate lies within the null: more {unit} will not decide it."
    if gap <= 0 or half / gap > 30:
        return f"More {unit} may not decide it: the estimate sits on the null."
    needed = math.ceil(documents * (half / gap) ** 2)
    return f"About {max(needed, documents + 1)} {unit}, if the estimate stays (interval ∝ 1/√N)."
