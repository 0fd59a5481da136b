"""The trust badge: how far the captured numbers are from the model's own."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib.capture import Check
from lib.models import Engine
from lib.ui.tables import html_table

EXACT = 1e-5  # of weights between 0 and 1: the tolerance of float32
UNKNOWN_LAYOUT = "not possible: this family's weights are not known head by head"


def worst_deviation(check: Check) -> float:
    """The largest of the deviations that were measured."""
    measured = (check.pattern_deviation, check.output_deviation, check.row_sum_deviation, check.result_deviation)
    return float(np.max([deviation for deviation in measured if deviation is not None]))  # NaN where one is NaN


def badge_label(check: Check) -> str:
    """``exact ✓ 3e-7``; how near in half precision; or by how much a model that is refused is off."""
    worst = _power(worst_deviation(check))
    if not check.passed:
        return f"not exact: off by {worst}"
    return f"exact ✓ {worst}" if worst_deviation(check) <= EXACT else f"within {worst} in {check.dtype}"


def badge_rows(check: Check, engine: Engine) -> list[tuple[str, str]]:
    """The lines behind the badge: what was compared, and by how much it differs at most."""
    return [
        ("Attention, against the model's own", _number(check.pattern_deviation)),
        ("Output, against the model's own", _number(check.output_deviation)),
        ("Rows of attention, against a sum of 1", _number(check.row_sum_deviation)),
        ("All heads added up, against the layer's output", _number(check.result_deviation, UNKNOWN_LAYOUT)),
        ("A text in a padded batch, against it alone", _number(check.padding_deviation, "nothing was padded")),
        ("This precision, against float32 on the CPU", _number(check.precision_deviation, "the same thing")),
        ("Allowed at most", _number(check.tolerance)),
        ("Runs on", f"{check.device} in {check.dtype}"),
        ("Time of the check", f"{check.seconds:.2f} s"),
        ("Version of the model", engine.revision[:16]),
    ]


def _number(deviation: float | None, absent: str = "") -> str:
    return absent if deviation is None else _power(deviation, 1)


def _power(value: float, digits: int = 0) -> str:
    """3e-7, or 3.2e-7 with one digit."""
    return f"{value:.{digits}e}".replace("e-0", "e-").replace("e+00", "").replace("e+0", "e")


def badge(check: Check, engine: Engine) -> None:
    """Draw the badge; a click opens the numbers."""
    with st.popover(badge_label(check), width="stretch", type="secondary"):
        st.markdown("**One run of the model, compared with its own attention**")
        st.caption("Largest difference found; attention lies between 0 and 1.")
        st.html(html_table(("", ""), badge_rows(check, engine)))
