"""How numbers are written, the same in every room, in the report and from the commands."""

from __future__ import annotations


def written(value: float, form: str) -> str:
    """A number in a format of Python's, with a minus sign for a hyphen and no minus before zero: −0.48, +0.00."""
    text = f"{value:{form}}".replace("-", "−")
    return text if any(digit in text for digit in "123456789") else text.replace("−", "+" if "+" in form else "")


def per_cent(share: float, form: str = ".0f") -> str:
    """A share of one as a percentage: 0.38 is 38 %."""
    return f"{written(100 * share, form)} %"
