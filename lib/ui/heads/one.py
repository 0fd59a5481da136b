"""The chosen head on the chosen text or image, with the controls above it and the score of one pair beneath it."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd
import streamlit as st

from lib.heads import breakdown
from lib.ui.heads.reading import Ask, Reading, figure, image_figure, read, vectors, weighted
from lib.ui.heads.wording import number
from lib.ui.pictures import chosen_place, layers, tables
from lib.ui.scene import Scene
from lib.views import Figure, palette, show

SHOWN = ("attention", "contribution", "both")
PAIRS = ("all", "A→A", "A→B", "B→A", "B→B")
ROWS = {"raw": "as computed", "renormalised": "summing to 1"}


def controls(scene: Scene, stream: str) -> tuple[Ask, str]:
    """The controls above the picture: what is drawn, words, the first token, rows, direction of a pair."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="heads-one-controls"):
        shown = st.segmented_control(
            "Shade by",
            SHOWN,
            default=SHOWN[0],
            required=True,
            key="heads-weight",
            persist_state="session",
            help="A large weight on a short value moves little. Contribution is the length of the vector that "
            "arrives, ‖A · v W_O‖ (Kobayashi et al. 2020).",
        )
        if scene.encoding.grid:
            return Ask(stream), shown
        unit = st.segmented_control(
            "Unit", ("tokens", "words"), default="tokens", required=True, key="heads-unit", persist_state="session"
        )
        sink = st.segmented_control(
            "First token",
            ("shown", "hidden"),
            default="shown",
            required=True,
            key="heads-sink",
            persist_state="session",
            help="Many heads rest on the first token when they look for nothing: an attention sink. "
            "Hidden, the others show.",
        )
        pair = "all"
        if scene.document.second is not None and stream in ("self", "encoder"):
            pair = st.selectbox("Texts", PAIRS, key="heads-pair", persist_state="session", width=100)
        raw = True
        if sink == "hidden" or not scene.choice.special or pair != "all":
            rows = st.segmented_control(
                "Rows",
                list(ROWS),
                format_func=ROWS.__getitem__,
                default="raw",
                required=True,
                key="heads-rows",
                persist_state="session",
                help="What is hidden is missing from a row's sum. Renormalised, a row is divided by what it kept.",
            )
            raw = rows != "renormalised"
    return Ask(stream, unit == "words", not raw, sink != "hidden", pair), shown


def one_head(scene: Scene, pattern: np.ndarray, stream: str) -> Figure:
    """Draw the chosen head with its controls; returns the picture of its attention."""
    ask, shown = controls(scene, stream)
    place, head = chosen_place(scene, pattern, stream)
    if scene.encoding.grid:
        return _image(scene, pattern, stream, shown)
    weights = pattern[place, head]
    reading = read(scene, weights, ask)
    cell = _cell(scene, weights, stream)
    drawn = figure(scene, reading, ask, cell)

    def choose(row: int, column: int) -> None:
        st.session_state["heads-cell"] = reading.pair(weights, row, column)

    if shown == SHOWN[0]:
        show(drawn, "one-head", choose)
    else:
        arriving, about = weighted(scene, pattern, stream)
        _beside(drawn, figure(scene, read(scene, arriving, ask), ask, cell, SHOWN[1], about), shown, choose)
    _breakdown(scene, reading, weights, stream, cell)
    return drawn


def _beside(drawn: Figure, other: Figure, shown: str, choose: object) -> None:
    """The picture of contributions alone, or beside that of attention."""
    if shown == SHOWN[1]:
        show(other, "one-head", choose)
        return
    left, right = st.columns(2)
    with left:
        show(drawn, "one-head", choose)
    with right:
        show(other, "one-head-weighted", choose)


def _image(scene: Scene, pattern: np.ndarray, stream: str, shown: str) -> Figure:
    place, head = chosen_place(scene, pattern, stream)
    drawn = image_figure(scene, pattern[place, head])
    if shown == SHOWN[0]:
        show(drawn, "one-head")
        return drawn
    arriving, about = weighted(scene, pattern, stream)
    _beside(drawn, image_figure(scene, arriving, SHOWN[1], about), shown, None)
    return drawn


def _cell(scene: Scene, weights: np.ndarray, stream: str) -> tuple[int, int] | None:
    """The chosen (query, key); None where none is, or where it was chosen in another text or model."""
    here = scene.engine.key, scene.document.hash, stream
    if st.session_state.setdefault("heads-cell-of", here) != here:
        st.session_state["heads-cell-of"] = here
        st.session_state.pop("heads-cell", None)
    cell = st.session_state.get("heads-cell")
    inside = cell is not None and cell[0] < weights.shape[0] and cell[1] < weights.shape[1]
    return cell if inside else None


def _breakdown(scene: Scene, reading: Reading, weights: np.ndarray, stream: str, cell: tuple[int, int] | None) -> None:
    """The score of the chosen pair, dimension by dimension, as bars under the picture."""
    if cell is None:
        st.caption("Click a token, or a cell of the heatmap, to see how its score comes about.")
        return
    query, key = cell
    queries, keys = tables(scene, stream)
    layer = min(layers(scene, stream), key=lambda number: abs(number - scene.choice.layer))
    taken = vectors(scene, stream)
    parts = breakdown(taken, layer, min(scene.choice.head, scene.engine.n_heads - 1), query, key)
    label = f"“{queries.text[query]}” ({query}) → “{keys.text[key]}” ({key})"
    hidden = "" if reading.cell(query, key) else ", hidden above"
    scale = f" × {number(taken.scaling)}" if np.isfinite(taken.scaling) else ""
    st.text(
        f"{label}{hidden}: score q · k{scale} = {number(parts['product'].sum())}, the sum over "
        f"{len(parts)} dimensions; attention after softmax {number(float(weights[query, key]))}"
    )
    st.altair_chart(_bars(parts), width="stretch")
    st.caption(
        "Each bar is one dimension's part of the score; together they sum to it. Parts below zero push the pair apart. "
        "Query and key as compared, after rotation where positions rotate them; masks, biases and caps come on top."
    )


def _bars(parts: pd.DataFrame) -> alt.Chart:
    """One bar per dimension of the head; parts as `breakdown` gives them."""
    return (
        alt.Chart(parts)
        .mark_bar()
        .encode(
            x=alt.X("dimension:O", title="dimension of the head", axis=alt.Axis(labelAngle=0, labelOverlap=True)),
            y=alt.Y("product:Q", title="part of the score"),
            color=alt.condition("datum.product > 0", alt.value(palette.CATEGORICAL[0]), alt.value(palette.KEY)),
            tooltip=[alt.Tooltip(f"{name}:Q", format=".3f") for name in ("dimension", "query", "key", "product")],
        )
        .properties(height=170, width="container")
        .configure_view(strokeWidth=0)
    )
