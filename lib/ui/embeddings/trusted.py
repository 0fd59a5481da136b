"""The map of heads by trust, and the model's mean beside the paper's number."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lib.numerals import plural, written
from lib.ui.embeddings.every import measured_trust
from lib.ui.embeddings.maps import Maps
from lib.ui.embeddings.stage import Stage
from lib.ui.embeddings.wording import PAPER
from lib.ui.state import choose_head
from lib.views import head_grid_figure, show

NUMBERS = {
    "picture_correlation": "nearer = attended more, in the picture? −Spearman (1 perfect)",
    "distance_correlation": "nearer = attended more, in the full space? −Spearman (1 perfect)",
    "key_recall": "strongest keys nearest in the picture (share)",
    "trustworthiness": "no false neighbours: trustworthiness (1: near here means near in full)",
    "continuity": "no torn neighbours: continuity (1: near in full means near here)",
}


def trust_panel(on: Stage, made: Maps) -> None:
    """Every head's small picture by a trust number; a click chooses the head."""
    if not {"query", "key"} <= set(on.ask.roles):
        st.caption("Switch on queries and keys: trust is about where they meet.")
        return
    if not made.ready.all():
        st.caption("The pictures are still being drawn; their trust is measured when all are there.")
        return
    table = measured_trust(on, made)
    if table is None:
        st.caption("Measures the small picture of every head; pictures of low trust are then marked above.")
        return
    name = st.selectbox(
        "Trust by", list(NUMBERS), format_func=NUMBERS.__getitem__, key="embeddings-trust-by", persist_state="session"
    )
    show(figure(on, table, name), "embeddings-trust-map", lambda row, head: choose_head(on.taken.layers[row], head))
    low = int((table.doubtful != "").sum())
    means = [_mean(table[name]) for name in ("distance_correlation", "picture_correlation")]
    st.caption(
        f"{plural(low, 'picture')} of {len(table)} marked: Spearman in the picture above −0.5, or trustworthiness "
        f"below 0.8, or one of them not defined. Mean over heads: {means[0]} in the full space, {means[1]} in the "
        f"pictures; {PAPER['V-distance']}."
    )


def _mean(values: pd.Series) -> str:
    """The mean of what is defined."""
    return "n/a" if values.isna().all() else written(values.mean(), ".3f")


def figure(on: Stage, table: pd.DataFrame, name: str) -> object:
    """Layers × heads coloured by a trust number."""
    grid = np.full(on.taken.query.shape[:2], np.nan)
    for row in table.itertuples():
        grid[on.taken.layer_index(row.layer), row.head] = getattr(row, name)
    signed = name.endswith("correlation")
    chance = f" Chance {table.key_recall_chance.mean():.2f}." if name == "key_recall" else ""
    return head_grid_figure(
        -grid if signed else grid,
        on.taken.layers,
        value_name="−Spearman" if signed else NUMBERS[name].split(" (")[0],
        value_range=(0.0, 1.0),
        title=NUMBERS[name][:1].upper() + NUMBERS[name][1:],
        note=f"The tokens drawn above; bright is trustworthy.{chance}",
        chosen=on.place,
    )
