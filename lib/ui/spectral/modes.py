"""The modes of the chosen layer, over all lags and through one lag band, side by side."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import streamlit as st

from lib.spectral import Ensemble, Windows
from lib.ui.spectral.measures import Shown
from lib.views import charts, heatmap_figure, palette, show

OWN = -1  # a band laid by hand
LISTED = 2  # windows named on each side of a mode
EXCERPT = 160  # characters


def band_choice(layer: Shown, make: Callable[[float], Ensemble]) -> Ensemble:
    """The band that the controls name. make: centre in tokens -> its modes, for a band laid by hand."""
    bands = layer.analysis.bands
    names = {i: f"{band.centre:.0f}" for i, band in enumerate(bands)} | {OWN: "other"}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.segmented_control(
            "Lag band about, tokens",
            list(names),
            format_func=names.__getitem__,
            default=0,
            key="spectral-band",
            persist_state="session",
        )
        if chosen != OWN:
            return bands[chosen or 0]
        most = layer.analysis.length - 1
        centre = st.number_input(
            "Its centre",
            0.0,
            float(most),
            min(6.0, float(most)),
            1.0,
            key="spectral-centre",
            persist_state="session",
            width=120,
        )
    return make(centre)


def modes_panel(layer: Shown, taken: Windows, make: Callable[[float], Ensemble]) -> Ensemble:
    """Mode k of plain and of band-limited POD as fields and by lag; returns the chosen band's modes."""
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    with left:
        band = band_choice(layer, make)
    plain = layer.analysis.plain
    most = max(len(plain.modes), len(band.modes), 1)
    with right:
        k = st.segmented_control(
            "Mode", list(range(1, most + 1)), default=1, key="spectral-mode", persist_state="session"
        )
    k = min(k or 1, most) - 1
    places = st.columns([2, 2, 3])
    sides = (("spectral-plain", "All lags", plain), ("spectral-banded", f"About lag {band.centre:.0f}", band))
    for place, (key, name, side) in zip(places, sides, strict=False):
        with place:
            field(side, k, key, name)
    with places[2]:
        by_lag(layer, plain, band, k)
    with st.expander("Windows that carry this mode most, all lags", icon=":material/article:"):
        carriers(plain, k, taken)
    return band


def field(side: Ensemble, k: int, key: str, name: str) -> None:
    """One mode as a field over query and key."""
    if k >= len(side.modes) or not side.total > 0:
        st.markdown(f"**{name}**")
        st.caption("No fluctuation here: the windows do not differ in these lags.")
        return
    share = side.eigenvalues[k] / side.total
    figure = heatmap_figure(
        side.modes[k],
        row_title="query position",
        column_title="key position",
        title=f"{name}: mode {k + 1}, {100 * share:.1f} % of the energy",
        kind="diverging",
        value_name="mode",
        height=300,
    )
    show(figure, key)


def by_lag(layer: Shown, plain: Ensemble, band: Ensemble, k: int) -> None:
    """Share of the mode's energy by lag, of both kinds."""
    parts = []
    for name, side in (("all lags", plain), (f"about lag {band.centre:.0f}", band)):
        if k < len(side.lags) and side.total > 0:
            share = side.lags[k]
            first = 0 if layer.analysis.causal else -(len(share) // 2)
            lags = np.arange(first, first + len(share))
            near = np.abs(lags) < layer.analysis.length / 2
            parts.append(pd.DataFrame({"lag": lags[near], "share": share[near], "modes": name}))
    st.markdown(f"**Mode {k + 1} by lag**")
    if not parts:
        st.caption("No fluctuation: all windows have the same attention.")
        return
    chart = charts.line(
        pd.concat(parts),
        "lag",
        "share",
        series="modes",
        colours=[palette.NEUTRAL, palette.OUTPUT],
        x_title="lag, tokens",
        y_title="share of the mode's energy",
        height=250,
    )
    st.altair_chart(chart, width="stretch")


def carriers(side: Ensemble, k: int, taken: Windows) -> None:
    """The windows with the largest scores, both signs, and their text."""
    if k >= side.scores.shape[1]:
        st.caption("This mode does not exist.")
        return
    scores = side.scores[:, k]
    order = np.argsort(scores)
    chosen = [*order[::-1][:LISTED], *order[:LISTED]]
    st.dataframe(
        pd.DataFrame(
            {
                "score ÷ spread": [scores[i] / (scores.std() or 1.0) for i in chosen],
                "document": [int(taken.documents[i]) for i in chosen],
                "from token": [int(taken.starts[i]) for i in chosen],
                "text": [taken.texts[i][:EXCERPT] for i in chosen],
            }
        ),
        hide_index=True,
        width="stretch",
        column_config={"score ÷ spread": st.column_config.NumberColumn(format="%.1f")},
    )
