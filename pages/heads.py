"""Heads: what does each head do?"""

import streamlit as st

from lib.ui.downloads import pattern_downloads
from lib.ui.frame import how_to_read, question
from lib.ui.guard import through_the_door
from lib.ui.message import guarded
from lib.ui.pictures import head_figure, overview_figure, scene_patterns
from lib.ui.scene import scene
from lib.ui.state import choose_head
from lib.views import show, show_head_grid

through_the_door()

HOW_TO_READ = """
**The large picture** holds one small square per head: layers from top to bottom, heads from left to right. Inside a
square, rows are the tokens that look (queries), columns the tokens they look at (keys); brighter means more attention.
Each square is scaled to its own maximum, and every cell shows the *largest* weight it covers, so that sharp, sparse
heads stay visible. Click a square, or move with the arrow keys.

**The chosen head** is shown on the text itself, as lines and as a heatmap. Hover a token to see where it looks; click
to hold it, and hold several to add them up. Hatched pairs are masked: the model cannot look there.

**What attention does not tell.** A bright cell says where a head reads from, not what it passes on, nor that the
model's answer depends on it. Whether it does is a question for switching the head off.
"""


@st.fragment(key="panel")
def panel() -> None:
    """Everything that depends on document, layer and head."""
    now = scene()
    with guarded("the attention of this text"):
        pattern = scene_patterns(now)
        chosen = now.choice.layer, now.choice.head
        show_head_grid(overview_figure(now, pattern), "all-heads", chosen, choose_head)
        figure = head_figure(now, pattern)
        show(figure, "one-head")
        pattern_downloads(now, pattern, figure)


question("What does each head do?")
panel()
how_to_read(HOW_TO_READ)
