"""What every visit passes before its page: the choice from the link, the model, the shared sidebar."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import Page

from lib import models
from lib.ui import state
from lib.ui.frame import look
from lib.ui.guard import door
from lib.ui.model import chosen_engine, is_new, model_controls
from lib.ui.rooms import QUESTIONS
from lib.ui.scene import corpora
from lib.ui.sidebar import sidebar
from lib.ui.warm import make_ready


def visit(page: Page) -> None:
    """Draw the app once: sidebar and page, or why the model cannot be used.

    While a model is being loaded, nothing of the one before it stays on screen: no picture, no number, no badge.
    """
    make_ready()
    look()
    state.boot({entry.name for entry in models.catalogue() if entry.available}, set(corpora()))
    new = is_new()
    stage = st.empty() if new else st.container()
    with st.sidebar:
        model_controls()
        rest = st.empty() if new else st.container()
    if new:
        rest.caption("Being loaded and checked; the badge follows.")
    with stage.container():
        engine = chosen_engine(QUESTIONS[page.title] if new else "")
    if engine is None:
        rest.empty()
    else:
        with rest.container():
            sidebar(engine)
        with stage.container(), door():
            page.run()
    state.write_link()
