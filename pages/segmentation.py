"""Segmentation: where does the model think a sentence, or a topic, ends?"""

from lib.ui.guard import through_the_door

through_the_door()

import streamlit as st

from lib.ui.frame import how_to_read, question
from lib.ui.message import guarded
from lib.ui.scene import scene
from lib.ui.segmentation.benchmark import benchmark_panel
from lib.ui.segmentation.controls import control_row, granularity_control, way_controls
from lib.ui.segmentation.cutting import made, spoken_note
from lib.ui.segmentation.methods import methods_panel
from lib.ui.segmentation.picture import at_threshold, downloads, numbers, picture
from lib.ui.segmentation.signals import signals_panel
from lib.ui.segmentation.source import buttons, chosen_source, described, shown_condition, text_box
from lib.ui.segmentation.uncalibrated import only_text, uncalibrated_note

SECTIONS = {"signals": "Signals", "methods": "Methods on this text", "benchmark": "Benchmark"}

HOW_TO_READ = """
**The segments.** Every place between two words has a confidence between 0 and 1, drawn as the curve under the text.
Where it reaches the threshold, the text is cut. Dragging the threshold computes nothing anew. The calibrated
threshold is 0.50: the one that gave the best balance of missed and false boundaries on text it had not seen.

**Three strengths.** One *untrained* signal shows what attention says by itself. *All heads* weighs 18 signals and the
queries, keys, values and outputs z of every head by a small regression, fitted once on English web text. *All heads and
surface cues* also reads punctuation, capitals, line ends and small words. On punctuated text attention adds little to
those; on a transcript without punctuation it is nearly everything.

**Topics.** Every sentence is read alone and becomes a vector; a topic ends where the vectors change for good. How many
topics there are is decided by what cutting would gain if the sentences stood in random order. A topic's name is made
of the words that it has and the others lack.

**Scores.** Precision: of the boundaries found, how many are true; recall: of the true ones, how many were found; F1
balances both. Pk and WindowDiff count windows in which the two sides differ: 0 is perfect.

**What this does not tell.** Where people themselves disagree on where a spoken sentence ends, no score near 1 can be
had. The times in the subtitles are those of reading aloud at 150 words a minute, not of your recording.
"""


@st.fragment(key="panel")
@guarded("this page")
def panel() -> None:
    """Everything below the title; a cut is kept by model, text and settings."""
    now = scene()
    if now.engine.kind == "vision":
        st.info(only_text(now))
        return
    with guarded("this text"):
        pasted = text_box()
        with st.container(horizontal=True, vertical_alignment="center"):
            buttons(described(now, pasted))
        with control_row():
            granularity, segments = granularity_control()
            shown = "written" if pasted else shown_condition()
            ask = way_controls(now, granularity, segments)
        source = chosen_source(now, pasted, shown)
        uncalibrated_note(now, ask)
        found = made(now, source, ask)
        spoken_note(found, ask)
        cut = None if found is None else at_threshold(found)
        if cut is not None:
            left, right = st.columns([11, 4], gap="medium")
            with left:
                figure = picture(found, cut, source)
                downloads(now, found, cut, source, ask, figure)
            with right:
                numbers(now, found, cut, source, ask)
        section = st.segmented_control(
            "Look closer", list(SECTIONS), format_func=SECTIONS.__getitem__, key="segmentation-section",
            persist_state="session", label_visibility="collapsed",
        )  # fmt: skip
        with guarded("this section"):
            if section == "signals":
                signals_panel(now, source, ask, cut)
            elif section == "methods":
                methods_panel(now, source, ask, shown, cut)
            elif section == "benchmark":
                benchmark_panel(now, ask)


question("Where does the model think a sentence, or a topic, ends?")
panel()
how_to_read(HOW_TO_READ)
