"""What a model of images, without a calibration, or one that looks back only, can and cannot do here."""

from __future__ import annotations

import streamlit as st

from lib.segmentation import MEANINGS, signals_there
from lib.ui.scene import Scene
from lib.ui.segmentation.controls import Ask, calibrated_conditions
from lib.ui.segmentation.wording import SIGNAL_NAMES
from lib.ui.state import DEFAULT_MODEL


def only_text(now: Scene) -> str:
    """What to choose in place of a model of images, in one sentence."""
    return (
        f"{now.engine.name} sees images, and this page cuts text: choose a model that reads text, such as "
        f"{DEFAULT_MODEL}, under “Model”."
    )


def uncalibrated_note(now: Scene, ask: Ask) -> None:
    """Say what is missing and how to get it; nothing where nothing is missing."""
    if ask.granularity == "topic":
        return
    missing = [name for name in MEANINGS if name not in signals_there(now.engine)]
    told = []
    if not calibrated_conditions(now):
        told.append("No calibration comes with this model, so its heads are read untrained: expect far less.")
    if now.engine.causal:
        told.append("It looks back only: no token sees what follows, and no head attends ahead.")
    if missing:
        told.append("Signals it does not have: " + ", ".join(SIGNAL_NAMES[name] for name in missing) + ".")
    if not told:
        return
    st.caption(" ".join(told))
    if not calibrated_conditions(now):
        with st.expander("Calibrate this model", type="compact"):
            st.markdown("On gold sentences of your own (CoNLL-U, one a line, or JSON lines), on your own machine:")
            st.code(f"python -m lib.segmentation.calibrate gold.conllu --model {now.engine.name}", language="bash")
            st.caption("It writes one readable file per condition of text into data/calibration and prints its scores.")
