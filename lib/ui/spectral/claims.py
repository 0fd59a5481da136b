"""The paper's claims about attention fields, decided on the current model and texts."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from lib.errors import HeadlightError
from lib.spectral import Evidence, evidence, zeris
from lib.spectral.claims import LONG_ENOUGH
from lib.ui import cached
from lib.ui.message import guarded
from lib.ui.progress import progress_line
from lib.ui.scene import Scene, corpora_for
from lib.ui.spectral.controls import easy_text
from lib.ui.spectral.heads import last_check
from lib.ui.spectral.measures import EPSILON, Ask, cut_windows, field_key, fields, grams
from lib.ui.verdicts import verdict_panel

LONGER = 128  # tokens of a window that reaches the scales of every claim
FEWEST = 3


@st.fragment
def claims_section(now: Scene, ask: Ask) -> None:
    """Measure what the claims need, once, and show the verdicts."""
    with guarded("the paper's claims on these texts"):
        found = measured(now, ask)
        if found.length < LONG_ENOUGH:
            longer_windows(now, ask)
        corpus = corpora_for("text")[now.choice.corpus]
        verdict_panel(zeris(found, corpus, last_check(now, ask)), "spectral-verdicts")
        st.caption(
            "The paper's six layers are mapped to this model's by depth. Where the "
            "paper's digest reads T_spec both ways, both readings stand among the parts. Spectrum, mode, scale and "
            "coherency are words from turbulence: the analogy with turbulence is structural, not physical."
        )


def longer_windows(now: Scene, ask: Ask) -> None:
    """What the claim about scales needs, one click away where model and texts allow it."""
    taken = cut_windows(now, ask)
    need = f"The first claim compares scales up to 20 tokens, which windows of {taken.length} tokens do not reach"
    try:
        enough = len(cut_windows(now, replace(ask, length=LONGER))) >= FEWEST
    except HeadlightError:
        enough = False
    if not enough:
        st.caption(f"{need}; neither do longer ones of these texts in this model: choose longer texts.")
        if taken.length == taken.wanted:  # where it is not, the page offers it already
            easy_text(now)
        return
    st.caption(f"{need}.")
    st.button(f"Take windows of {LONGER} tokens", key="spectral-longer", on_click=_longer, icon=":material/straighten:")


def _longer() -> None:
    st.session_state["spectral-length"] = LONGER


def measured(now: Scene, ask: Ask) -> Evidence:
    """What the claims need, from the fields that the page shows; heads from one more pass where they are not known."""

    def build() -> Evidence:
        known, heads = fields(now, ask), grams(now, ask)
        with progress_line() as progress:
            return evidence(known, heads, now.engine.name, EPSILON, progress)

    return cached.kept("spectral claims", field_key(now, ask), build)
