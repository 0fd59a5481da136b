"""The papers' claims, the rule by which each is decided, and the three marks.

A room measures a number, its interval over documents and its nulls; this module says what that decides. It does
no measuring of its own. H = Halevi et al. (arXiv 2512.21956), P = Zeris (arXiv 2606.06573), V = Yeh et al.
(AttentionViz, arXiv 2305.03210).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

import pandas as pd

from lib.claims import CLAIMS, Claim, Side, claim
from lib.errors import HeadlightError
from lib.verdict_words import Null, bounds, more_words, null_words

Mark = Literal["reproduced", "contradicted", "undecided"]
MARKS: tuple[Mark, ...] = ("reproduced", "contradicted", "undecided")

__all__ = [
    "CLAIMS",
    "MARKS",
    "Claim",
    "Decision",
    "Verdict",
    "all_of",
    "claim",
    "decide",
    "table",
    "verdict",
]


class VerdictError(HeadlightError):
    """A verdict was asked for with numbers that cannot belong to it."""


@dataclass(frozen=True)
class Decision:
    """A mark, the reason in words, and what would decide it (empty where it is decided)."""

    mark: Mark
    reason: str
    remedy: str = ""


@dataclass(frozen=True)
class Verdict:
    """One claim, measured on one model and corpus.

    ``number`` and ``interval`` are in the units of ``quantity``; ``null`` maps each null's name to its value or
    interval; ``note`` says what would decide the claim, or qualifies the mark. ``parts`` are the verdicts of a
    claim that has several conditions, or quantities shown beside the one that decides. ``documents`` counts the
    sample in ``unit``: documents, windows or training seeds.
    """

    paper: str
    claim: str
    quantity: str
    number: float
    interval: tuple[float, float]
    null: Mapping[str, Null]
    rule: str
    mark: Mark
    model: str
    corpus: str
    documents: int
    note: str = ""
    reason: str = ""
    parts: tuple[Verdict, ...] = ()
    unit: str = "documents"


def decide(
    estimate: float,
    interval: tuple[float, float],
    null: Null | Mapping[str, Null],
    side: Side,
    threshold_met: bool = True,
    *,
    threshold: str = "the stated threshold",
    documents: int | None = None,
    fewest: int = 5,
    impossible: str = "",
    qualifier: str = "",
    unit: str = "documents",
) -> Decision:
    """Mark a claim from a measured number.

    estimate, interval: the number and its interval over documents (simultaneous over the heads or layers looked
    at), in one unit with ``null``: one value, an interval, or several by name, of which the first is the one that
    can contradict; none where the number is NaN, not measured. side: where the claim puts the number, "above" or
    "below" the null, or "either". threshold_met, threshold: whether the needed size is reached, and its words.
    documents, fewest: how many documents (or training seeds) the interval rests on, and below which number it is no
    evidence: resampling two or three says little. impossible: why the claim cannot hold for any data, if so.
    qualifier: added to the reason when reproduced. unit: what ``documents`` counts, in the plural.

    **reproduced**: the interval excludes every null, on the claimed side, and the threshold is met.
    **contradicted**: it excludes the first null on the other side, or the claim is arithmetically impossible.
    **undecided**: anything else. Raises VerdictError for an unknown side or an interval without its estimate.
    """
    if side not in ("above", "below", "either"):
        raise VerdictError('side "above", "below" or "either"', repr(side), "Say where the claim lies.")
    if impossible:
        return Decision("contradicted", f"Arithmetically impossible: {impossible}")
    nulls = dict(null) if isinstance(null, Mapping) else {"null": null}
    if not nulls and not math.isnan(estimate):
        raise VerdictError("at least one null", "none", "Pass the chance level or the untrained twin's value.")
    low, high = (float(bound) for bound in interval)
    undefined = _undefined(estimate, low, high, nulls, documents, unit, fewest)
    if undefined:
        return undefined
    if documents is not None and documents < fewest:
        return Decision("undecided", f"{documents} {unit} are too few for an interval.", f"At least {fewest}.")
    rounding = 1e-9 * max(abs(low), abs(high))  # the mean of equal numbers differs in its last digit
    if not low - rounding <= estimate <= high + rounding:
        raise VerdictError(
            "an interval that holds its estimate",
            f"{estimate:.4g} outside [{low:.4g}, {high:.4g}]",
            "Take both from the same bootstrap.",
        )
    unseparated = _unseparated(estimate, low, high, nulls, side, documents, unit)
    if unseparated:
        return unseparated
    where = "outside" if side == "either" else side
    if not threshold_met:
        reason = f"The interval lies {where} {' and '.join(nulls)} as claimed, but this is not met: {threshold}."
        return Decision("undecided", reason, f"Another model or corpus: more {unit} only narrow the interval.")
    reason = f"The interval lies {where} {' and '.join(nulls)}, and this is met: {threshold}."
    return Decision("reproduced", f"{reason} {qualifier}".strip())


def _unseparated(
    estimate: float,
    low: float,
    high: float,
    nulls: Mapping[str, Null],
    side: Side,
    documents: int | None,
    unit: str,
) -> Decision | None:
    """What is decided where the interval does not leave every null on the claimed side; None where it does."""
    positions = {name: _position(low, high, value) for name, value in nulls.items()}
    first = next(iter(positions))
    if side != "either" and positions[first] not in (side, "across"):
        return Decision("contradicted", f"The interval lies {positions[first]} {first} ({null_words(nulls[first])}).")
    beyond = [name for name, position in positions.items() if position != "across" and not _claimed(position, side)]
    if beyond:
        where, told = positions[beyond[0]], f"{beyond[0]} ({null_words(nulls[beyond[0]])})"
        reason = f"The interval lies {where} {told}, where the claim puts it {side}."
        return Decision("undecided", reason, f"Another model or corpus: more {unit} only narrow the interval.")
    missed = [name for name, position in positions.items() if position == "across"]
    if missed:
        reason = f"Not separated from {' and '.join(f'{name} ({null_words(nulls[name])})' for name in missed)}."
        return Decision("undecided", reason, more_words(estimate, low, high, nulls[missed[0]], documents, unit))
    return None


def verdict(
    key: str,
    estimate: float,
    interval: tuple[float, float],
    null: Mapping[str, Null],
    threshold_met: bool = True,
    *,
    model: str,
    corpus: str,
    documents: int,
    unit: str = "",
    side: Side | None = None,
    quantity: str = "",
    threshold: str = "",
    impossible: str = "",
    qualifier: str = "",
    note: str = "",
    parts: tuple[Verdict, ...] = (),
) -> Verdict:
    """Decide one claim of the table by its key and keep everything that the mark rests on.

    key: a key of ``CLAIMS``. unit, side, quantity, threshold: instead of the table's, for one part of a claim. note:
    shown beside what would decide it. The rest as in ``decide``. Raises UnknownClaim for an unknown key.
    """
    entry = claim(key)
    entry = replace(
        entry,
        unit=unit or entry.unit,
        side=side or entry.side,
        quantity=quantity or entry.quantity,
        threshold=threshold or entry.threshold,
        impossible=impossible or entry.impossible,
        qualifier=qualifier or entry.qualifier,
    )
    decision = decide(
        estimate,
        interval,
        null,
        entry.side,
        threshold_met,
        threshold=entry.threshold,
        documents=documents,
        fewest=entry.fewest,
        impossible=entry.impossible,
        qualifier=entry.qualifier,
        unit=entry.unit,
    )
    return Verdict(
        paper=entry.paper,
        claim=entry.claim,
        quantity=entry.quantity,
        number=float(estimate),
        interval=(float(interval[0]), float(interval[1])),
        null=dict(null),
        rule=entry.rule,
        mark=decision.mark,
        model=model,
        corpus=corpus,
        documents=documents,
        note=" ".join(filter(None, (note, decision.remedy))),
        reason=decision.reason,
        parts=parts,
        unit=entry.unit,
    )


def all_of(parts: Iterable[Verdict]) -> Verdict:
    """One verdict from the parts of a claim that needs them all; the part that decides lends its numbers.

    Contradicted where any part is; reproduced where every part is; else undecided.
    """
    parts = tuple(parts)
    if not parts:
        raise VerdictError("at least one part", "none", "Pass the verdicts of the claim's conditions.")
    mark = min((part.mark for part in parts), key=("contradicted", "undecided", "reproduced").index)
    lead = next(part for part in parts if part.mark == mark)
    reason = " ".join(f"{part.quantity}: {part.mark}. {part.reason}" for part in parts)
    return replace(lead, reason=reason, parts=parts)


def table(verdicts: Iterable[Verdict]) -> pd.DataFrame:
    """Verdicts as one row each, parts left out: what the panel shows and the CSV holds."""
    rows = [
        {
            "paper": v.paper,
            "claim": v.claim,
            "mark": v.mark,
            "quantity": v.quantity,
            "number": v.number,
            "low": v.interval[0],
            "high": v.interval[1],
            "null": "; ".join(f"{name} {null_words(value)}" for name, value in v.null.items()),
            "rule": v.rule,
            "reason": v.reason,
            "note": v.note,
            "model": v.model,
            "corpus": v.corpus,
            "documents": v.documents,
            "unit": v.unit,
        }
        for v in verdicts
    ]
    return pd.DataFrame(rows)


def _undefined(
    estimate: float,
    low: float,
    high: float,
    nulls: Mapping[str, Null],
    documents: int | None,
    unit: str,
    fewest: int,
) -> Decision | None:
    if math.isnan(estimate):
        return Decision("undecided", "The number is not defined here.", "Data on which the quantity exists.")
    if math.isnan(low) or math.isnan(high):
        told = f"One {unit.removesuffix('s')}: no interval." if documents == 1 else "There is no interval."
        return Decision("undecided", told, f"At least {fewest} {unit}.")
    for name, value in nulls.items():
        if any(math.isnan(bound) for bound in bounds(value)):
            return Decision("undecided", f"The null “{name}” was not measured.", f"Measure it: {name}.")
    return None


def _position(low: float, high: float, null: Null) -> str:
    null_low, null_high = bounds(null)
    return "above" if low > null_high else "below" if high < null_low else "across"


def _claimed(position: str, side: Side) -> bool:
    return position != "across" and side in ("either", position)
