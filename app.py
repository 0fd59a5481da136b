"""Headlight's door: page settings, the choice from the link, the shared sidebar, the five pages."""

import streamlit as st

from lib import models
from lib.corpora import builtin_names
from lib.ui import state
from lib.ui.guard import door
from lib.ui.sidebar import sidebar
from lib.ui.warm import freeze_imports

PAGES = [
    st.Page("pages/heads.py", title="Heads", icon=":material/grid_on:", default=True),
    st.Page("pages/similarity.py", title="Similarity", icon=":material/join_inner:"),
    st.Page("pages/spectral.py", title="Spectral", icon=":material/graphic_eq:"),
    st.Page("pages/embeddings.py", title="Embeddings", icon=":material/scatter_plot:", visibility="hidden"),
    st.Page("pages/segmentation.py", title="Segmentation", icon=":material/segment:", visibility="hidden"),
]


def main() -> None:
    """Draw the app once."""
    freeze_imports()
    st.set_page_config(page_title="Headlight", page_icon="data/images/icon.png", layout="wide")
    available = {entry.name for entry in models.catalogue() if entry.available}
    corpora = {corpus.name for corpus in builtin_names()}
    state.boot(available, corpora)
    page = st.navigation(PAGES)
    if sidebar() is not None:
        with door():
            page.run()
    state.write_link()


main()
