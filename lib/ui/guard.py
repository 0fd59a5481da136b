"""Every page begins here: a page that was reached around the door is sent through it.

On a fresh server the first visitor's deep link can start a page file directly, before ``app.py`` has declared the
navigation; the door is then run on its behalf.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import streamlit as st

DOOR = Path(__file__).resolve().parents[2] / "app.py"


def through_the_door() -> None:
    """Run ``app.py`` and stop, if this session has not come through it yet; otherwise do nothing."""
    if "booted" not in st.session_state:
        runpy.run_path(str(DOOR), run_name="__main__")
        st.stop()
