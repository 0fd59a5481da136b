"""The panels below the chosen head: which one is open, and how many documents it is measured on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lib.corpora import Document
from lib.ui.counts import document_count
from lib.ui.heads.catalogue import catalogue_panel
from lib.ui.heads.corpus import corpus_panel
from lib.ui.heads.measures import catalogue, document_table, known_catalogue, known_document_table
from lib.ui.heads.patches import patches_panel
from lib.ui.heads.similar import similar_panel
from lib.ui.heads.switch_off import switch_off_panel
from lib.ui.heads.whole import whole_panel
from lib.ui.message import guarded
from lib.ui.pictures import chosen_place, layers
from lib.ui.scene import Scene

SECTIONS = ("Catalogue", "This head over the corpus", "Similar heads", "Switch off", "Whole model")
PATCHES = "Patches"  # of images
FEW_DOCUMENTS = 6  # at first: enough for an interval, quick to read


def asked_documents(scene: Scene) -> tuple[Document, ...]:
    """The documents that the panels are measured on, as many as the control says."""
    count = st.session_state.get("heads-documents", FEW_DOCUMENTS)
    return scene.documents[: max(1, min(count, len(scene.documents)))]


def corpus_or_document(scene: Scene, stream: str) -> tuple[pd.DataFrame, int]:
    """The table of the corpus where it has been measured, else of the chosen document; and of how many documents."""
    found = _over_several(scene, stream)
    return (document_table(scene, stream), 1) if found is None else (found, len(asked_documents(scene)))


def known_roles(scene: Scene, stream: str) -> pd.DataFrame | None:
    """The same table where it has been measured already: nothing is computed for a tooltip."""
    found = _over_several(scene, stream)
    return known_document_table(scene, stream) if found is None else found


def _over_several(scene: Scene, stream: str) -> pd.DataFrame | None:
    """The catalogue where it has been measured over several documents: one alone need not be the chosen one."""
    documents = asked_documents(scene)
    return known_catalogue(scene, documents, stream) if len(documents) > 1 else None


def panels(scene: Scene, stream: str, pattern: np.ndarray) -> None:
    """Draw the open panel; none at first, so that the page is there at once."""
    offered = (*SECTIONS, PATCHES) if scene.encoding.grid else SECTIONS
    if st.session_state.get("heads-section") not in offered:
        st.session_state["heads-section"] = None
    with st.container(horizontal=True, vertical_alignment="bottom"):
        section = st.segmented_control("Over the corpus", offered, key="heads-section", persist_state="session")
        document_count("heads-documents", len(scene.documents), FEW_DOCUMENTS)
    documents = asked_documents(scene)
    row, head = chosen_place(scene, pattern, stream)
    layer = layers(scene, stream)[row]
    if section is None:
        st.caption("Rank all heads, read this one over many documents, find its like, or switch it off.")
        return
    with guarded(section.lower()):
        if section == SECTIONS[0]:
            catalogue_panel(scene, catalogue(scene, documents, stream), len(documents))
        elif section == SECTIONS[1]:
            corpus_panel(scene, documents, stream, layer, head)
        elif section == SECTIONS[2]:
            similar_panel(scene, documents, stream, layer, head)
        elif section == SECTIONS[3]:
            switch_off_panel(scene, documents, stream, layer, head)
        elif section == PATCHES:
            patches_panel(scene, documents, stream, pattern)
        else:
            whole_panel(scene, documents, stream, pattern)
