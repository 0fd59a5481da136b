"""Embeddings: where do queries meet keys?"""

import streamlit as st

from lib.ui.embeddings.controls import controls
from lib.ui.embeddings.maps import warm
from lib.ui.embeddings.numbers import scale_lines, trust_strip
from lib.ui.embeddings.one import one_head, view_controls
from lib.ui.embeddings.overview import overview, searched
from lib.ui.embeddings.stage import stage
from lib.ui.embeddings.wording import HOW_TO_READ
from lib.ui.frame import how_to_read, question
from lib.ui.guard import through_the_door
from lib.ui.message import guarded
from lib.ui.scene import scene

through_the_door()


@st.fragment(key="panel")
def panel() -> None:
    """Everything below the title; captures and maps lie in the store, nothing slow is made twice."""
    now = scene()
    ask, look = controls(now)
    with guarded("the maps of these documents"):
        on = searched(stage(now, ask, look))
        overview(on, None, None)
        view = view_controls(on)
        with guarded("the map of this head"):
            drawn = one_head(on, view)
            trust_strip(on.taken, drawn)
            scale_lines(on)
    warm()


question("Where do queries meet keys?")
panel()
how_to_read(HOW_TO_READ)
