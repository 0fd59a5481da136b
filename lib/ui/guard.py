"""Every page begins here: a page that was reached around the door is sent through it.

On a fresh server the first visitor's deep link can start a page file directly, before ``app.py`` has declared the
navigation; the door is then run on its behalf.
"""

from __future__ import annotations

import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import streamlit as st

DOOR = Path(__file__).resolve().parents[2] / "app.py"


@contextmanager
def door() -> Iterator[None]:
    """Mark, for the length of one run, that the page is being reached through ``app.py``."""
    st.session_state["through_the_door"] = True
    try:
        yield
    finally:
        del st.session_state["through_the_door"]


def through_the_door() -> None:
    """Run ``app.py`` and stop, if this page is not being reached through it; otherwise do nothing."""
    if "through_the_door" not in st.session_state:
        runpy.run_path(str(DOOR), run_name="__main__")
        st.stop()
