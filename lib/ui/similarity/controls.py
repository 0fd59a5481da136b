"""The controls above the map: which statistic, how it is shown, which pairs of which documents it is measured on."""

from __future__ import annotations

import streamlit as st

from lib.ui.counts import document_count
from lib.ui.scene import Scene
from lib.ui.similarity.measures import Ask
from lib.ui.similarity.wording import STATISTICS, statistics

SHORT = {"dot": "z · z", "cosine": "cosine"}
FEW_DOCUMENTS = 12  # at first: a picture within seconds


def controls(now: Scene) -> tuple[Ask, str, bool]:
    """The controls above the map: statistic, over chance, similarity, share of pairs, documents, unit, stream."""
    image = now.engine.kind == "vision"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.selectbox(
            "Statistic",
            list(statistics(image)),
            format_func=lambda key: STATISTICS[key].name,
            key="similarity-statistic",
            persist_state="session",
            width=170,
        )
        shown = st.segmented_control(
            "Shown",
            ["÷ chance", "raw"],
            default="÷ chance",
            required=True,
            key="similarity-shown",
            persist_state="session",
        )
        kind = st.segmented_control(
            "Similarity",
            list(SHORT),
            format_func=SHORT.__getitem__,
            default="dot",
            required=True,
            key="similarity-kind",
            persist_state="session",
        )
        top = st.number_input(
            "Pairs, top %", 0.01, 100.0, 1.0, 0.5, key="similarity-top", persist_state="session", width=105
        )
        count = document_count("similarity-documents", len(now.documents), FEW_DOCUMENTS, 120)
        words = not image and st.segmented_control(
            "Unit", ["tokens", "words"], default="tokens", required=True, key="similarity-unit", persist_state="session"
        )
        stream = None
        if now.engine.kind == "encoder-decoder":
            stream = st.selectbox(
                "Stream", ["encoder", "decoder", "cross"], key="similarity-stream", persist_state="session", width=130
            )
    ask = Ask(count, top / 100, kind, words == "words", stream, now.choice.special)
    return ask, name, shown != "raw"
