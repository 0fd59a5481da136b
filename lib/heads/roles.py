"""Roles in plain language, by one table of rules; "none clear" where no rule holds.

A rule holds where the head's score exceeds chance by a share of what is left above chance (its *strength*), by a
factor (its *lift*), and its simultaneous interval lies above chance. It says what a head attends to in these
documents, not what it is for: switching the head off says more about that.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

NONE_CLEAR = "none clear"
NO_SIGNAL = "no signal"
UNSURE = "?"  # follows a role that rests on too few documents
ENOUGH = 5  # documents: fewer say nothing about the spread over documents


@dataclass(frozen=True)
class Rule:
    """One role: the score it rests on, and how far above chance that must be.

    tier      a rule of a lower tier comes first whatever its strength: induction is measured where it can happen,
              broad is what is left when nothing else holds
    strength  least (score − chance)/(1 − chance); for distances 1 − score/chance, the other way round
    lift      least score ÷ chance; for distances chance ÷ score
    """

    role: str
    score: str
    tier: int
    strength: float
    lift: float
    nearness: bool = False


PROBED_TIER = 1  # measured on sequences of its own, enough of them
RULES: tuple[Rule, ...] = (
    Rule("induction", "probe_induction", 1, 0.25, 5),
    Rule("induction, token before", "probe_induction_before", 1, 0.25, 5),
    Rule("previous token", "previous_token", 2, 0.25, 3),
    Rule("next token", "next_token", 2, 0.25, 3),
    Rule("itself", "self", 2, 0.25, 3),
    Rule("duplicate token", "duplicate_token", 2, 0.25, 3),
    Rule("delimiter: [CLS]", "cls", 2, 0.25, 3),
    Rule("position 0 sink", "first_token", 2, 0.25, 3),
    Rule("delimiter: [SEP]", "sep", 2, 0.25, 3),
    Rule("delimiter: BOS", "bos", 2, 0.25, 3),
    Rule("delimiter: EOS", "eos", 2, 0.25, 3),
    Rule("registers", "registers", 2, 0.25, 3),
    Rule("delimiter: '.'", "period", 2, 0.25, 3),
    Rule("delimiter: ','", "comma", 2, 0.25, 3),
    Rule("delimiter: ';'", "semicolon", 2, 0.25, 3),
    Rule("patch to the left", "left", 2, 0.25, 3),
    Rule("patch to the right", "right", 2, 0.25, 3),
    Rule("patch above", "above", 2, 0.25, 3),
    Rule("patch below", "below", 2, 0.25, 3),
    Rule("same row", "same_row", 3, 0.25, 2),
    Rule("same column", "same_column", 3, 0.25, 2),
    Rule("same hue", "same_hue", 3, 0.5, 1.5),
    Rule("same brightness", "same_brightness", 3, 0.5, 1.5),
    Rule("same sentence", "same_sentence", 3, 0.4, 2),
    Rule("near tokens", "mean_lag", 4, 0.5, 2, nearness=True),
    Rule("near patches", "grid_distance", 4, 0.4, 1.67, nearness=True),
    Rule("broad", "entropy_share", 5, 0.9, 0),
)


def with_roles(table: pd.DataFrame, documents: int, unwritten: np.ndarray | None = None) -> pd.DataFrame:
    """A table of scores, measured on so many documents, with three more columns.

    role: the rule that holds, the lowest tier first, then the strongest; "none clear" where none does; "no signal"
    where the head's output is exactly zero, where nothing of it is written (``unwritten``, bool (head,)), or where it
    has no scores. also: the other rules that hold. role_strength: of
    the role. A role that rests on one document, without an interval, ends in "?".
    """
    strengths_of = [_held(table, rule) for rule in RULES]  # rule, (head,): strength where the rule holds, else NaN
    silent = _silent(table) | (False if unwritten is None else unwritten)
    roles, also, strengths = [], [], []
    for head in range(len(table)):
        found = [number for number in range(len(RULES)) if not np.isnan(strengths_of[number][head])]
        found.sort(key=lambda number: (RULES[number].tier, -round(float(strengths_of[number][head]), 6), number))
        sure = [RULES[number].tier == PROBED_TIER or documents >= ENOUGH for number in found]
        names = [RULES[number].role + ("" if certain else UNSURE) for number, certain in zip(found, sure, strict=True)]
        if silent[head]:
            names, found = [NO_SIGNAL], []
        roles.append(names[0] if names else NONE_CLEAR)
        also.append("; ".join(names[1:]))
        strengths.append(float(strengths_of[found[0]][head]) if found else np.nan)
    return table.assign(role=roles, also=also, role_strength=strengths)


def strength(table: pd.DataFrame, rule: Rule) -> np.ndarray:
    """How far the score lies between chance (0) and all it could be (1), per head (head,)."""
    score, chance = table[rule.score].to_numpy(float), table[f"{rule.score}_chance"].to_numpy(float)
    with np.errstate(invalid="ignore", divide="ignore"):
        if rule.nearness:
            return 1 - score / chance
        if rule.score == "entropy_share":
            return score
        return np.where(chance < 1, (score - chance) / (1 - chance), np.nan)


def rule_of(role: str) -> Rule | None:
    """The rule behind a role as written in the table, "?" or not; None for "none clear" and "no signal"."""
    return next((rule for rule in RULES if rule.role == role.removesuffix(UNSURE)), None)


def _held(table: pd.DataFrame, rule: Rule) -> np.ndarray:
    """Strength of every head that a rule holds for, NaN for the others: (head,)."""
    if rule.score not in table:
        return np.full(len(table), np.nan)
    score, chance, low, high = (
        table[f"{rule.score}{suffix}"].to_numpy(float) for suffix in ("", "_chance", "_low", "_high")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        lift = chance / score if rule.nearness else score / chance
    beyond = high < chance if rule.nearness else low > chance
    if rule.score == "entropy_share":  # chance is the largest value there is: breadth is closeness to it
        beyond = low >= rule.strength
    far = strength(table, rule)
    holds = (far >= rule.strength) & (lift >= rule.lift) & (beyond | np.isnan(low))
    return np.where(holds, far, np.nan)


def _silent(table: pd.DataFrame) -> np.ndarray:
    """Heads whose every output is exactly zero, or whose every row held nothing."""
    return (table["z_norm"].to_numpy(float) == 0) | table["confidence"].isna().to_numpy()
