"""The trust badge: how far the captured numbers are from the model's own."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib.capture import Check
from lib.models import Engine

EXACT = 1e-5  # of weights between 0 and 1: the tolerance of float32


def worst_deviation(check: Check) -> float:
    """The largest of the deviations that were measured."""
    measured = (check.pattern_deviation, check.output_deviation, check.row_sum_deviation, check.result_deviation)
    return float(np.max([deviation for deviation in measured if deviation is not None]))  # NaN where one is NaN


def badge_label(check: Check) -> str:
    """``exact ✓ 3e-7``; how near in half precision; or by how much a model that is refused is off."""
    worst = worst_deviation(check)
    if not check.passed:
        return f"not exact: off by {worst:.0e}"
    return f"exact ✓ {worst:.0e}" if worst <= EXACT else f"within {worst:.0e} in {check.dtype}"


def badge_rows(check: Check, engine: Engine) -> list[tuple[str, str]]:
    """The lines behind the badge: each deviation with what it compares."""
    return [
        ("attention against the model's own", f"{check.pattern_deviation:.1e}"),
        ("output against the model's own", f"{check.output_deviation:.1e}"),
        ("rows of attention sum to 1, within", f"{check.row_sum_deviation:.1e}"),
        ("heads sum to the module's output, within", _number(check.result_deviation, "weights' layout unknown")),
        ("padded against alone", _number(check.padding_deviation, "not padded")),
        ("against float32 on the CPU", _number(check.precision_deviation, "is float32 on the CPU")),
        ("tolerance", f"{check.tolerance:.0e}"),
        ("device, precision", f"{check.device}, {check.dtype}"),
        ("checked in", f"{check.seconds:.2f} s"),
        ("revision", engine.revision[:16]),
    ]


def _number(deviation: float | None, absent: str) -> str:
    return absent if deviation is None else f"{deviation:.1e}"


def badge(check: Check, engine: Engine) -> None:
    """Draw the badge; a click opens the numbers."""
    with st.popover(badge_label(check), width="stretch", type="secondary"):
        st.markdown("**One forward pass, compared with the model's own attention**")
        for name, value in badge_rows(check, engine):
            left, right = st.columns([3, 2])
            left.caption(name)
            right.text(value)
