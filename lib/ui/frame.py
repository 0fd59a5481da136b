"""What every page has in common around its pictures: the question, the explanation, and an honest absence."""

from __future__ import annotations

import streamlit as st

ALIGNED = """<style>
/* Controls that stand in one row are equally high, so that their labels stand in one line too; what does not fit
   beside the others, as on a telephone, goes on in the next line instead of being cut off. */
[data-testid="stButtonGroup"] :is([role="radiogroup"], [role="group"]) { flex-wrap: wrap; }
[data-testid="stButtonGroup"] :is([role="radiogroup"], [role="group"]) button { min-height: 2.5rem; }
</style>"""


def look() -> None:
    """What Streamlit's theme cannot say of controls; once per run, before anything is drawn."""
    st.html(ALIGNED)


def question(text: str) -> None:
    """The page's title: the one question it answers."""
    st.header(text, anchor=False)


def how_to_read(markdown: str) -> None:
    """The explanation below the pictures, folded. ``markdown`` is the product's own prose, never user text."""
    with st.expander("How to read this", icon=":material/help:"):
        st.markdown(markdown)
