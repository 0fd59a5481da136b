"""What callers hand in, checked once and in one way: real numbers, and how many of something."""

from __future__ import annotations

from typing import Any

import numpy as np

from lib.errors import HeadlightError

Array = np.ndarray


def real_numbers(values: Any, what: str) -> Array:
    """Values as an array (\\*cells) of the real type they have; text, complex numbers and ragged lists are refused.

    what: the thing that was given, such as "a signal", for the message.
    """
    try:
        array = np.asarray(values)
    except ValueError:  # NumPy's word for lists of unequal length
        array = np.empty(0, object)
    if array.dtype.kind not in "fiub":
        kind = "lists of unequal length" if array.dtype.kind == "O" else f"values of type {array.dtype}"
        raise HeadlightError(f"{what} of real numbers", kind, "Turn it into one array of numbers first.")
    return array


def whole_number(value: Any, what: str, least: int, most: int | None = None) -> int:
    """A whole number between two ends, both included; anything else is refused. most: None where there is no end."""
    number = real_numbers(value, what)
    end = np.inf if most is None else most
    if number.ndim or not np.isfinite(number) or number != np.floor(number) or not least <= number <= end:
        wanted = f"{what} of {least} or more" if most is None else f"{what} in {least} … {most}"
        raise HeadlightError(wanted, f"{value}", "Choose another.")
    return int(number)
