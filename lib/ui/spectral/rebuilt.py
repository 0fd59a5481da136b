"""One window's attention rebuilt from K modes, with what is missing beside what all windows miss on the mean."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib.spectral import Modes, reconstruct
from lib.ui.scene import Scene
from lib.ui.spectral.controls import within
from lib.ui.spectral.measures import Ask, Band, Shown, all_modes
from lib.views import heatmap_figure, show


def rebuilt(now: Scene, ask: Ask, layer: Shown, row: int, band: Band | None, top: int) -> None:
    """Draw the window as measured, as K modes give it, and the rest. top: the window to begin with."""
    if not st.toggle("Rebuild one window from K modes", key="spectral-rebuild", persist_state="session"):
        return
    modes = all_modes(now, ask, row, band)
    if not modes.rank:
        st.caption("No fluctuation: every window is the mean field already.")
        return
    within("spectral-window", modes.documents - 1)
    within("spectral-count", modes.rank)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        window = st.number_input(
            "Window", 0, modes.documents - 1, None, placeholder=f"{top}, carries it most",
            key="spectral-window", width=190,
        )  # fmt: skip
        count = st.slider("Modes, K", 0, modes.rank, min(5, modes.rank), key="spectral-count", width=320)
    window = top if window is None else min(int(window), modes.documents - 1)
    given = np.asarray(modes.snapshots[window], np.float64) * (1 if modes.window is None else modes.window)
    back = reconstruct(modes, window, count)
    high = float(max(given.max(), back.max())) or 1.0
    mask = ~np.tri(layer.analysis.length, dtype=bool) if layer.analysis.causal else None
    pictures = (
        ("spectral-given", given, "Attention as it is" + (", through the band" if band else ""), "sequential", high),
        ("spectral-back", back, f"Mean and {count} {'mode' if count == 1 else 'modes'}", "sequential", high),
        ("spectral-rest", given - back, "What is missing", "diverging", None),
    )
    for place, (key, picture, title, kind, top_value) in zip(st.columns(3), pictures, strict=True):
        with place:
            show(
                heatmap_figure(
                    picture,
                    row_title="query position",
                    column_title="key position",
                    title=title,
                    kind=kind,
                    mask=mask,
                    value_range=None if top_value is None else (0.0, top_value),
                    value_name="attention",
                    height=260,
                    scale="log" if kind == "sequential" else "linear",
                ),
                key,
            )
    st.caption(missing(modes, window, count))


def missing(modes: Modes, window: int, count: int) -> str:
    """The error of one window, and the mean over windows, which the eigenvalues left out give exactly."""
    own = modes.residual(window, count)
    whole = modes.residual(window, 0) or 1.0
    tail = modes.tail(count)
    return (
        "Few modes give slightly negative attention here and there; it is drawn as 0. "
        f"Window {window}: {100 * own / whole:.1f} % of its fluctuation's energy is missing (squared error {own:.3g}). "
        f"Mean over all {modes.documents} windows: {tail:.3g}, the sum of the eigenvalues left out, "
        f"{100 * tail / modes.total:.1f} % of the energy."
    )
