"""Switch heads off: what it does to the loss and to the predictions, and how many heads can go."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.corpora import Document
from lib.heads import (
    ablate,
    greedy_pruning,
    predictions,
    pruning_curves,
    random_orders,
    removable,
    role_effects,
    sweep,
)
from lib.heads.effects import names as names_of
from lib.heads.outcome import Head
from lib.models import Engine
from lib.ui import cached
from lib.ui.captured import encodings
from lib.ui.downloads import download_row, provenance
from lib.ui.heads.job import worked
from lib.ui.heads.measures import every_head, key_of, stream_of
from lib.ui.heads.wording import number
from lib.ui.progress import Progress, progress_line
from lib.ui.scene import Scene
from lib.ui.tables import csv_table
from lib.ui.state import choose_head
from lib.views import charts, head_grid_figure, show

MODES = {"zero": "zero", "mean": "its mean over these documents"}
STEPS = 12  # measured along the random orders


def switch_off_panel(
    scene: Scene, documents: tuple[Document, ...], stream: str, layer: int, head: int, table: pd.DataFrame
) -> None:
    """Draw the set of heads, the change of the loss, predictions, the sweep and the pruning curve.

    table: roles of the heads, to stand beside their effects.
    """
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
            key="heads-off-mode",
            persist_state="session",
        )
    mode = mode or "zero"
    off = [tuple(pair) for pair in chosen] or [(layer, head)]
    key = f"{key_of(scene, documents, stream)} {mode}"
    st.markdown(f"**{names_of(off)} off**")
    if st.toggle("Measure what that does", key="heads-off-on", persist_state="session"):
        _effect(scene, documents, stream, off, mode, key)
    left, right = st.columns(2, gap="large")
    with left:
        _sweep(scene, documents, stream, mode, key, table)
    with right:
        _pruning(scene, documents, stream, mode, key)


def _effect(scene: Scene, documents: tuple[Document, ...], stream: str, off: list[Head], mode: str, key: str) -> None:
    """The change of the loss with its interval, and predictions of the chosen document side by side."""

    def build() -> pd.DataFrame:
        read = encodings(scene, documents, scene.engine)
        with progress_line() as progress:
            return ablate(scene.engine, read, off, mode, stream_of(stream), progress)

    row = cached.kept("heads: off", f"{key} {off}", build).iloc[0]
    st.markdown(
        f"{str(row['measure']).capitalize()}: {number(row['loss'])} → {number(row['loss_off'])}, change "
        f"**{row['change']:+.3g}** [{row['change_low']:+.2g}, {row['change_high']:+.2g}]"
    )
    st.caption(
        f"{row['documents']} documents, {row['predictions']:,} predictions; 95 % over documents. "
        f"The output moved: largest relative change {number(row['moved'])}."
    )
    found = cached.kept(
        "heads: predictions",
        f"{key_of(scene, (scene.document,), stream)} {mode} {off}",
        lambda: predictions(scene.engine, scene.encoding, off, mode, stream_of(stream)),
    )
    if found.empty:
        st.caption("This document holds nothing to predict.")
        return
    st.dataframe(_readable(found), hide_index=True, width="stretch", height=280)
    told = "divergence" if "divergence" in found else "distance"
    st.caption(f"The chosen document, sorted by {told}: where switching off changes the answer most comes first.")


def _readable(found: pd.DataFrame) -> pd.DataFrame:
    """Predictions as a table: the most probable tokens as text, the largest change first."""
    told = "divergence" if "divergence" in found else "distance"
    shown = found.sort_values(told, ascending=False, kind="stable").round(4)
    for side in ("on", "off"):
        if side in shown:
            shown[side] = ["  ".join(f"{text} {chance:.2f}" for text, chance in best) for best in shown[side]]
    names = {"p_on": "P(truth), on", "p_off": "P(truth), off", "on": "predicted, on", "off": "predicted, off"}
    return shown.rename(columns=names)


def _sweep(
    scene: Scene, documents: tuple[Document, ...], stream: str, mode: str, key: str, table: pd.DataFrame
) -> None:
    """Every head off alone, as a map, and roles beside effects."""
    st.markdown("**Every head off alone**")
    found = worked(
        "heads-sweep",
        key,
        "Measure every head",
        partial(_swept, scene.engine, encodings(scene, documents, scene.engine), mode, stream_of(stream)),
    )
    if found is None:
        st.caption(f"Each head of {len(table)} in turn, over {len(documents)} documents.")
        return
    numbers = sorted(found["layer"].unique())
    roles = table.set_index(["layer", "head"])["role"]
    tips = [[str(roles.get((layer, head), "")) for head in part["head"]] for layer, part in found.groupby("layer")]
    here = (scene.choice.layer, scene.choice.head)
    show(
        head_grid_figure(
            found["change"].to_numpy().reshape(len(numbers), -1),
            numbers,
            names=tips,
            value_name="change",
            kind="diverging",
            title=f"Change of the {found['measure'].iloc[0]}",
            note=f"{found['documents'].iloc[0]} documents, {found['predictions'].iloc[0]:,} predictions. Red: worse "
            "without the head.",
            chosen=(numbers.index(here[0]), here[1]) if here[0] in numbers else None,
        ),
        "heads-sweep-map",
        lambda row, head: choose_head(int(numbers[row]), head),
    )
    beside = role_effects(table, found)
    columns = ["layer", "head", "role", "value", "chance", "change", "change_low", "change_high", "effect"]
    st.dataframe(
        beside.sort_values("change", ascending=False)[columns],
        hide_index=True,
        height=260,
        width="stretch",
        column_config={name: st.column_config.NumberColumn(format="%.3g") for name in columns[3:8]},
    )
    st.caption(
        "Each role's score beside what switching its head off does: “missed” where the interval lies above 0. "
        "Intervals are simultaneous over all heads."
    )
    facts = provenance(scene, corpus_documents=len(documents), ablation=mode, measure=found["measure"].iloc[0])
    files = {"Effects as CSV": ("headlight-effects.csv", "text/csv", partial(csv_table, beside, facts))}
    download_row(files, "effects")


def _swept(engine: Engine, read: list, mode: str, stream: str | None, progress: Progress) -> pd.DataFrame:
    return sweep(engine, read, mode, stream, progress=progress)


def _pruning(scene: Scene, documents: tuple[Document, ...], stream: str, mode: str, key: str) -> None:
    """How many heads can go for a budget."""
    st.markdown("**How many heads can go**")
    budget = st.number_input(
        "Budget, change of the loss",
        0.001,
        10.0,
        0.05,
        0.01,
        format="%.3f",
        key="heads-budget",
        persist_state="session",
        width=200,
    )
    read = encodings(scene, documents, scene.engine)
    curve = worked(
        "heads-pruning",
        f"{key} {budget}",
        "Prune",
        partial(_pruned, scene.engine, read, budget, mode, stream_of(stream)),
    )
    if curve is None:
        st.caption("One head after another, the most harmless first, each step measured again; beside random orders.")
        return
    st.altair_chart(
        charts.line(
            curve,
            "removed",
            "change",
            low="low",
            high="high",
            series="order",
            x_title="heads removed",
            y_title="change of the loss",
        ),
        width="stretch",
    )
    counts = removable(curve, budget)
    st.caption(
        f"Within {budget:g}: " + ", ".join(f"{name} {count}" for name, count in counts.items()) + ". "
        f"{len(documents)} documents; bands: 95 % over documents, simultaneous over steps."
    )


def _pruned(
    engine: Engine, read: list, budget: float, mode: str, stream: str | None, progress: Progress
) -> pd.DataFrame:
    """The greedy curve beside two random ones of the same length."""
    greedy = greedy_pruning(engine, read, budget, mode, stream, progress=progress)
    length = int(greedy["removed"].max())
    if not length:
        return greedy
    steps = np.unique(np.linspace(1, length, min(length, STEPS)).astype(int)).tolist()
    random = pruning_curves(engine, read, random_orders(engine, 2, stream), mode, stream, steps, progress)
    return pd.concat([greedy, random], ignore_index=True)
