"""Embeddings: where do queries meet keys?"""

from lib.ui.guard import through_the_door

through_the_door()

import streamlit as st

from lib.ui.embeddings.claims import findings_panel, sentences, words_panel
from lib.ui.embeddings.controls import controls
from lib.ui.embeddings.every import doubtful, known_trust, trust_soon
from lib.ui.embeddings.maps import known_maps, warm
from lib.ui.embeddings.numbers import scale_lines, trust_strip
from lib.ui.embeddings.one import Drawn, one_head, view_controls
from lib.ui.embeddings.ordered import orders_panel
from lib.ui.embeddings.overview import as_before, overview, searched
from lib.ui.embeddings.stage import Stage, stage
from lib.ui.embeddings.taken_away import downloads
from lib.ui.embeddings.trusted import trust_panel
from lib.ui.embeddings.wording import HOW_TO_READ
from lib.ui.frame import how_to_read, question
from lib.ui.message import guarded
from lib.ui.scene import scene

SECTIONS = {
    "orders": "What orders this map?",
    "trust": "Trust of all heads",
    "findings": "Findings",
    "words": "All heads in words",
}


def head(on: Stage, told: dict[tuple[int, int], str] | None) -> Drawn | None:
    """The chosen head, large, and its numbers; None where it cannot be drawn, or not yet."""
    view = view_controls(on)
    with st.container():  # a place of its own, with and without words: the points below stay where they are
        if told is not None:
            st.text(told[on.chosen])
    with guarded("the map of this head"):
        if (drawn := one_head(on, view)) is not None:
            trust_strip(on.taken, drawn)
        scale_lines(on)
        return drawn
    return None


@st.fragment(key="panel")
@guarded("this page")
def panel() -> None:
    """Everything below the title; captures and maps lie in the store, nothing slow is made twice."""
    now = scene()
    ask, look = controls(now)
    with guarded("the maps of these documents"):
        with st.empty():  # a place of its own, with and without a progress line
            on = stage(now, ask, look)
        on = searched(on)
        maps_before = known_maps(on.taken, ask.settings())
        told = sentences(on, maps_before)
        above, below = st.container(), st.container()
        drawn = None
        if before := maps_before is not None and as_before(on):  # another head: the click is answered first
            with below:
                drawn = head(on, told)
        with above:
            marked = doubtful(on, known_trust(on, maps_before))
            made = overview(on, marked, told)
        if not before:
            with below:
                drawn = head(on, told)
        section = st.segmented_control(
            "Over all heads",
            list(SECTIONS),
            format_func=SECTIONS.__getitem__,
            default="orders",
            required=True,
            key="embeddings-section",
            label_visibility="collapsed",
            persist_state="session",
        )
        with guarded(SECTIONS[section].lower()):
            if section == "trust":
                trust_panel(on, made)
            elif section == "findings":
                findings_panel(on)
            elif section == "words":
                words_panel(on, made)
            elif drawn is not None:
                orders_panel(on, drawn)
        downloads(on, made, drawn, marked)
        trust_soon(on, made)
    warm()


question("Where do queries meet keys?")
panel()
how_to_read(HOW_TO_READ)
