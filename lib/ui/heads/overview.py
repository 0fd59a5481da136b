"""All layers × heads in one picture: their patterns on this text, or one cell each, coloured by a score."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lib.errors import HeadlightError
from lib.heads import IMAGE_SCORES, TEXT_SCORES
from lib.ui.heads.measures import document_table
from lib.ui.heads.wording import SCORES, SIGNED, capital, unit
from lib.ui.pictures import chosen_place, layers, overview_figure, streams
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.views import Figure, head_grid_figure, show, show_head_grid

PATTERNS = "patterns"


def controls(scene: Scene) -> tuple[str, str]:
    """What the picture shows ("patterns" or a score's name), and the stream of an encoder–decoder."""
    offered = streams(scene.engine)
    scores = IMAGE_SCORES if scene.engine.kind == "vision" else TEXT_SCORES
    names = [PATTERNS, *(score.name for score in scores), "norm_gap", "z_norm"]
    if st.session_state.get("heads-shown") not in names:
        st.session_state["heads-shown"] = PATTERNS
    with st.container(horizontal=True, vertical_alignment="bottom"):
        shown = st.selectbox(
            "Each square shows",
            names,
            format_func=lambda name: "its pattern" if name == PATTERNS else SCORES[name].label,
            key="heads-shown",
            persist_state="session",
            width=230,
        )
        if len(offered) == 1:
            return shown, offered[0]
        stream = st.segmented_control(
            "Attention", offered, default=offered[0], required=True, key="heads-stream", persist_state="session"
        )
    return shown, stream


def overview(scene: Scene, pattern: np.ndarray, stream: str, shown: str, table: pd.DataFrame | None) -> None:
    """Draw the picture of all heads; a click chooses one. table: roles where they are known."""
    chosen = chosen_place(scene, pattern, stream)
    numbers = layers(scene, stream)

    def choose(row: int, head: int) -> None:
        choose_head(numbers[row], head)

    if shown == PATTERNS:
        names, named = (None, "") if table is None else (roles(table), f"roles {table.attrs.get('documents', 1)}")
        figure = overview_figure(scene, pattern, stream, names, named)
        show_head_grid(figure, "all-heads", chosen, choose)
    else:
        show(score_figure(scene, document_table(scene, stream), shown, stream, chosen), "all-heads", choose)


def roles(table: pd.DataFrame) -> list[list[str]]:
    """The role of every head, by layer."""
    return [list(part) for _, part in table.groupby("layer")["role"]]


def score_figure(scene: Scene, table: pd.DataFrame, name: str, stream: str, chosen: tuple[int, int]) -> Figure:
    """Layers × heads coloured by a score."""
    if name not in table or table[name].isna().all():
        raise HeadlightError(
            f"{'an image' if scene.encoding.grid else 'a text'} in which “{SCORES[name].label}” is defined",
            "no such token, or no row that may look there",
            f"Choose another score or another {'image' if scene.encoding.grid else 'text'}.",
        )
    score = SCORES[name]
    span = (0.0, 1.0) if name == "entropy_share" else None
    return head_grid_figure(
        table[name].to_numpy(float).reshape(len(layers(scene, stream)), -1),
        layers(scene, stream),
        names=roles(table),
        value_name=score.label,
        unit=unit(name),
        kind="diverging" if name in SIGNED else "sequential",
        value_range=span,
        title=capital(score.label),
        note=f"{capital(score.says)}, mean over the rows of this document alone. {left_out_of(scene)}",
        chosen=chosen,
    )


def left_out_of(scene: Scene) -> str:
    """What the scores do not count."""
    lost = scene.encoding.lost
    parts = [f"{lost:,} more tokens are cut off." if lost else ""]
    if not scene.choice.special:
        parts.append("Special tokens are left out and rows renormalised over the others.")
    return " ".join(filter(None, parts))
