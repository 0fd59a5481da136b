"""The way in: every page is reached through ``app.py``, also on a server that has served nobody yet.

Until ``st.navigation`` has been called once, Streamlit takes the files of ``pages/`` for pages of their own: the very
first visit runs ``app.py``, or the page behind a deep link, as such a page. What is drawn in that run belongs to a
page that soon no longer exists, and a click on it is lost. So that run only declares the rooms and starts again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st
from streamlit.navigation.page import Page

from lib.ui.rooms import navigation

INSIDE = "through_the_door"


def declared() -> Page:
    """The page that this visit asks for; a session's first run ends here and begins again, the rooms being known."""
    page = navigation()
    if "declared" not in st.session_state:
        st.session_state["declared"] = True
        st.rerun()
    return page


@contextmanager
def door() -> Iterator[None]:
    """Mark, for the length of one run, that the page is being reached through ``app.py``."""
    st.session_state[INSIDE] = True
    try:
        yield
    finally:
        del st.session_state[INSIDE]


def through_the_door() -> None:
    """Do nothing on a page reached through ``app.py``; send any other there, before it imports or draws anything."""
    if INSIDE not in st.session_state:
        navigation()
        st.session_state["declared"] = True
        st.rerun()
