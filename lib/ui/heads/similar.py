"""Heads that attend alike: a clustered map of distances, and groups in which one could stand in for another."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib.corpora import Document
from lib.heads import leaf_order, redundancy_groups
from lib.numerals import plural
from lib.ui.heads.measures import corpus_likeness, every_head
from lib.ui.heads.wording import number
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.views import heatmap

KINDS = {
    "js": "Jensen–Shannon distance (0 same, 0.83 disjoint), over 256 rows spread over the documents",
    "hellinger": "mean squared Hellinger distance (0 same, 1 disjoint), over all rows",
}
NAMES = {"js": "Jensen–Shannon", "hellinger": "Hellinger"}
AT_FIRST = {"js": 0.3, "hellinger": 0.1}
MOST = {"js": 0.8, "hellinger": 0.5}


def similar_panel(scene: Scene, documents: tuple[Document, ...], stream: str, layer: int, head: int) -> None:
    """Draw the clustered map and the groups."""
    heads = every_head(scene, stream)
    if len(heads) < 2:
        st.caption("One head is all there is here: it has no like.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        kind = st.segmented_control(
            "Distance",
            list(NAMES),
            format_func=NAMES.__getitem__,
            default="js",
            required=True,
            key="heads-distance",
            persist_state="session",
        )
        threshold = st.slider(
            "One group up to",
            0.0,
            MOST[kind],
            AT_FIRST[kind],
            0.01,
            key=f"heads-threshold-{kind}",
            persist_state="session",
            width=260,
        )
    distances = corpus_likeness(scene, documents, stream, kind)
    order = leaf_order(distances)
    labels = [f"L{heads[i][0]} H{heads[i][1]}" for i in order]
    at = next((place for place, i in enumerate(order) if heads[i] == (layer, head)), None)
    left, right = st.columns([3, 2], gap="large")
    with left:
        heatmap(
            distances[np.ix_(order, order)],
            key="heads-clusters",
            on_choose=lambda row, _: choose_head(*heads[order[row]]),
            row_labels=labels,
            column_labels=labels,
            row_title="head",
            column_title="head",
            title=f"Distance of attention, {len(heads)} heads in the order of their clusters",
            note=f"{plural(len(documents), 'document')}. {KINDS[kind]}. Dark is alike. "
            "Average linkage, optimal leaf order.",
            value_name="distance",
            chosen=None if at is None else (at, at),
            lag=False,
            height=520,
        )
    with right:
        _groups(distances, heads, threshold, (layer, head))


def _groups(distances: np.ndarray, heads: list[tuple[int, int]], threshold: float, chosen: tuple[int, int]) -> None:
    """Groups of heads in which every two are within the threshold."""
    groups = redundancy_groups(distances, threshold)
    spared = sum(len(group) - 1 for group in groups)
    st.markdown(f"**{plural(len(groups), 'group')}** in which every two heads are at most {threshold:.2f} apart")
    st.caption(
        f"Were one head of each enough, {spared} of {len(heads)} could go. Whether it is, only switching off tells: "
        "heads that look alike may pass on different things."
    )
    for place, group in enumerate(groups[:12]):
        names = " · ".join(f"L{heads[i][0]} H{heads[i][1]}" for i in group)
        part = distances[np.ix_(group, group)]
        own = chosen in [heads[i] for i in group]
        st.text(f"{'→ ' if own else ''}{place + 1}  {names}   (largest {number(float(part.max()))})")
    if len(groups) > 12:
        st.caption(f"Not listed: {plural(len(groups) - 12, 'smaller group')}.")
