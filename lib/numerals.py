"""How numbers are written, the same in every room, in the report and from the commands."""

from __future__ import annotations

import math


def written(value: float, form: str) -> str:
    """A number in a format of Python's, with a minus sign for a hyphen and no minus before zero: −0.48, +0.00."""
    text = f"{value:{form}}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else text.replace("−", "+" if "+" in form else "")


def per_cent(share: float, form: str = ".0f") -> str:
    """A share of one as a percentage: 0.38 is 38 %."""
    return f"{written(100 * share, form)} %"


def plural(count: int, noun: str, nouns: str = "") -> str:
    """A number with its noun: 1 document, 12 documents; ``nouns`` where an s is not enough: 2 boundaries."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def with_interval(value: float, low: float, high: float) -> str:
    """An estimate with its interval, three digits each: 3.2 [2.9, 3.5]; n/a where it is not defined."""
    if not math.isfinite(value):
        return "n/a"
    ends = f" [{written(low, '.3g')}, {written(high, '.3g')}]" if math.isfinite(low) and math.isfinite(high) else ""
    return f"{written(value, '.3g')}{ends}"
