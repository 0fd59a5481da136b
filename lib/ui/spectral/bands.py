"""The lag bands: laid along the profile by default, moved by hand, and the kinds of window there are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from lib.numerals import written
from lib.spectral import LayerAnalysis
from lib.stats import bootstrap_mean
from lib.ui.spectral.measures import Band, Shown
from lib.views import lag_profile_figure, show

KINDS = {
    "band": "about a lag",
    "signed": "one direction",
    "partition": "shares of the whole",
    "lowpass": "up to a lag",
}
HELP = (
    "About a lag: a bell over lags near the centre, both ways. One direction: the same, looking back or ahead only. "
    "Shares of the whole: bells that add up to everything. Up to a lag: all lags from 0, as in the author's own script."
)


def band_choice(shown: Sequence[Shown], row: int) -> Band:
    """The lag window that profile and controls name: its kind, which band, and where that one stands."""
    analysis = shown[row].analysis
    lags = near_lags(analysis)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kinds = [kind for kind in KINDS if kind != "signed" or not analysis.causal]
        if st.session_state.get("spectral-kind") not in kinds:  # chosen with a model that looks both ways
            st.session_state["spectral-kind"] = kinds[0]
        kind = st.selectbox(
            "Window", kinds, format_func=KINDS.__getitem__, key="spectral-kind", persist_state="session",
            width=170, help=HELP,
        )  # fmt: skip
        centres = laid(shown, lags, kind)
        names = [written(centre, ".0f") for centre in centres]
        chosen = st.segmented_control(
            "Lag band", list(range(len(centres))), format_func=names.__getitem__, default=0, required=True,
            key="spectral-band", persist_state="session", help="Drag a handle in the profile to move a band.",
        )  # fmt: skip
        chosen = min(chosen, len(centres) - 1)
        st.session_state["spectral-centre"] = float(centres[chosen])
        st.number_input(
            "Its centre, tokens", float(lags[0]) if kind == "signed" else 0.0, float(lags[-1]), step=1.0, format="%.4g",
            key="spectral-centre", width=140, on_change=_typed, args=(centres, chosen),
        )  # fmt: skip
        if st.session_state.get("spectral-centres"):
            st.button("As the profile has them", key="spectral-relay", on_click=_relay, type="tertiary")
    band = Band(kind, centres[chosen], centres)
    profile_picture(shown[row], lags, band, chosen)
    return band


def near_lags(analysis: LayerAnalysis) -> np.ndarray:
    """The lags that half of the rows see, (lag,)."""
    lags = analysis.profile.lags
    return lags[np.abs(lags) < analysis.length / 2]


def laid(shown: Sequence[Shown], lags: np.ndarray, kind: str) -> tuple[float, ...]:
    """Centres of the bands: moved by hand, or those that the layers' common profile gives."""
    own = st.session_state.get("spectral-centres")
    centres = own or [band.centre for band in shown[0].analysis.bands]
    least = float(lags[0]) if kind == "signed" else 0.0
    return tuple(float(min(max(centre if least else abs(centre), least), lags[-1])) for centre in centres)


def profile_picture(layer: Shown, lags: np.ndarray, band: Band, chosen: int) -> None:
    """E(τ) with its interval, the bands beneath it, and a handle at each centre."""
    analysis = layer.analysis
    near = np.isin(analysis.profile.lags, lags)
    energy = bootstrap_mean(analysis.profile.energy[:, near], draws=200, simultaneous=True)
    centroid = float(layer.centroid.estimate)
    weights = [along(Band(band.kind, centre, band.centres), analysis.length, lags) for centre in band.centres]
    figure = lag_profile_figure(
        lags,
        energy.estimate,
        np.array(weights),
        band.centres,
        low=np.maximum(energy.low, 0),
        high=energy.high,
        chosen=chosen,
        rules=[(side * centroid, "centroid of |lag|") for side in ((1,) if analysis.causal else (1, -1))],
        title=f"Energy by lag in layer {analysis.layer}, and the bands",
        y_title="mean squared fluctuation",
    )
    show(figure, "spectral-profile", lambda index, place: moved(band.centres, index, float(lags[place])))


def along(band: Band, length: int, lags: np.ndarray) -> np.ndarray:
    """A window's weights by lag, (lag,)."""
    window = band.window(length)
    return np.where(lags >= 0, window[length - 1, length - 1 - np.maximum(lags, 0)], window[0, np.maximum(-lags, 0)])


def moved(centres: Sequence[float], index: int, lag: float) -> None:
    """Callback of the profile: choose a band, and let it stand at a lag unless it stands there already."""
    st.session_state["spectral-band"] = index
    if round(centres[index]) != lag:
        st.session_state["spectral-centres"] = [*centres[:index], lag, *centres[index + 1 :]]


def _typed(centres: Sequence[float], chosen: int) -> None:
    lag = float(st.session_state["spectral-centre"])
    st.session_state["spectral-centres"] = [*centres[:chosen], lag, *centres[chosen + 1 :]]


def _relay() -> None:
    st.session_state["spectral-centres"] = None
