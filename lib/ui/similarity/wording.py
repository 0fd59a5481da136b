"""What the statistics are called on screen, what they mean, and how their numbers are written."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Statistic:
    """A statistic as shown: name, meaning, and how it is counted ("share", "tokens" or "sd")."""

    name: str
    meaning: str
    counted: str


STATISTICS = {
    "distance": Statistic("Mean distance", "How far apart the similar tokens stand.", "tokens"),
    "same_sentence": Statistic("Same sentence", "Similar pairs that lie within one sentence.", "share"),
    "same_token": Statistic("Repetition", "Similar pairs that are one token with itself.", "share"),
    "cooccurrence": Statistic(
        "Co-occurrence", "How often a pair of different tokens that is similar here is similar elsewhere.", "share"
    ),
    "concentration": Statistic("Anchoring", "Chance that two ends of similar pairs carry one token.", "share"),
    "separator": Statistic("Ends on separators", "Ends of similar pairs on sentence-ending marks.", "share"),
    "contrast": Statistic("Sentence contrast", "Similarity within minus between sentences.", "sd"),
}
ON_IMAGES = ("distance",)  # patches have no identity, and an image is one sentence
KINDS = {"dot": "scalar product", "cosine": "cosine"}


def statistics(image: bool) -> dict[str, Statistic]:
    """The statistics that mean something on images or on text."""
    return {name: entry for name, entry in STATISTICS.items() if name in ON_IMAGES or not image}


def number(value: float, counted: str) -> str:
    """A number as it is written: 31 %, 82.1, 0.08; "–" where it is not defined."""
    if math.isnan(value):
        return "–"
    if counted == "share":
        return f"{100 * value:.0f} %" if abs(value) >= 0.1 else f"{100 * value:.2g} %"
    return f"{value:.1f}" if counted == "tokens" else f"{value:.2f}"


def interval(low: float, high: float, counted: str) -> str:
    """An interval in brackets, without repeating the unit; "" where there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    ends = (number(end, counted).removesuffix(" %") for end in (low, high))
    return f"[{', '.join(ends)}]"


def times(value: float) -> str:
    """A lift: 5.2 ×, 17 ×; "–" where it is not defined."""
    return "–" if math.isnan(value) else f"{value:.2g} ×" if value < 10 else f"{value:.0f} ×"


def unit(counted: str, image: bool, words: bool = False) -> str:
    """The unit of an axis."""
    if counted == "tokens":
        return "patch steps" if image else "words" if words else "tokens"
    return {"share": "share", "sd": "standard deviations"}[counted]
