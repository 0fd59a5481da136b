"""How many patterns a layer needs: its spectrum beside the nulls', H* against N and against ε."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lib.spectral import Ensemble, PowerLaw, effective_rank
from lib.ui.spectral.layer import cell
from lib.ui.spectral.measures import Shown
from lib.views import charts, palette

EPSILONS = (0.01, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5)
COLOURS = (palette.VALUE, palette.OUTPUT, palette.NEUTRAL, palette.CATEGORICAL[3])


def spectra_panel(layer: Shown, band: Ensemble) -> None:
    """Spectrum, growth of H* with the number of windows, H* against the energy left out."""
    if not layer.analysis.plain.total > 0:
        st.caption("No fluctuation: all windows have the same attention, so there is no spectrum.")
        return
    places = st.columns([4, 3, 3])
    with places[0]:
        spectrum(layer, band)
    with places[1]:
        growth(layer)
    with places[2]:
        ranks(layer)


def spectrum(layer: Shown, band: Ensemble) -> None:
    """Eigenvalues as shares of the energy on log–log axes, the fitted line, the nulls."""
    analysis = layer.analysis
    plain, law = analysis.plain, analysis.plain.power
    sides = {
        "all lags": plain.eigenvalues,
        f"lag {band.centre:.0f}": band.eigenvalues,
        "noise": analysis.white.mean(axis=0),
        "shuffled": analysis.shuffled.mean(axis=0),
    }
    frame = pd.concat(
        pd.DataFrame({"mode": np.arange(1, len(v) + 1), "share": v / v.sum(), "spectrum": name})
        for name, v in sides.items()
        if v.sum() > 0
    )
    shown = frame[frame["share"] > 1e-6]
    st.markdown("**Energy by mode**")
    chart = charts.spectrum(
        shown,
        "mode",
        "share",
        series="spectrum",
        fit=fitted(plain, law),
        colours=COLOURS,
        x_title="mode k",
        y_title="share of the energy",
        height=270,
    )
    st.altair_chart(chart, width="stretch")
    st.caption(
        f"Over all lags λₖ ∝ k^−β, β = {cell(law.beta, *law.interval)}, T_spec = 1/β = "
        f"{cell(law.t_spec, *law.t_spec_interval)}; fit over k = {law.k_min} … {law.k_max}, R² {law.r2:.2f}. Large T: "
        "many modes share the energy. Intervals: 95 % over windows. "
        "Noise: white. Shuffled: each lag between windows. Biased by sampling: compare equal N and L."
    )


def fitted(plain: Ensemble, law: PowerLaw) -> pd.DataFrame | None:
    """The fitted line as two points, through the middle of its points; None where there is no fit."""
    if not np.isfinite(law.beta):
        return None
    k = np.arange(law.k_min, law.k_max + 1)
    share = plain.eigenvalues[k - 1] / plain.eigenvalues.sum()
    level = np.log(share).mean() + law.beta * np.log(k).mean()
    ends = np.array([law.k_min, law.k_max])
    return pd.DataFrame({"mode": ends, "share": np.exp(level - law.beta * np.log(ends)), "spectrum": "all lags"})


def growth(layer: Shown) -> None:
    """H*(ε) of subsets of the windows, and whether it can be believed."""
    found = layer.analysis.growth
    st.markdown(f"**H\\*({found.epsilon:g}) against N**")
    frame = pd.DataFrame({"windows": found.documents, "rank": found.rank, "bound": found.bound})
    chart = charts.line(
        frame,
        "windows",
        "rank",
        null="bound",
        colours=[palette.VALUE],
        x_title="windows, N",
        y_title=f"modes for {100 * (1 - found.epsilon):.0f} % of the energy",
        height=270,
    )
    st.altair_chart(chart, width="stretch")
    low, high = found.noise
    state = f"**{found.unresolved[:1].upper()}{found.unresolved[1:]}.**" if found.unresolved else "Resolved."
    st.caption(f"H\\* = {found.rank[-1]:.0f}, white noise {low:.0f} … {high:.0f}; dashed: a flat spectrum. {state}")


def ranks(layer: Shown) -> None:
    """H* against ε, beside white noise and shuffled lags."""
    analysis = layer.analysis
    st.markdown("**H\\*(ε) against ε**")
    sides = {
        "all lags": [analysis.plain.eigenvalues],
        "noise": analysis.white,
        "shuffled": analysis.shuffled,
    }
    frame = pd.DataFrame(
        [
            {"ε": epsilon, "modes": float(np.mean([effective_rank(s, epsilon) for s in spectra])), "spectrum": name}
            for name, spectra in sides.items()
            for epsilon in EPSILONS
        ]
    )
    chart = charts.line(
        frame,
        "ε",
        "modes",
        series="spectrum",
        colours=(COLOURS[0], COLOURS[2], COLOURS[3]),
        x_title="energy left out, ε",
        y_title="modes needed",
        height=270,
    )
    st.altair_chart(chart, width="stretch")
    st.caption("A rank of the ensemble of windows: it bounds nothing about heads.")
