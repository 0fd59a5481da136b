"""Switch heads off: what it does to the loss and to the predictions; every head alone; how many heads can go."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import streamlit as st

from lib.corpora import Document
from lib.heads import ablate, predictions
from lib.heads.effects import names as names_of
from lib.heads.outcome import Head
from lib.ui import cached
from lib.ui.captured import encodings
from lib.ui.heads.alone import alone_panel, asked
from lib.ui.heads.measures import every_head, key_of, stream_of
from lib.ui.heads.prune import prune_panel
from lib.ui.heads.wording import capital, number, signed
from lib.ui.message import guarded
from lib.ui.progress import progress_line
from lib.ui.scene import Scene
from lib.views import flow, palette

MODES = {"zero": "zero", "mean": "its mean over these documents"}
LISTED = 60  # predictions in the table


def switch_off_panel(scene: Scene, documents: tuple[Document, ...], stream: str, layer: int, head: int) -> None:
    """Draw the set of heads, the change of the loss and of predictions, every head alone, and the pruning curve."""
    every = every_head(scene, stream)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = st.multiselect(
            "Heads that are off",
            every,
            format_func=lambda pair: f"L{pair[0]} H{pair[1]}",
            key=f"heads-off-{len(every)}",
            placeholder=f"the chosen one, L{layer} H{head}",
            persist_state="session",
        )
        mode = st.segmented_control(
            "Put in their place",
            list(MODES),
            format_func=MODES.__getitem__,
            default="zero",
            required=True,
            key="heads-off-mode",
            persist_state="session",
        )
    off = [tuple(pair) for pair in chosen] or [(layer, head)]
    key = f"{key_of(scene, documents, stream)} {mode}"
    if st.toggle(f"Measure what switching {names_of(off)} off does", key="heads-off-on", persist_state="session"):
        with guarded("the effect of these heads"):
            _effect(scene, documents, stream, off, mode, key)
    st.divider()
    with guarded("the effect of every head"):
        alone_panel(scene, documents, stream, mode, key)
    st.divider()
    with guarded("the pruning of heads"):
        prune_panel(scene, documents, stream, mode, key)


def _effect(scene: Scene, documents: tuple[Document, ...], stream: str, off: list[Head], mode: str, key: str) -> None:
    """The change of the loss with its interval, and where in the chosen document predictions change."""

    def build() -> pd.DataFrame:
        read = encodings(scene, documents, scene.engine)
        with progress_line() as progress:
            return ablate(scene.engine, read, off, mode, stream_of(stream), progress)

    found = cached.kept("heads: off", f"{key} {off}", build)
    row = found.iloc[0]
    change = f"**{signed(row['change'], 3)}**"
    if not np.isnan(row["change_low"]):
        change += f" [{signed(row['change_low'])}, {signed(row['change_high'])}]"
    distance = "distance" in row["measure"]
    told = change if distance else f"{number(row['loss'])} → {number(row['loss_off'])}, change {change}"
    st.markdown(f"{capital(row['measure'])}: {told}")
    st.caption(
        f"{asked(found)}{'' if np.isnan(row['change_low']) else '; interval: 95 % over documents'}. "
        f"The output moved: largest relative change {number(row['moved'])}."
    )
    with st.spinner(f"Reading “{scene.document.name}” with and without", show_time=True):
        changed = cached.kept(
            "heads: predictions",
            f"{key_of(scene, (scene.document,), stream)} {mode} {off}",
            lambda: predictions(scene.engine, scene.encoding, off, mode, stream_of(stream)),
        )
    if changed.empty:
        st.caption("This document holds nothing to predict.")
        return
    if scene.encoding.grid is None:
        _where(scene, changed, stream)
    if not distance:
        _listed(changed)


def _listed(changed: pd.DataFrame) -> None:
    """What is predicted with the heads on and off, side by side."""
    st.dataframe(
        _readable(changed).head(LISTED),
        hide_index=True,
        width="stretch",
        height=min(36 + 35 * min(LISTED, len(changed)), 280),
        column_config={
            name: st.column_config.NumberColumn(format="%.3g", width="small")
            for name in ("pos", "P(truth), on", "P(truth), off", "divergence")
        },
    )
    st.caption(
        f"The chosen document, predictions that change most first (Kullback–Leibler divergence, nats): "
        f"{min(LISTED, len(changed))} of {len(changed):,}."
    )


def _where(scene: Scene, changed: pd.DataFrame, stream: str) -> None:
    """The running text, each token shaded by how much is changed at it."""
    target = stream in ("decoder", "cross") or scene.engine.head == "seq2seq-lm"
    table = scene.encoding.target_table if target else scene.encoding.table
    text = (scene.document.target or scene.document.text) if target else scene.document.text
    strength = np.zeros(len(table))
    known = changed[changed["pos"] < len(table)]
    strength[known["pos"].to_numpy(int)] = known["divergence" if "divergence" in known else "distance"]
    most = float(strength.max()) or 1.0
    pieces, gaps = flow(text, table.start, table.end, table.text)
    beside = np.r_[False, table.is_special[:-1]] | table.is_special  # a space around what is no part of the text
    spans = [
        f"{' ' if apart else ''}{html.escape(gap)}<span title='{number(value)}' style='border-radius:3px;background:"
        f"color-mix(in srgb, {palette.OUTPUT} {round(80 * value / most)}%, transparent)'>{html.escape(piece)}</span>"
        for piece, gap, value, apart in zip(pieces, gaps, strength, beside, strict=True)
    ]
    st.html(f"<div style='line-height:1.9;max-height:18rem;overflow-y:auto'>{''.join(spans)}</div>")
    what = "what is predicted at a token" if "divergence" in changed else "a token's output"
    st.caption(
        f"Shaded by how much {what} changes, up to {number(most)}; point at a token for its own."
        if strength.any()
        else f"Not shaded: {what} does not change measurably here."
    )


def _readable(found: pd.DataFrame) -> pd.DataFrame:
    """Predictions as a table: the most probable tokens as text, the largest change first."""
    shown = found.sort_values("divergence", ascending=False, kind="stable")
    for side in ("on", "off"):
        shown[side] = ["  ".join(f"{text} {chance:.2f}" for text, chance in best) for best in shown[side]]
    names = {"p_on": "P(truth), on", "p_off": "P(truth), off", "on": "predicted, on", "off": "predicted, off"}
    return shown.rename(columns=names)
