"""What the statistics are called on screen, what they mean, and how their numbers are written."""

from __future__ import annotations

import math
from dataclasses import dataclass

from lib.numerals import written


@dataclass(frozen=True)
class Statistic:
    """A statistic as shown: name, meaning, how it is counted ("share", "tokens" or "sd"), and what it takes."""

    name: str
    meaning: str
    counted: str
    needs: str


STATISTICS = {
    "distance": Statistic("Mean distance", "How far apart the similar tokens stand.", "tokens", "two tokens"),
    "same_sentence": Statistic(
        "Same sentence", "Similar pairs that lie within one sentence.", "share", "sentence boundaries"
    ),
    "same_token": Statistic(
        "Repetition", "Similar pairs that are one token with itself.", "share", "a token that repeats"
    ),
    "cooccurrence": Statistic(
        "Co-occurrence",
        "How often a pair of different tokens that is similar here is similar elsewhere.",
        "share",
        "two documents that share pairs of tokens",
    ),
    "concentration": Statistic(
        "Anchoring", "Chance that two ends of similar pairs carry one token.", "share", "a token that repeats"
    ),
    "separator": Statistic(
        "Ends on separators", "Ends of similar pairs on sentence-ending marks.", "share", "a sentence-ending mark"
    ),
    "contrast": Statistic(
        "Sentence contrast", "Similarity within minus between sentences.", "sd", "a document of two sentences"
    ),
}
ON_IMAGES = ("distance",)  # patches have no identity, and an image is one sentence
KINDS = {"dot": "scalar product", "cosine": "cosine"}


def statistics(image: bool) -> dict[str, Statistic]:
    """The statistics that mean something on images or on text."""
    return {name: entry for name, entry in STATISTICS.items() if name in ON_IMAGES or not image}


def number(value: float, counted: str) -> str:
    """A number as it is written: 31 %, 82.1, −0.08; "–" where it is not defined."""
    if math.isnan(value):
        return "–"
    if counted == "share":
        return f"{written(100 * value, '.0f' if abs(value) >= 0.1 else '.2g')} %"
    return written(value, ".1f" if counted == "tokens" else ".2f")


def ends(low: float, high: float, form: str) -> str:
    """An interval in brackets, both ends in one format: [−0.48, 0.10]; "" where there is none."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{written(low, form)}, {written(high, form)}]"


def interval(low: float, high: float, counted: str) -> str:
    """An interval in brackets, without repeating the unit; "" where there is none.

    Simultaneous intervals are symmetric and may reach beyond what is possible: they are cut to 0 and to a share of 1.
    """
    if math.isnan(low) or math.isnan(high):
        return ""
    if counted != "sd":
        low, high = max(low, 0.0), min(high, 1.0) if counted == "share" else high
    return f"[{', '.join(number(end, counted).removesuffix(' %') for end in (low, high))}]"


def times(value: float) -> str:
    """A lift: 0.98 ×, 5.0 ×, 17 ×; "–" where it is not defined."""
    if math.isnan(value):
        return "–"
    return f"{written(value, '.2g' if value < 0.995 else '.1f' if value < 9.95 else '.0f')} ×"


def unit(counted: str, image: bool, words: bool = False) -> str:
    """The unit of an axis."""
    if counted == "tokens":
        return "patch steps" if image else "words" if words else "tokens"
    return {"share": "share", "sd": "standard deviations"}[counted]


def by_unit(text: str, words: bool) -> str:
    """What is said of tokens, said of words where whole words are counted.

    >>> by_unit("How far apart the similar tokens stand.", True)
    'How far apart the similar words stand.'
    """
    return text.replace("token", "word").replace("Token", "Word") if words else text
