"""The trust badge: how far the captured numbers are from the model's own."""

from __future__ import annotations

import streamlit as st

from lib.capture import Check
from lib.models import Engine


def badge_label(check: Check) -> str:
    """``exact ✓ 3e-7``, or what is wrong."""
    worst = max(check.pattern_deviation, check.output_deviation)
    if not check.passed:
        return f"not exact: off by {worst:.0e}"
    return "exact ✓ 0" if worst == 0 else f"exact ✓ {worst:.0e}"


def badge_rows(check: Check, engine: Engine) -> list[tuple[str, str]]:
    """The lines behind the badge: each deviation with what it compares."""
    result = "layout unknown" if check.result_deviation is None else f"{check.result_deviation:.1e}"
    return [
        ("attention against the model's own", f"{check.pattern_deviation:.1e}"),
        ("output against the model's own", f"{check.output_deviation:.1e}"),
        ("rows of attention sum to 1, within", f"{check.row_sum_deviation:.1e}"),
        ("heads sum to the module's output, within", result),
        ("tolerance", f"{check.tolerance:.0e}"),
        ("device, precision", f"{check.device}, {check.dtype}"),
        ("checked in", f"{check.seconds:.2f} s"),
        ("revision", engine.revision[:16]),
    ]


def badge(check: Check, engine: Engine) -> None:
    """Draw the badge; a click opens the numbers."""
    with st.popover(badge_label(check), width="stretch", type="secondary"):
        st.markdown("**One forward pass, compared with the model's own attention**")
        for name, value in badge_rows(check, engine):
            left, right = st.columns([3, 2])
            left.caption(name)
            right.text(value)
