"""The controls over the picture: into what, how many, read by what."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lib.segmentation import CONDITIONS, STRENGTHS, calibration_for, signals_there
from lib.ui.scene import Scene
from lib.ui.segmentation.wording import (
    FEATURE_HELP,
    FEATURE_NAMES,
    PLACES,
    SIGNAL_NAMES,
    STRENGTH_HELP,
    condition_name,
)

ROW = "segmentation-controls"
ON_A_PHONE = f"""<style>
/* Where not all controls have room beside each other, each line is filled to its end. */
@media (max-width: 640px) {{ .st-key-{ROW} > [data-testid="stElementContainer"] {{ flex-grow: 1; }} }}
</style>"""
RECOGNISED = "as recognised"
GRANULARITIES = {"sentence": "sentences", "topic": "topics"}


@dataclass(frozen=True)
class Ask:
    """What the controls ask for; signal, layer and head only where one untrained signal is read (None: see segment)."""

    granularity: str
    segments: int | None
    strength: str
    features: str
    condition: str | None
    signal: str = ""
    layer: int | None = None
    head: int | None = None


def calibrated_conditions(now: Scene) -> list[str]:
    """The conditions for which the model has a calibration."""
    return [name for name in CONDITIONS if calibration_for(now.engine, name) is not None]


def control_row() -> AbstractContextManager:
    """The row over the picture that holds all controls."""
    st.html(ON_A_PHONE)
    return st.container(horizontal=True, vertical_alignment="bottom", key=ROW)


def granularity_control() -> tuple[str, int | None]:
    """Into what the text is cut, and into how many."""
    granularity = (
        st.segmented_control(
            "Cut into",
            list(GRANULARITIES),
            format_func=GRANULARITIES.__getitem__,
            default="sentence",
            key="segmentation-granularity",
            persist_state="session",
        )
        or "sentence"
    )
    segments = st.number_input(
        "How many",
        1,
        None,
        None,
        placeholder="not known",
        key=f"segmentation-count-{granularity}",
        persist_state="session",
        width=135,
    )
    return granularity, None if segments is None else int(segments)


def way_controls(now: Scene, granularity: str, segments: int | None) -> Ask:
    """What reads the text."""
    if granularity == "topic":
        features = st.selectbox(
            "Sentences compared by",
            list(FEATURE_NAMES),
            format_func=FEATURE_NAMES.__getitem__,
            key="segmentation-features",
            persist_state="session",
            width=190,
            help=FEATURE_HELP,
        )
        return Ask(granularity, segments, "topics", features, None)
    has = bool(calibrated_conditions(now))
    ways = list(STRENGTHS) if has else ["one"]
    strength = st.selectbox(
        "Read by",
        ways,
        format_func=STRENGTHS.__getitem__,
        persist_state="session",
        **_wished("segmentation-strength", ways, ways[0]),
        width=195,
        help=STRENGTH_HELP,
    )
    if strength != "one":
        condition = st.selectbox(
            "Calibration",
            [RECOGNISED, *CONDITIONS],
            format_func=lambda name: name if name == RECOGNISED else condition_name(name),
            key="segmentation-condition",
            persist_state="session",
            width=165,
            help="One was made for each condition of text: as written, without capitals, without punctuation.",
        )
        return Ask(granularity, segments, strength, "", None if condition == RECOGNISED else condition)
    return _one_signal(now, granularity, segments)


def _wished(key: str, offered: list[str], nearest: str) -> dict[str, Any]:
    """Key and callback of a control that not every model offers in full: what the visitor chose comes back with it.

    nearest: what is shown where nothing was chosen, or what was chosen is not offered now.
    """
    wish = f"{key}-wish"

    def remember() -> None:
        st.session_state[wish] = st.session_state[key]

    chosen = st.session_state.get(wish)
    st.session_state[key] = chosen if chosen in offered else nearest
    return {"key": key, "on_change": remember}


def _one_signal(now: Scene, granularity: str, segments: int | None) -> Ask:
    there = signals_there(now.engine)
    ordered = [name for name in SIGNAL_NAMES if name in there]
    signal = st.selectbox(
        "Signal",
        ordered,
        format_func=SIGNAL_NAMES.__getitem__,
        persist_state="session",
        width=230,
        **_wished("segmentation-signal", ordered, "to_last" if "to_last" in ordered else "z_cosine_4"),
    )
    where = st.selectbox(
        "Of",
        list(PLACES),
        format_func=lambda name: _place(now, name),
        key="segmentation-place",
        persist_state="session",
        width=185,
    )
    layer, head = now.choice.layer, now.choice.head
    place = {"last": (None, None), "layer": (layer, None), "head": (layer, head), "all": (-1, None)}[where]
    return Ask(granularity, segments, "one", "", None, signal, *place)


def _place(now: Scene, name: str) -> str:
    layer, head = now.choice.layer, now.choice.head
    told = {"layer": f"layer {layer}, mean", "head": f"L{layer} H{head}"}
    return told.get(name, f"{PLACES[name]}, mean")
