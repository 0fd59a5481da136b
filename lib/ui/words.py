"""Words of the page that depend on a number."""

from __future__ import annotations


def plural(count: int, noun: str) -> str:
    """A number with its noun: 1 document, 12 documents."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def written(value: float, form: str) -> str:
    """A number in a format of Python's, with a minus sign for a hyphen and no minus before zero: −0.48, +0.00."""
    text = f"{value:{form}}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else text.replace("−", "+" if "+" in form else "")
