"""Each role beside what switching its head off does: a picture is a claim, this is the check."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.heads.roles import NO_SIGNAL, NONE_CLEAR, UNSURE, rule_of

DRAWS = 2000  # sets of heads drawn at random, for comparison
STRONGEST = {"change": "change", "low": "change_low", "high": "change_high"}  # told of a role's strongest head


def role_effects(catalogue: pd.DataFrame, effects: pd.DataFrame) -> pd.DataFrame:
    """The catalogue's roles against the measured effects, one row per head that was switched off.

    catalogue: of ``score_heads``; effects: of ``sweep``, on any documents of the same model. Columns: layer, head,
    role, score (the one that the role rests on), value, chance, lift, strength (how far above chance, of what is left
    above it), change, change_low, change_high, rank (1 is the head that is missed most) and effect: "missed" where
    the interval of the change lies above 0, "better without" below it, "no measurable effect" else, "unknown" without
    an interval. Heads without a role have no score.
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
        score=names, value=value, chance=chance, lift=lift, strength=table.role_strength,
        change=table.change, change_low=low, change_high=high,
    )  # fmt: skip
    rank = found.change.rank(ascending=False, method="min")
    return found.assign(rank=rank.astype("Int64"), effect=effect)


def claims_beside_effects(beside: pd.DataFrame, seed: int = 0) -> pd.DataFrame:
    """Every role as one claim: are the heads that carry it missed more than heads drawn at random?

    beside: of ``role_effects``. One row per role, the roles of most heads first, heads without one last: role, heads,
    missed and better_without (how many of them), change (the median of theirs), drawn_low, drawn_high (middle 95 % of
    that median over as many heads drawn at random from all), found ("missed more", "missed less", "like any heads"),
    and the strongest of the role by its score: layer, head, head_change, head_low, head_high, effect.
    """
    roles = beside.role.str.removesuffix(UNSURE)
    changes, rng = beside.change.to_numpy(float), np.random.default_rng(seed)
    rows = []
    for role in roles.value_counts(sort=True).index:
        own = beside[(roles == role).to_numpy()]
        drawn = np.stack([rng.choice(changes, len(own), replace=False) for _ in range(DRAWS)])
        low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
        median = float(own.change.median())
        best = own.iloc[int(own.strength.fillna(-np.inf).to_numpy().argmax())]
        rows.append(
            {
                "role": role,
                "heads": len(own),
                "missed": int((own.effect == "missed").sum()),
                "better_without": int((own.effect == "better without").sum()),
                "change": median,
                "drawn_low": float(low),
                "drawn_high": float(high),
                "found": "missed more" if median > high else "missed less" if median < low else "like any heads",
                **{name: best[name] for name in ("layer", "head", "effect")},
                **{f"head_{name}": best[column] for name, column in STRONGEST.items()},
            }
        )
    found = pd.DataFrame(rows)
    return found.sort_values(
        "role", key=lambda column: column.isin([NONE_CLEAR, NO_SIGNAL]), kind="stable"
    ).reset_index(drop=True)
