"""Similarity: which tokens does a head draw together?"""

from lib.ui.guard import through_the_door

through_the_door()

from functools import partial

import pandas as pd
import streamlit as st

from lib.ui.downloads import download_row, provenance
from lib.ui.frame import how_to_read, question
from lib.ui.message import guarded
from lib.ui.scene import Scene, scene
from lib.ui.similarity.anchors import anchor_panel
from lib.ui.similarity.claims import claims
from lib.ui.similarity.controls import controls
from lib.ui.similarity.document import document_outputs, matrices
from lib.ui.similarity.heads import head_map, head_numbers
from lib.ui.similarity.layers import layers
from lib.ui.similarity.measures import Ask, corpus_facts, head_table, measured
from lib.ui.similarity.pairs import pairs
from lib.ui.similarity.uses import uses
from lib.ui.similarity.wording import STATISTICS, by_unit
from lib.ui.tables import csv_table
from lib.views import figure_html

SECTIONS = {"layers": "Layers", "anchors": "Anchors", "verdicts": "Verdicts", "uses": "Uses"}

HOW_TO_READ = """
**What is compared.** Every attention head writes one vector per token, z: the values it gathered, before the output
projection. Two tokens are *similar* in a head when their vectors are, by scalar product (long vectors dominate) or by
cosine (length does not count). In each document the most similar pairs are selected, 1 % unless you change it.

**The map** colours every head by what its similar pairs have in common: how far apart they stand, whether they share
a sentence, whether they are one word repeated. *÷ chance* divides by what pairs drawn at random from the same
documents would give: white is chance, red above, blue below. Only heads whose interval leaves chance out say anything.

**The matrix** shows the chosen head on the chosen document; fine lines mark sentences. The attention map beside it is
another object: it says where a head looks, not which tokens come out alike. With *words* as the unit both show words,
as the statistics count them: a word's vector is the mean of its tokens'; attention to a word is the sum over its
tokens, attention from a word their mean.

**An anchor** is a token at which many similar pairs end. Under the scalar product it may be nothing but a long
vector, which the norm check tells.

**What this does not tell.** Similar outputs need not matter to the model's answer, and a small corpus decides little:
look at the intervals.
"""


def document(now: Scene, ask: Ask, table: pd.DataFrame) -> None:
    """The chosen head on the chosen document: matrix, attention map, pairs, downloads."""
    taken = document_outputs(now, ask)
    figure = matrices(now, ask, taken)
    listed = pairs(now, ask, taken)
    settings = {name: value for name, value in vars(ask).items() if name != "documents"}
    facts = provenance(now, **settings)
    stem = f"headlight-similarity-L{now.choice.layer}-H{now.choice.head}"
    every = corpus_facts(now, ask)
    files = {
        "Matrix as a page": (f"{stem}.html", "text/html", lambda: figure_html(figure, facts)),
        "Pairs as CSV": (f"{stem}-pairs.csv", "text/csv", partial(csv_table, listed, facts)),
        "All heads as CSV": ("headlight-similarity.csv", "text/csv", partial(csv_table, table, every)),
    }
    download_row(files, "similarity")


@st.fragment(key="panel")
@guarded("this page")
def panel() -> None:
    """Everything that depends on document, layer and head; what is slow in it is kept by settings."""
    now = scene()
    ask, name, lifted = controls(now)
    with guarded("the similarities of these documents"):
        found, table = measured(now, ask), head_table(now, ask)
        left, right = st.columns([5, 3], gap="large")
        with left:
            head_map(now, found, table, name, lifted)
            st.caption(by_unit(STATISTICS[name].meaning, ask.words))
        with right:
            head_numbers(now, found, table)
        with guarded("the similarities of this document"):
            document(now, ask, table)
        section = st.segmented_control(
            "Section",
            list(SECTIONS),
            format_func=SECTIONS.__getitem__,
            default="layers",
            required=True,
            key="similarity-section",
            label_visibility="collapsed",
            persist_state="session",
        )
        with guarded(SECTIONS[section].lower()):
            if section == "anchors":
                anchor_panel(now, ask, found)
            elif section == "verdicts":
                claims(now, ask)
            elif section == "uses":
                uses(now, ask, found, table)
            else:
                layers(now, ask, found, name, lifted)


question("Which tokens does a head draw together?")
panel()
how_to_read(HOW_TO_READ)
