"""How many patterns a layer needs: its spectrum beside the nulls', H* against N and against ε."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from lib.numerals import with_interval
from lib.spectral import Ensemble, PowerLaw, effective_rank, null_interval
from lib.ui.message import guarded
from lib.ui.spectral.layer import between
from lib.ui.spectral.measures import EPSILON, Shown
from lib.views import charts, palette

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
COLOURS = (palette.VALUE, palette.NEUTRAL, palette.CATEGORICAL[3], palette.OUTPUT, "#B8860B", "#C46210", "#E0B050")
NAMES = ("all lags", "noise", "shuffled")


@st.fragment
def spectra_section(shown: Sequence[Shown], row: int) -> None:
    """Spectrum with fit and nulls, H* against the number of windows and against ε."""
    with guarded("the spectrum of this layer"):
        layer = shown[row]
        if not layer.analysis.plain.total > 0:
            st.caption("No fluctuation: all windows have the same attention, so there is no spectrum.")
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            epsilon = epsilon_choice()
            banded = st.toggle("Show the lag bands too", key="spectral-banded-spectra", persist_state="session")
        places = st.columns([4, 3, 3])
        with places[0]:
            spectrum(layer, layer.analysis.bands if banded else ())
        with places[1]:
            growth(layer, epsilon)
        with places[2]:
            ranks(layer, epsilon)


def epsilon_choice() -> float:
    """The share of the energy that may be left out, in per cent on screen."""
    percent = st.number_input(
        "Energy left out, ε in %", 0.5, 50.0, 100 * EPSILON, 1.0, format="%.3g",
        key="spectral-epsilon", persist_state="session", width=170,
        help="H*(ε) is the number of patterns that hold all but this share of the energy. Energy is a square: 10 % of "
        "it left out is an error of √0.1, about a third.",
    )  # fmt: skip
    return float(percent) / 100


def spectrum(layer: Shown, bands: Sequence[Ensemble]) -> None:
    """Eigenvalues as shares of the energy on log–log axes, the fitted line, the nulls."""
    analysis = layer.analysis
    plain, law = analysis.plain, analysis.plain.power
    sides = dict(
        zip(NAMES, (plain.eigenvalues, analysis.white.mean(axis=0), analysis.shuffled.mean(axis=0)), strict=True)
    )
    sides |= {f"about lag {band.centre:.0f}": band.eigenvalues for band in bands}
    frame = pd.concat(
        pd.DataFrame({"mode": np.arange(1, len(v) + 1), "share": v / v.sum(), "spectrum": name})
        for name, v in sides.items()
        if v.sum() > 0
    )
    st.markdown("**Energy by mode**")
    chart = charts.spectrum(
        frame[frame["share"] > 1e-6],
        "mode",
        "share",
        series="spectrum",
        fit=fitted(plain, law),
        colours=COLOURS,
        x_title="mode k",
        y_title="share of the energy",
        height=290,
    )
    st.altair_chart(chart, width="stretch")
    st.caption(
        f"Dashed: λₖ ∝ k^−β over k = {law.k_min} … {law.k_max}, β = {with_interval(law.beta, *law.interval)}, "
        f"R² {law.r2:.2f}; **T_spec = 1/β = {with_interval(law.t_spec, *law.t_spec_interval)}**. "
        "Large T: many patterns share the energy. Intervals: 95 % over windows. "
        "Noise: white. Shuffled: each lag's diagonal changes hands between windows. "
        "Sampling biases β: compare equal N and L only."
    )


def fitted(plain: Ensemble, law: PowerLaw) -> pd.DataFrame | None:
    """The fitted line as two points, through the middle of its points; None where there is no fit."""
    if not np.isfinite(law.beta):
        return None
    k = np.arange(law.k_min, law.k_max + 1)
    share = plain.eigenvalues[k - 1] / plain.eigenvalues.sum()
    level = np.log(share).mean() + law.beta * np.log(k).mean()
    ends = np.array([law.k_min, law.k_max])
    return pd.DataFrame({"mode": ends, "share": np.exp(level - law.beta * np.log(ends)), "spectrum": NAMES[0]})


def growth(layer: Shown, epsilon: float) -> None:
    """H*(ε) of subsets of the windows, and whether it can be believed."""
    found = layer.analysis.growth.at(epsilon)
    st.markdown(f"**H\\*({epsilon:.3g}) against the number of windows**")
    low, high = found.noise
    frame = pd.DataFrame({"windows": found.documents, "rank": found.rank, "bound": found.bound})
    frame["low"], frame["high"] = np.nan, np.nan
    frame.loc[frame.index[-1], ["low", "high"]] = low, high
    chart = charts.line(
        frame,
        "windows",
        "rank",
        null="bound",
        colours=[palette.VALUE],
        x_title="windows, N",
        y_title=f"patterns for {100 * (1 - epsilon):.3g} % of the energy",
        height=290,
    )
    st.altair_chart(chart, width="stretch")
    state = f"**{found.unresolved[:1].upper()}{found.unresolved[1:]}.**" if found.unresolved else "**Resolved.**"
    st.caption(
        f"H\\* = {found.rank[-1]:.0f} of at most {found.bound[-1]:.0f} (dashed: a flat spectrum); white noise "
        f"{between(low, high)}. {state}"
    )


def ranks(layer: Shown, epsilon: float) -> None:
    """H* against ε, beside white noise and shuffled lags."""
    analysis = layer.analysis
    st.markdown("**H\\*(ε) against the energy left out**")
    sides = dict(zip(NAMES, ([analysis.plain.eigenvalues], analysis.white, analysis.shuffled), strict=True))
    frame = pd.DataFrame(
        [
            {"ε": e, "patterns": float(np.mean([effective_rank(s, e) for s in spectra])), "spectrum": name}
            for name, spectra in sides.items()
            for e in EPSILONS
        ]
    )
    chart = charts.line(
        frame,
        "ε",
        "patterns",
        series="spectrum",
        colours=COLOURS,
        marks=(epsilon,),
        x_title="share of the energy left out, ε",
        y_title="patterns needed",
        height=290,
    )
    st.altair_chart(chart, width="stretch")
    low, high = null_interval([effective_rank(s, epsilon) for s in analysis.shuffled])
    st.caption(
        f"At ε = {epsilon:.3g}, lags shuffled between windows need {between(low, high)}. This is a rank of the set "
        "of windows: it bounds nothing about heads, one of which can span any number of patterns."
    )
