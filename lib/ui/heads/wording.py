"""What scores are called on this page, and how their numbers are written."""

from __future__ import annotations

import math

import pandas as pd

from lib.heads import IMAGE_SCORES, TEXT_SCORES, Score
from lib.heads.census import NORMS

PROBES = (
    Score("probe_induction", "induction (probe)", "induction on repeated random tokens"),
    Score("probe_induction_before", "induction, before (probe)", "the same for the token before the occurrence"),
    Score("qk_agreement", "W_Q, W_K agreement", "correlation of the entries of W_Q and W_K", "correlation"),
)
SCORES = {score.name: score for score in (*IMAGE_SCORES, *TEXT_SCORES, *NORMS, *PROBES)}
SIGNED = ("norm_gap", "qk_agreement")
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def measured(table: pd.DataFrame) -> list[str]:
    """Names of the scores that a table holds for at least one head."""
    return [name for name in SCORES if name in table and table[name].notna().any()]


def number(value: float) -> str:
    """Two to three digits: .81, 12.4, 103, 3.6×10⁻⁵; "–" where it is not defined."""
    if value is None or math.isnan(value):
        return "–"
    size = abs(value)
    if size >= 100:
        return _typeset(f"{value:,.0f}")
    if size >= 10:
        return _typeset(f"{value:.1f}")
    return _typeset(f"{value:.2f}" if size >= 0.095 or value == 0 else f"{value:#.2g}")


def signed(value: float, digits: int = 2) -> str:
    """A change with its sign: +0.15, −0.002, +3.6×10⁻⁵; "–" where it is not defined."""
    return "–" if math.isnan(value) else _typeset(f"{value:+.{digits}g}")


def _typeset(text: str) -> str:
    """A number of Python's with a true minus and, where it has one, a raised power of ten."""
    mantissa, _, power = text.partition("e")
    return (mantissa + (f"×10{str(int(power)).translate(RAISED)}" if power else "")).replace("-", "−")


def interval(low: float, high: float) -> str:
    """[low, high]; "" where there is none."""
    return "" if math.isnan(low) or math.isnan(high) else f"[{number(low)}, {number(high)}]"


def unit(name: str) -> str:
    """The unit of a score, "" where it is a share."""
    score = SCORES[name]
    return score.unit if score.unit in ("tokens", "steps", "nats") else ""


def capital(text: str) -> str:
    """First letter large, the others as they are."""
    return text[:1].upper() + text[1:]
