"""The paper's claims about attention fields, decided on the current model and texts."""

from __future__ import annotations

import streamlit as st

from lib.spectral import Evidence, evidence, zeris
from lib.ui import cached
from lib.ui.message import guarded
from lib.ui.progress import progress_line
from lib.ui.scene import Scene, corpora_for
from lib.ui.spectral.heads import last_check
from lib.ui.spectral.measures import EPSILON, Ask, field_key, fields, grams
from lib.ui.verdicts import verdict_panel


@st.fragment
def claims_section(now: Scene, ask: Ask) -> None:
    """Measure what the claims need, once, and show the verdicts."""
    with guarded("the paper's claims on these texts"):
        found = measured(now, ask)
        corpus = corpora_for("text")[now.choice.corpus]
        verdict_panel(zeris(found, corpus, last_check(now, ask)), "spectral-verdicts")
        st.caption(
            "The paper's six layers are mapped to this model's by depth. Where the "
            "paper's digest reads T_spec both ways, both readings stand among the parts. Spectrum, mode, scale and "
            "coherency are words from turbulence: the analogy with turbulence is structural, not physical."
        )


def measured(now: Scene, ask: Ask) -> Evidence:
    """What the claims need, from the fields that the page shows; heads from one more pass where they are not known."""

    def build() -> Evidence:
        known, heads = fields(now, ask), grams(now, ask)
        with progress_line() as progress:
            return evidence(known, heads, now.engine.name, EPSILON, progress)

    return cached.kept("spectral claims", field_key(now, ask), build)
