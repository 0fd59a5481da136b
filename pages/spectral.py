"""Spectral: at which distances does attention live, and how many patterns does it take?"""

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.errors import HeadlightError
from lib.ui.downloads import download_row, provenance
from lib.ui.frame import how_to_read, question
from lib.ui.guard import through_the_door
from lib.ui.message import guarded, problem
from lib.ui.scene import Scene, scene
from lib.ui.spectral.claims import claims_section
from lib.ui.spectral.coherent import coherency_section
from lib.ui.spectral.compare import compare_section
from lib.ui.spectral.controls import controls, more_text, needs_text, ways_out
from lib.ui.spectral.heads import heads_section
from lib.ui.spectral.layer import IN_WORDS, by_layer, layer_numbers, noise_sentence, one_layer
from lib.ui.spectral.measures import Ask, Shown, analysed, complexities, cut_windows
from lib.ui.spectral.modes import modes_section
from lib.ui.spectral.scalograms import scalogram_row
from lib.ui.spectral.spectra import spectra_section
from lib.ui.spectral.wavelets import wavelets_section
from lib.ui.spectral.wording import HOW_TO_READ, LAG_AND_SCALE, what_is_shown
from lib.ui.state import choose_head
from lib.ui.tables import csv_table
from lib.views import Figure, figure_html, npz_bytes

through_the_door()

SECTIONS = {
    "modes": "Modes and lag bands",
    "rank": "How many patterns",
    "coherency": "Coherency",
    "heads": "Heads needed",
    "compare": "Two models",
    "verdicts": "Verdicts",
    "wavelets": "Other wavelets",
}


def chosen_row(now: Scene, shown: list[Shown]) -> int:
    """The place of the chosen layer, or of the nearest there is."""
    return int(np.abs(np.array([layer.analysis.layer for layer in shown]) - now.choice.layer).argmin())


def section(now: Scene, ask: Ask, shown: list[Shown], row: int, colouring: str) -> None:
    """The chosen part of the page; each is a fragment of its own, so that its controls redraw only itself."""
    chosen = st.segmented_control(
        "Section",
        list(SECTIONS),
        format_func=SECTIONS.__getitem__,
        default="modes",
        required=True,
        key="spectral-section",
        label_visibility="collapsed",
        persist_state="session",
    )
    {
        "modes": partial(modes_section, now, ask, shown, row),
        "rank": partial(spectra_section, shown, row),
        "coherency": partial(coherency_section, now, ask, shown, row),
        "heads": partial(heads_section, now, ask),
        "compare": partial(compare_section, now, ask, shown, row),
        "verdicts": partial(claims_section, now, ask),
        "wavelets": partial(wavelets_section, now, ask, shown, row, colouring),
    }[chosen]()


def downloads(now: Scene, ask: Ask, layer: Shown, figure: Figure, table: pd.DataFrame) -> None:
    """The scalogram as a page, the numbers by layer, the layer's modes as arrays."""
    analysis = layer.analysis
    facts = provenance(now, windows=analysis.documents, length=analysis.length, heads=ask.head, stream=ask.stream)
    arrays = {
        "energy": analysis.scalogram.energy,
        "null": analysis.scalogram.null,
        "scales": analysis.scalogram.scales,
        "lags": analysis.scalogram.lags,
        "modes": analysis.plain.modes,
        "eigenvalues": analysis.plain.eigenvalues,
        "scores": analysis.plain.scores,
    }
    stem = f"headlight-spectral-L{analysis.layer}"
    files = {
        "Scalogram as a page": (f"{stem}.html", "text/html", lambda: figure_html(figure, facts)),
        "All layers as CSV": ("headlight-spectral.csv", "text/csv", partial(csv_table, table, facts)),
        "Layer as npz": (f"{stem}.npz", "application/octet-stream", lambda: npz_bytes(arrays, facts)),
    }
    download_row(files, "spectral")


def pictures(now: Scene, ask: Ask, colouring: str) -> None:
    """Scalograms of all layers, the chosen one large beside the numbers of all, and the chosen section."""
    shown = analysed(now, ask)
    row = chosen_row(now, shown)
    layer = shown[row]
    scalogram_row(shown, colouring, row, lambda at: choose_head(shown[at].analysis.layer, now.choice.head))
    taken = cut_windows(now, ask)
    st.caption(what_is_shown(now, ask, taken, layer))
    more_text(now, ask, taken)
    st.caption(LAG_AND_SCALE)
    left, right = st.columns([2, 3], gap="medium")
    with left:
        figure = one_layer(layer, colouring)
    with right:
        table = layer_numbers(shown, complexities(now, ask, shown))
        st.markdown("**By layer**, all lags [95 % over windows]")
        with st.container(height=330 if len(table) > 9 else "content", border=False):
            st.html(by_layer(table))
        st.caption(f"{IN_WORDS} {noise_sentence(layer)}")
    section(now, ask, shown, row, colouring)
    downloads(now, ask, layer, figure, table)


@st.fragment(key="panel")
@guarded("this page")
def panel() -> None:
    """Everything below the title; what is slow in it is kept by model, texts and settings."""
    now = scene()
    if now.engine.kind == "vision":
        needs_text(now)
        return
    ask, colouring = controls(now)
    with guarded("the attention fields of these texts"):
        try:
            pictures(now, ask, colouring)
        except HeadlightError as error:
            problem(error)
            ways_out(now, ask)


question("At which distances does attention live, and how many patterns does it take?")
panel()
how_to_read(HOW_TO_READ)
