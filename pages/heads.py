"""Heads: what does each head do?"""

from lib.ui.guard import through_the_door

through_the_door()

import streamlit as st

from lib.ui.downloads import pattern_downloads
from lib.ui.frame import how_to_read, question
from lib.ui.heads.numbers import numbers
from lib.ui.heads.one import one_head
from lib.ui.heads.overview import controls, overview
from lib.ui.heads.panels import corpus_or_document, known_roles, panels
from lib.ui.heads.windows import window_view, windowed
from lib.ui.message import guarded
from lib.ui.pictures import scene_patterns
from lib.ui.scene import scene

HOW_TO_READ = """
**The large picture** holds one small square per head: layers from top to bottom, heads from left to right. Inside a
square, rows are the tokens that look (queries), columns the tokens they look at (keys); brighter means more attention.
Each square is scaled to its own maximum, and every cell shows the *largest* weight it covers, so that sharp, sparse
heads stay visible. Click a square, or move with the arrow keys. It can also be coloured by any score.

**The numbers** say how much of a row lies where, beside what rows that attend uniformly would give. A role holds where
a score lies far enough above chance; on one document alone it stays unsure, "none clear" is an honest answer.
They are of the document on screen until a panel below has measured several; the head of the column says which. Point at
an underlined name for what it means. *Entropy ÷ most* is 0 where every token looks at one place and 1 where it looks
everywhere alike; *confidence* is the largest weight a token gives; *norm gap* tells by how much queries are longer than
keys; *induction* is looking at what followed the same token earlier on.

**The chosen head** is shown on the text itself, as lines and as a heatmap. Hover a token to see where it looks; click
to hold it, and hold several to add them up. Hatched pairs are masked: the model cannot look there.

**What attention does not tell.** A bright cell says where a head reads from, not what it passes on, nor that the
model's answer depends on it. Whether it does is a question for switching the head off.
"""


@st.fragment(key="panel")
@guarded("this page")
def panel() -> None:
    """Everything that depends on document, layer and head."""
    now = scene()
    if windowed(now.engine):
        with guarded("the windows of this image"), st.spinner("Reading this image window by window", show_time=True):
            window_view(now)
        return
    shown, stream = controls(now)
    with guarded(f"the attention of this {'image' if now.encoding.grid else 'text'}"):
        with st.spinner(f"Reading “{now.document.name}”, all heads", show_time=True):
            pattern = scene_patterns(now, stream)
        left, right = st.columns([11, 4], gap="medium")
        with left:
            with guarded("the picture of all heads"):
                overview(now, pattern, stream, shown, known_roles(now, stream))
            with guarded("the chosen head"):
                figure = one_head(now, pattern, stream)
                pattern_downloads(now, pattern, figure, stream)
        with right, guarded("the numbers of this head"):  # after the pictures: on a new text it takes a second
            numbers(now, *corpus_or_document(now, stream), stream, pattern)
        panels(now, stream, pattern)


question("What does each head do?")
panel()
how_to_read(HOW_TO_READ)
