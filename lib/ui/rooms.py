"""The five rooms of the navigation and their questions. Light: it is needed before anything heavy is imported."""

from __future__ import annotations

import streamlit as st
from streamlit.navigation.page import Page

QUESTIONS = {  # title of a page -> the one question it answers
    "Heads": "What does each head do?",
    "Similarity": "Which tokens does a head draw together?",
    "Spectral": "At which distances does attention live, and how many patterns does it take?",
    "Embeddings": "Where do queries meet keys?",
    "Segmentation": "Where does the model think a sentence, or a topic, ends?",
}


def navigation() -> Page:
    """Declare the app and its rooms to Streamlit; returns the page that this visit asks for."""
    # First of all: without an icon of its own the browser's tab asks a font server for the page's.
    st.set_page_config(page_title="Headlight", page_icon="data/images/icon.png", layout="wide")
    return st.navigation(
        [
            st.Page("pages/heads.py", title="Heads", icon=":material/grid_on:", default=True),
            st.Page("pages/similarity.py", title="Similarity", icon=":material/join_inner:"),
            st.Page("pages/spectral.py", title="Spectral", icon=":material/graphic_eq:"),
            st.Page("pages/embeddings.py", title="Embeddings", icon=":material/scatter_plot:"),
            st.Page("pages/segmentation.py", title="Segmentation", icon=":material/segment:"),
        ]
    )
