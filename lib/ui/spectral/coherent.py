"""Rows that oscillate together: coherency between query positions at one scale and lag, only its excess coloured."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from lib.numerals import written
from lib.spectral import Coherency
from lib.ui.message import guarded
from lib.ui.scene import Scene
from lib.ui.spectral.measures import Ask, Shown, coherent
from lib.views import heatmap_figure, show


@st.fragment
def coherency_section(now: Scene, ask: Ask, shown: Sequence[Shown], row: int) -> None:
    """γ of every pair of query positions at the chosen scale and lag."""
    with guarded("the coherency of this layer"):
        st.caption(
            "Take one scale and one lag. Do two query positions swing together there, window after window? 1: always "
            "in step, 0: never. Few windows look coherent by chance, so windows are shuffled between positions, and "
            "only what exceeds the largest shuffled value of the whole picture is coloured."
        )
        scale, lag = place_choice(shown[row])
        found = coherent(now, ask, row, scale, lag)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            show(excess_figure(found, shown[row].analysis.layer), "spectral-coherency")
        with right:
            numbers(found, shown[row].analysis.documents)


def place_choice(layer: Shown) -> tuple[float, int]:
    """Scale and lag, at first those of the strongest dominant scale."""
    analysis = layer.analysis
    scalogram, dominant = analysis.scalogram, analysis.dominant
    first = int(np.abs(scalogram.scales - (dominant[0].scale if dominant else 6.0)).argmin())
    peak = dominant[0].lag if dominant else int(scalogram.lags[np.argmax(scalogram.profile)])
    reach = int(scalogram.lags[-1])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        scale = st.select_slider(
            "Scale, tokens",
            [round(float(s), 2) for s in scalogram.scales],
            round(float(scalogram.scales[first]), 2),
            key=f"spectral-coherency-scale-{analysis.length}",
            width=300,
        )
        lag = st.number_input(
            "Lag, tokens", int(scalogram.lags[0]), reach, peak, key=f"spectral-coherency-lag-{analysis.length}-{reach}",
            width=130,
        )  # fmt: skip
    return float(scalogram.scales[np.abs(scalogram.scales - scale).argmin()]), int(lag)


def excess_figure(found: Coherency, layer: int | None):
    """The excess of γ over the shuffled threshold; the rest is left without colour."""
    defined = np.isfinite(found.gamma).any(axis=1)
    rows = np.flatnonzero(defined)
    rows = rows if len(rows) else np.arange(len(found.gamma))
    part = found.excess[np.ix_(rows, rows)]
    return heatmap_figure(
        part,
        first=(int(rows[0]), int(rows[0])),
        row_title="query position",
        column_title="query position",
        title=f"Layer {layer}: coherency beyond chance",
        note=f"At scale {found.scale:.1f}, lag {written(found.lag, '+d')}. Hatched: not beyond chance, or a position "
        "with itself. Positions that see fewer than half of the lags are left out.",
        value_range=(0.0, 1.0),
        value_name="coherency",
        colours="viridis",
        lag=True,
        height=420,
    )


def numbers(found: Coherency, documents: int) -> None:
    """How many pairs stand out, and what chance gives."""
    pairs = np.triu(np.isfinite(found.gamma), 1)
    beyond = np.triu(np.isfinite(found.excess), 1)
    total, many = int(pairs.sum()), int(beyond.sum())
    if not total:
        st.caption("No energy at this scale and lag: coherency is not defined.")
        return
    st.markdown(f"**{many:,} of {total:,}** pairs of positions beyond chance ({100 * many / total:.1f} %)")
    typical, null = float(np.mean(found.gamma[pairs])), float(np.nanmean(found.null))
    st.caption(
        f"Mean coherency {typical:.2f}; shuffled {null:.2f} (theory: 0.89/√N = {0.886 / documents**0.5:.2f} with "
        f"{documents} windows). Coloured above {found.threshold:.2f}, which the largest shuffled value of the whole "
        f"picture stays "
        "below in 95 of 100 shuffles."
    )
    if many:
        apart = np.abs(np.subtract.outer(np.arange(len(found.gamma)), np.arange(len(found.gamma))))[beyond]
        st.caption(f"Pairs beyond chance are {np.median(apart):.0f} positions apart in the median.")
    st.caption("Coherency is a word from turbulence; the analogy is structural, not physical.")
