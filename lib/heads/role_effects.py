"""Each role beside what switching its head off does: a picture is a claim, this is the check."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.heads.roles import rule_of


def role_effects(catalogue: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """The catalogue's roles against the measured effects, one row per head that was switched off.

    catalogue: of ``score_heads``; effects: of ``sweep``, on any documents of the same model. Columns: layer, head,
    role, score (the one that the role rests on), value, chance, lift, change, change_low, change_high, rank (1 is the
    head that is missed most) and effect: "missed" where the interval of the change lies above 0, "better without"
    below it, "no measurable effect" else, "unknown" without an interval. Heads without a role have no score.
    """
    table = effects.merge(catalogue, on=["layer", "head"], how="left", validate="one_to_one", suffixes=("", "_"))
    rules = [rule_of(role) for role in table.role]
    names = ["" if rule is None else rule.score for rule in rules]
    value, chance = (
        np.array([np.nan if not name else table[name + end][row] for row, name in enumerate(names)], dtype=float)
        for end in ("", "_chance")
    )
    with np.errstate(invalid="ignore", divide="ignore"):
        lift = value / chance
    low, high = table.change_low, table.change_high
    effect = np.select(
        [low.isna() | high.isna(), low > 0, high < 0], ["unknown", "missed", "better without"], "no measurable effect"
    )
    found = table[["layer", "head", "role"]].assign(
        score=names, value=value, chance=chance, lift=lift, change=table.change, change_low=low, change_high=high
    )
    rank = found.change.rank(ascending=False, method="min")
    return found.assign(rank=rank.astype("Int64"), effect=effect)
