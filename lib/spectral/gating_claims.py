"""The claims about energy gating: they compare models that were trained alike, so one model decides nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from lib.verdicts import Verdict, all_of, verdict

NOT_MEASURED = float("nan")
NOTHING = (NOT_MEASURED, NOT_MEASURED)
CLAIMED = "−0.103"  # nats
SEEDS = (
    "One model is no evidence: python -m lib.models.seed_study trains three seeds of each variant and compares them."
)


def gating_energy(where: dict[str, Any]) -> Verdict:
    """The claim about scalogram energy, undecided; where: model, corpus."""
    note = f"{SEEDS} Two models on the same windows, unnormalised: Two models, on this page."
    null = {"seeds of one variant": 0.0}
    return verdict("P-gating-energy", NOT_MEASURED, NOTHING, null, False, note=note, **_no_seed(where))


def gating_loss(gain: Sequence[Mapping[str, Any]], where: dict[str, Any]) -> Verdict:
    """The claim about the loss, from the rows of the seed study's comparison; undecided without them."""
    parts = [_part(row, gain) for row in gain if row["loss"] == "validation" and "difference" in row]
    if not parts:
        return verdict(
            "P-gating-loss", NOT_MEASURED, NOTHING, {"no difference": 0.0}, False, note=SEEDS, **_no_seed(where)
        )
    found = all_of(parts)
    return replace(found, note=f"Of the character models trained here, not of the model on screen. {found.note}")


def _part(row: Mapping[str, Any], gain: Sequence[Mapping[str, Any]]) -> Verdict:
    """One variant against base, paired by seed; beside it the same without the view of the future."""
    closed = [one for one in gain if one["loss"] == "without_future" and one["variant"] == row["variant"]]
    beside = "".join(f" With nothing after the character in view: {_told(one)}." for one in closed)
    return verdict(
        "P-gating-loss",
        row["difference"],
        (row["low"], row["high"]),
        {"no difference": 0.0},
        True,
        quantity=f"validation loss, {row['variant']} − base, nats per character",
        note=f"The paper has {CLAIMED}.{beside}",
        model=f"{row['variant']} − base",
        corpus="TinyShakespeare, validation",
        documents=row["pairs"],
    )


def _no_seed(where: dict[str, Any]) -> dict[str, Any]:
    return where | {"documents": 0, "unit": "training seeds"}


def _told(row: Mapping[str, Any]) -> str:
    """A difference with its interval: +0.125 [0.120, 0.130]."""
    ends = f" [{row['low']:+.3f}, {row['high']:+.3f}]" if row["pairs"] > 1 else ""
    return f"{row['difference']:+.3f}{ends}".replace("-", "−")
