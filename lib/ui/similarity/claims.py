"""The paper's five claims, decided on the current model and corpus against chance and the untrained twin."""

from __future__ import annotations

import streamlit as st

from lib.similarity import halevi
from lib.ui.captured import corpus_key
from lib.ui.scene import Scene
from lib.ui.similarity.measures import Ask, corpus_name, documents, evidence, kept_here, twin_evidence
from lib.ui.verdicts import verdict_panel
from lib.verdicts import Verdict


def claims(scene: Scene, ask: Ask) -> None:
    """Measure and show the verdicts; tokens without special ones, whatever the controls say (as the rules do)."""
    twin = st.toggle(
        "Compare with the untrained twin",
        value=True,
        key="similarity-twin",
        persist_state="session",
        help="The same architecture with freshly drawn weights, on the same documents. Some claims need it.",
    )
    verdict_panel(verdicts(scene, ask, twin), "similarity-verdicts")
    st.caption("Decided on tokens, special tokens left out, by both similarities, whatever is chosen above.")


def verdicts(scene: Scene, ask: Ask, twin: bool) -> list[Verdict]:
    """The five verdicts; a twin is built, measured and released."""
    corpus = corpus_name(scene)

    def build() -> list[Verdict]:
        return halevi(evidence(scene, ask), twin_evidence(scene, ask) if twin else None, corpus)

    key = f"{corpus_key(scene, documents(scene, ask), scene.engine)} {ask.top} {ask.stream} {twin} {corpus}"
    return kept_here("verdicts", key, build)
