"""What the statistics are called on screen, what they mean, and how their numbers are written."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from lib.views import csv_bytes


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


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A quiet table as HTML, first column left, numbers right; every cell is escaped."""
    first = "text-align:left;padding:3px 8px 3px 0"
    other = "text-align:right;padding:3px 0 3px 10px;white-space:nowrap"
    line = "border-top:1px solid color-mix(in srgb, currentColor 14%, transparent)"

    def row(cells: Sequence[str], tag: str, extra: str) -> str:
        return "".join(
            f'<{tag} style="font-weight:400;{first if i == 0 else other};{extra}">{html.escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td', line)}</tr>" for cells in rows)
    return (
        '<table style="width:100%;border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums">'
        f"<tr>{row(header, 'th', 'opacity:.65;font-size:.78rem')}</tr>{body}</table>"
    )


def csv_table(frame: pd.DataFrame, facts: Mapping[str, object]) -> bytes:
    """A table as CSV with its origin on top."""
    return csv_bytes(list(frame), frame.itertuples(index=False), facts)
