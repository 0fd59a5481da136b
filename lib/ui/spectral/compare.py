"""Two models on the same windows, side by side on everything, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.numerals import with_interval
from lib.stats import Interval
from lib.ui.downloads import download_row, provenance
from lib.ui.message import guarded
from lib.ui.model import second_choice
from lib.ui.scene import Scene
from lib.ui.spectral.layer import by_layer
from lib.ui.spectral.measures import Ask, Shown, cut_windows
from lib.ui.spectral.second import TWIN, Comparison, compared
from lib.ui.tables import csv_table
from lib.views import charts, heatmap_figure, palette, show

NUMBERS = {
    "t_spec": "T_spec",
    "entropy_rank": "entropy rank",
    "participation_ratio": "participation",
    "ensemble_rank": "H*(0.1)",
}


@st.fragment
def compare_section(now: Scene, ask: Ask, shown: Sequence[Shown], row: int) -> None:
    """Choose a second model; every difference by layer, and where the chosen layer's energy went."""
    with guarded("the comparison of two models"):
        name = second_choice(now.engine.name, "spectral-second", [TWIN])
        if not name:
            st.caption(
                "A checkpoint or a variant of the same model, or its untrained twin (the same architecture with "
                "freshly drawn weights). It is loaded, run over the same windows, and released."
            )
            return
        found = compared(now, ask, name)
        table = differences(shown, found)
        st.markdown(f"**{name} minus {now.engine.name}**, by layer [95 % over windows, the same windows in both]")
        with st.container(height=360 if len(table) > 9 else "content", border=False):
            st.html(by_layer(table))
        st.caption(
            "▲ ▼: the interval leaves out “no difference”. Energy: all of the scalogram but its pale edge (rows from "
            "the middle on, their mean over lags removed), not normalised. Everything else compares shares, so that a "
            "larger fluctuation alone changes nothing. Ranks and heads: simultaneous over layers."
        )
        if np.isfinite(found.scalograms[row].total.estimate):
            left, right = st.columns([3, 2], gap="medium")
            with left:
                where_energy_went(found, shown[row], row)
            with right:
                by_scale_and_lag(found, shown[row], row)
        else:
            st.caption(
                f"No fluctuation in layer {shown[row].analysis.layer} of one of the models: the windows do not differ, "
                "so there is no energy to compare."
            )
        facts = provenance(now, second=name, windows=len(cut_windows(now, ask)), length=cut_windows(now, ask).length)
        files = {"Differences as CSV": ("headlight-two-models.csv", "text/csv", partial(csv_table, table, facts))}
        download_row(files, "spectral-second")


def differences(shown: Sequence[Shown], found: Comparison) -> pd.DataFrame:
    """One row per layer: second less first, with intervals."""
    rows = []
    for i, layer in enumerate(shown):
        total = found.scalograms[i].total
        row = {
            "layer": layer.analysis.layer,
            "energy ×": ends(np.exp(total.estimate), np.exp(total.low), np.exp(total.high), 1.0),
            "centroid": at(found.centroids[i]),
        }
        for key, name in NUMBERS.items():
            row[name] = at(found.numbers[key], i)
        row["heads needed"] = at(found.heads, i)
        rows.append(row)
    return pd.DataFrame(rows)


def at(interval: Interval, place: int | None = None) -> str:
    """An interval, or one place of it, as text."""
    values = (interval.estimate, interval.low, interval.high)
    return ends(*(float(v if place is None else v[place]) for v in values))


def ends(value: float, low: float, high: float, none: float = 0.0) -> str:
    """A difference as text: +1.2 [0.8, 1.6] ▲; n/a where it is not defined."""
    apart = " ▲" if low > none else " ▼" if high < none else ""
    plus = "" if none or not value > 0 else "+"
    return f"{plus}{with_interval(value, low, high)}{apart}"


def where_energy_went(found: Comparison, layer: Shown, row: int) -> None:
    """Log ratio of energy shares by scale and lag, coloured only where its interval leaves out 0."""
    difference = found.scalograms[row]
    apart = difference.share.excludes(0.0) & np.isfinite(difference.share.estimate)
    figure = heatmap_figure(
        difference.share.estimate / np.log(2),
        row_labels=[f"{a:.1f}" for a in difference.scales],
        first=(0, int(difference.lags[0])),
        row_title="scale, tokens",
        column_title="lag, tokens",
        title=f"Layer {layer.analysis.layer}: where the share of energy changed",
        note="log₂ of second ÷ first: 1 is twice the share, −1 half of it. Hatched: no difference beyond chance "
        "(simultaneous over the picture), or the edge of the window.",
        mask=~apart,
        kind="diverging",
        value_name="log₂ of second ÷ first",
        lag=False,
        upward=True,
        square=False,
        height=280,
    )
    show(figure, "spectral-difference")


def by_scale_and_lag(found: Comparison, layer: Shown, row: int) -> None:
    """The same summed over lags, and the lag profile's, as curves with bands."""
    difference, profile = found.scalograms[row], found.profiles[row]
    near = np.abs(found.lags) < layer.analysis.length / 2
    bounds = [values[near] for values in (profile.estimate, profile.low, profile.high)]
    lags = Interval(*bounds, profile.level, profile.documents, profile.simultaneous)
    for title, x, interval, axis in (
        ("scale", difference.scales, difference.scale, "scale, tokens"),
        ("lag", found.lags[near], lags, "lag, tokens"),
    ):
        st.markdown(f"**Share of the energy by {title}**")
        frame = pd.DataFrame(
            {
                axis: np.asarray(x, float),
                "ratio": interval.estimate / np.log(2),
                "low": interval.low / np.log(2),
                "high": interval.high / np.log(2),
                "none": 0.0,
            }
        ).replace([np.inf, -np.inf], np.nan)
        frame = frame.dropna()
        if frame.empty:
            st.caption("No energy to compare.")
            continue
        chart = charts.line(
            frame, axis, "ratio", low="low", high="high", null="none", colours=[palette.OUTPUT],
            x_title=axis, y_title="log₂ of second ÷ first", height=210,
        )  # fmt: skip
        st.altair_chart(chart, width="stretch")
