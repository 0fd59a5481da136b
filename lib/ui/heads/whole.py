"""The whole model: attention followed through all layers, where it goes, and how queries and keys are built."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lib.corpora import Document
from lib.errors import HeadlightError
from lib.heads import layer_profile, rollout
from lib.heads.agreement import projection_agreement
from lib.models import WeightsUnknown
from lib.numerals import plural
from lib.ui import cached
from lib.ui.heads.measures import tally
from lib.ui.heads.wording import capital, number
from lib.ui.message import guarded
from lib.ui.pictures import layers, shown_tokens, tables
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.views import charts, head_grid_figure, heatmap, patch_attention_figure, show

MASSES = ("special", "first_token", "cls", "sep", "period", "registers")


def whole_panel(scene: Scene, documents: tuple[Document, ...], stream: str, pattern: np.ndarray) -> None:
    """Draw rollout, mass by layer, norm gap by layer, and W_Q/W_K agreement."""
    profile = layer_profile(tally(scene, documents, stream), (*MASSES, "norm_gap"))
    left, right = st.columns(2, gap="large")
    with left:
        _masses(profile, len(documents))
        with guarded("the agreement of W_Q and W_K"):
            _agreement(scene, stream)
    with right:
        _norm_gap(profile)
        with guarded("rollout"):
            _rollout(scene, stream, pattern)


def _masses(profile: pd.DataFrame, documents: int) -> None:
    frame = told_once(profile[profile["score"].isin(MASSES) & profile["value"].notna()])
    st.markdown("**Where attention goes, by layer**")
    if frame.empty:
        st.caption("Nothing to draw: no special token, first position or full stop takes part.")
        return
    bounds = {} if frame["low"].isna().all() else {"low": "low", "high": "high"}
    chart = charts.line(frame, "layer", "value", **bounds, series="label", x_title="layer", y_title="share of a row")
    st.altair_chart(chart, width="stretch")
    first = frame.groupby("label", sort=False)["chance"].mean()
    chance = ", ".join(f"{label} {number(value)}" for label, value in first.items())
    bands = "; bands: 95 %" if bounds else ""
    st.caption(f"Mean over the heads of a layer, {plural(documents, 'document')}{bands}. Uniform rows: {chance}.")


def told_once(profile: pd.DataFrame) -> pd.DataFrame:
    """Scores by layer, those that are one and the same line under one name: position 0 where it holds [CLS].

    profile: as of ``layer_profile``; of lines that coincide the first stays.
    """
    kept: list[pd.DataFrame] = []
    for _, part in profile.groupby("score", sort=False):
        twin = next((n for n, one in enumerate(kept) if _same(one, part)), None)
        if twin is None:
            kept.append(part)
        else:
            kept[twin] = kept[twin].assign(label=f"{kept[twin]['label'].iloc[0]} = {part['label'].iloc[0]}")
    return pd.concat(kept) if kept else profile


def _same(one: pd.DataFrame, other: pd.DataFrame) -> bool:
    return len(one) == len(other) and bool(np.allclose(one["value"], other["value"], rtol=0, atol=1e-6))


def _norm_gap(profile: pd.DataFrame) -> None:
    frame = profile[profile["score"] == "norm_gap"]
    st.markdown("**Norm gap ‖q‖ − ‖k‖, by layer**")
    bounds = {} if frame["low"].isna().all() else {"low": "low", "high": "high"}
    chart = charts.line(
        frame, "layer", "value", **bounds, null="chance", x_title="layer", y_title="mean ‖q‖ − mean ‖k‖"
    )
    st.altair_chart(chart, width="stretch")
    mean = float(frame["value"].mean())
    st.caption(f"Mean over layers {number(mean)}. AttentionViz reports −4.59 for GPT-2 and 0.41 for BERT.")


def _agreement(scene: Scene, stream: str) -> None:
    if stream == "cross":
        st.caption("W_Q and W_K are not compared here: queries and keys are made from two different texts.")
        return
    numbers = layers(scene, stream)
    try:
        found = cached.kept(
            "heads: agreement",
            f"{scene.engine.key} {stream}",
            lambda: projection_agreement(scene.engine, numbers, stream),
        )
    except WeightsUnknown as error:
        raise HeadlightError(error.expected, error.got, error.remedy) from error
    here = (scene.choice.layer, scene.choice.head)
    show(
        head_grid_figure(
            found,
            numbers,
            value_name="r",
            kind="diverging",
            value_range=(-1.0, 1.0),
            title="Agreement of W_Q and W_K",
            note="Pearson r between their entries; chance 0. AttentionViz found 0.94 in a head of ViT-32 that looks "
            "at itself.",
            chosen=(numbers.index(here[0]), here[1]) if here[0] in numbers else None,
        ),
        "heads-agreement",
        lambda row, head: choose_head(numbers[row], head),
    )


def _rollout(scene: Scene, stream: str, pattern: np.ndarray) -> None:
    """Attention through all layers, on the chosen document."""
    if stream == "cross":
        st.caption("Rollout follows one text through its layers: it is not defined between two.")
        return
    key = f"{scene.engine.key} {scene.document.hash} {scene.choice.tokens} {stream}"
    mixed = cached.kept("heads: rollout", key, lambda: rollout(pattern))
    title = "Rollout: attention followed through all layers"
    note = "Heads averaged, half of every step is the residual stream; a position's share of each input position."
    queries, _ = tables(scene, stream)
    if scene.encoding.grid:
        names = [text for text, row in zip(queries.text, queries.row, strict=True) if row < 0]
        figure = patch_attention_figure(
            scene.encoding.seen, scene.encoding.grid, mixed, prefix_labels=names, value_name="share", title=title,
            note=note, chosen=0 if names else None,
        )  # fmt: skip
        show(figure, "heads-rollout-image")
        return
    kept = shown_tokens(queries, scene.choice.special)
    labels = queries.at(kept).text
    heatmap(
        mixed[np.ix_(kept, kept)],
        key="heads-rollout",
        row_labels=labels,
        column_labels=labels,
        title=title,
        note=note,
        value_name=capital("share"),
        scale="log",
        height=420,
    )
