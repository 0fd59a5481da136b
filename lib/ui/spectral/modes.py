"""The modes of the chosen layer, over all lags and through one lag band, side by side; who carries them."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from lib.numerals import written
from lib.spectral import Ensemble, LayerAnalysis, Windows
from lib.ui.message import guarded
from lib.ui.scene import Scene
from lib.ui.spectral.bands import band_choice
from lib.ui.spectral.controls import within
from lib.ui.spectral.measures import Ask, Band, Shown, band_modes, cut_windows
from lib.ui.spectral.rebuilt import rebuilt
from lib.views import charts, heatmap_figure, palette, show

LISTED = 3  # windows named on each side of a mode
EXCERPT = 420  # characters
CLIPPED, FAINT = 0.95, 0.01  # colours end at this quantile of the cells that are not faint beside the largest


@st.fragment
def modes_section(now: Scene, ask: Ask, shown: Sequence[Shown], row: int) -> None:
    """Mode k of plain and of band-limited POD as fields and by lag; its windows; one window rebuilt."""
    with guarded("the modes of this layer"):
        layer = shown[row]
        band = band_choice(shown, row)
        plain, banded = layer.analysis.plain, own_or_known(now, ask, shown, row, band)
        most = max(len(plain.modes), len(banded.modes), 1)
        within("spectral-mode", most)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            k = st.segmented_control(
                "Mode", list(range(1, most + 1)), default=1, required=True, key="spectral-mode", persist_state="session"
            )
            of = st.segmented_control(
                "Its windows and the rebuilding from",
                ["all lags", "the band"],
                default="all lags",
                required=True,
                key="spectral-side",
                persist_state="session",
            )
        k = min(k, most) - 1
        places = st.columns([5, 5, 6])
        sides = (("spectral-plain", "All lags", plain), ("spectral-banded", band_name(band), banded))
        for place, (key, name, side) in zip(places, sides, strict=False):
            with place:
                field(layer.analysis, side, k, key, name)
        with places[2]:
            by_lag(layer, {"all lags": plain, band_name(band).lower(): banded}, k)
        st.caption("Colours end where 5 % of the cells that are not faint lie beyond; the sign of a mode is arbitrary.")
        side = banded if of == "the band" else plain
        top = carriers(side, k, cut_windows(now, ask), "the band" if of == "the band" else "all lags")
        rebuilt(now, ask, layer, row, band if of == "the band" else None, top)


def own_or_known(now: Scene, ask: Ask, shown: Sequence[Shown], row: int, band: Band) -> Ensemble:
    """The band's modes, which are known already where it is one of those that the profile gave."""
    known = (b for b in shown[row].analysis.bands if band.kind == "band" and b.centre == band.centre)
    return next(known, None) or band_modes(now, ask, row, band)


def band_name(band: Band) -> str:
    """What a lag window is called above a picture."""
    before = "Up to lag" if band.kind == "lowpass" else "About lag"
    return f"{before} {band.centre:.0f}".replace("-", "−")


def field(analysis: LayerAnalysis, side: Ensemble, k: int, key: str, name: str) -> None:
    """One mode as a field over query and key."""
    if k >= len(side.modes) or not side.total > 0:
        st.markdown(f"**{name}**")
        st.caption("No fluctuation here: the windows do not differ in these lags.")
        return
    share = side.eigenvalues[k] / side.total
    mode = side.modes[k]
    seen = np.abs(mode[np.abs(mode) > FAINT * np.abs(mode).max()])
    most = float(np.quantile(seen, CLIPPED)) if seen.size else 1.0  # a few cells would leave all others white
    figure = heatmap_figure(
        mode,
        row_title="query position",
        column_title="key position",
        title=f"{name}: mode {k + 1}, {100 * share:.1f} % of the energy",
        kind="diverging",
        value_name="mode",
        value_range=(-most, most),
        mask=~np.tri(analysis.length, dtype=bool) if analysis.causal else None,
        height=340,
    )
    show(figure, key)


def by_lag(layer: Shown, sides: dict[str, Ensemble], k: int) -> None:
    """Share of the mode's energy by lag, of both kinds."""
    parts = []
    for name, side in sides.items():
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


def carriers(side: Ensemble, k: int, taken: Windows, name: str) -> int:
    """The windows with the largest scores, both signs, with their text; returns the one that carries it most."""
    st.markdown(f"**Windows that carry mode {k + 1} most, {name}**")
    if k >= side.scores.shape[1]:
        st.caption("This mode does not exist here.")
        return 0
    scores = side.scores[:, k] / (side.scores[:, k].std() or 1.0)
    order = np.argsort(scores)
    listed = min(LISTED, max(1, len(order) // 2))
    left, right = st.columns(2, gap="medium")
    for place, what, chosen in (
        (left, "more of it than the mean", order[::-1][:listed]),
        (right, "less of it than the mean", order[:listed]),
    ):
        with place:
            st.caption(f"{what.capitalize()}: score in standard deviations.")
            st.html("".join(carrier(taken, int(i), float(scores[i])) for i in chosen))
    return int(np.abs(scores).argmax())


def carrier(taken: Windows, window: int, score: float) -> str:
    """One window as HTML; its text is escaped."""
    text = taken.texts[window]
    text = text if len(text) <= EXCERPT else text[: EXCERPT - 1] + "…"
    where = f"window {window}, document {taken.documents[window]}, from token {taken.starts[window]}"
    number = written(score, "+.1f")
    return (
        "<div style='display:grid;grid-template-columns:3.2rem 1fr;gap:0 10px;margin:0 0 9px'>"
        f"<b style='font-variant-numeric:tabular-nums;text-align:right'>{number}</b><div>"
        f"<div style='font-size:.88rem;line-height:1.45;overflow-wrap:anywhere'>{html.escape(text)}</div>"
        f"<div style='font-size:.76rem;opacity:.65'>{where}</div></div></div>"
    )
