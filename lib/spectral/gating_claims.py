"""The claims about energy gating: they compare models that were trained alike, so one model decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from lib.verdicts import Verdict, all_of, verdict

NOT_MEASURED = float("nan")
NOTHING = (NOT_MEASURED, NOT_MEASURED)
SEEDS = (
    "One model is no evidence: python -m lib.models.seed_study trains three seeds of each variant and compares them."
)


def gating_energy(where: dict[str, Any]) -> Verdict:
    """The claim about scalogram energy, undecided; where: model, corpus, documents."""
    note = f"{SEEDS} Two models on the same windows, unnormalised: Two models, on this page."
    return verdict("P-gating-energy", NOT_MEASURED, NOTHING, {"seeds of one variant": 0.0}, False, note=note, **where)


def gating_loss(gain: Sequence[Mapping[str, Any]], where: dict[str, Any]) -> Verdict:
    """The claim about the loss, from the rows of the seed study's comparison; undecided without them."""
    parts = []
    for row in gain:
        if row["loss"] != "validation" or "difference" not in row:
            continue
        where = where | {"corpus": "TinyShakespeare, validation", "documents": int(row["seeds"])}
        where["model"] = f"{row['variant']} − base"
        parts.append(
            verdict(
                "P-gating-loss",
                row["difference"],
                (row["low"], row["high"]),
                {"0": 0.0},
                True,
                quantity=f"validation loss, {row['variant']} − base, {row['seeds']} training seeds",
                **where,
            )
        )
    if parts:
        return all_of(parts)
    return verdict("P-gating-loss", NOT_MEASURED, NOTHING, {"0": 0.0}, False, note=SEEDS, **where)
