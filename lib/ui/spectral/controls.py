"""The controls above the scalograms: how many windows of which length, of which attention, and what is coloured."""

from __future__ import annotations

import streamlit as st

from lib.ui.scene import Scene
from lib.ui.spectral.measures import Ask

FEW_WINDOWS = 48  # at first: a picture within seconds
COLOURINGS = {"density": "energy", "ratio": "÷ chance"}


def controls(now: Scene) -> tuple[Ask, str]:
    """Windows, length, mean or one head, stream; and what the scalograms are coloured by."""
    characters = now.engine.family == "char_gpt"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        colouring = st.segmented_control(
            "Colour",
            list(COLOURINGS),
            format_func=COLOURINGS.__getitem__,
            default="density",
            key="spectral-colour",
            persist_state="session",
        )
        count = st.number_input(
            "Windows, N",
            1,
            1000,
            FEW_WINDOWS,
            key="spectral-windows",
            persist_state="session",
            width=120,
            help="Ranks and spectra settle slowly: 150 windows and more are better than the first picture's 48.",
        )
        length = st.number_input(
            "Tokens each, L",
            4,
            1024,
            256 if characters else 64,
            key="spectral-characters" if characters else "spectral-length",
            persist_state="session",
            width=130,
        )
        heads = st.segmented_control(
            "Attention of",
            ["mean", "head"],
            format_func={"mean": "all heads, mean", "head": f"head {now.choice.head} of each layer"}.__getitem__,
            default="mean",
            key="spectral-heads",
            persist_state="session",
        )
        stream = None
        if now.engine.kind == "encoder-decoder":
            stream = st.selectbox(
                "Stream", ["encoder", "decoder"], key="spectral-stream", persist_state="session", width=130
            )
    head = now.choice.head if heads == "head" else None
    return Ask(int(count), int(length), head, stream), colouring or "density"
