"""What every page has in common around its pictures: the question, the explanation, and an honest absence."""

from __future__ import annotations

import streamlit as st


def question(text: str) -> None:
    """The page's title: the one question it answers."""
    st.header(text, anchor=False)


def how_to_read(markdown: str) -> None:
    """The explanation below the pictures, folded. ``markdown`` is the product's own prose, never user text."""
    with st.expander("How to read this", icon=":material/help:"):
        st.markdown(markdown)


def not_built(room: str, purpose: str) -> None:
    """Say that a page has no room behind it yet, and where to go instead."""
    with st.container(border=True):
        st.markdown(f":material/construction: **{room} is not built yet.** {purpose}")
        st.page_link("pages/heads.py", label="Go to Heads", icon=":material/grid_on:")
