"""A second model or checkpoint on the same documents: side by side on every statistic, and which layers stood still."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from lib.numerals import written
from lib.similarity import (
    Freeze,
    Measured,
    SimilarityError,
    differences,
    head_differences,
    layers_to_freeze,
    side_by_side,
)
from lib.ui.captured import corpus_key
from lib.ui.model import second_choice
from lib.ui.progress import progress_line
from lib.ui.scene import Scene
from lib.ui.similarity.measures import Ask, Second, documents, kept_here, outputs, second_model
from lib.ui.similarity.wording import STATISTICS, by_unit, ends
from lib.ui.state import choose_head
from lib.ui.tables import html_table
from lib.views import charts, head_grid_figure, show


def second(scene: Scene, ask: Ask, measured: Measured) -> None:
    """Choose a second model and compare it; what needs equal shape or tokens says so where it cannot be shown."""
    name = second_choice(
        scene.engine.name,
        "similarity-second",
        help="A checkpoint of the same model also shows which layers could be frozen between the two.",
    )
    if not name:
        st.caption("It is loaded, measured on the same documents with the same settings, and released.")
        return
    other = second_model(scene, ask, name)
    statistic = st.session_state.get("similarity-statistic", "distance")
    left, right = st.columns([3, 2])
    with left:
        by_depth(measured, other.measured, statistic)
    with right:
        every_statistic(measured, other.measured)
    left, right = st.columns(2)
    with left, only_alike("Head by head"):
        by_head(scene, measured, other.measured, statistic)
    with right, only_alike("Layers to freeze"):
        freeze(scene, ask, other, name)


@contextmanager
def only_alike(what: str) -> Iterator[None]:
    """Say in a line what cannot be compared between models of different kinds: that is no failure."""
    try:
        yield
    except SimilarityError as error:
        st.markdown(f"**{what}**")
        st.caption(f"Needs {error.expected}; these have {error.got}.")


def by_depth(one: Measured, two: Measured, statistic: str) -> None:
    """A statistic's lift over depth in both models."""
    frame = side_by_side(one, two)
    frame = frame[frame["statistic"] == statistic]
    column = "value" if statistic == "contrast" else "lift"
    st.markdown(f"**{STATISTICS[statistic].name}{'' if column == 'value' else ' ÷ chance'} by depth**")
    if frame[column].isna().all():
        st.caption(f"Not defined here: it takes {by_unit(STATISTICS[statistic].needs, one.settings.words)}.")
        return
    low, high = ("low", "high") if column == "value" else ("lift_low", "lift_high")
    bounds = {} if frame[low].isna().any() else {"low": low, "high": high}
    chart = charts.line(
        frame,
        "depth",
        column,
        **bounds,
        series="model",
        x_title="depth (0 first layer, 1 last)",
        y_title="value ÷ chance" if column == "lift" else "standard deviations",
    )
    st.altair_chart(chart, width="stretch")


def every_statistic(one: Measured, two: Measured) -> None:
    """All statistics of both models over all heads, and their difference."""
    rows = [
        (
            STATISTICS[row.statistic].name,
            written(row.first, ".2f"),
            written(row.second, ".2f"),
            f"{written(row.difference, '+.2f')} {ends(row.low, row.high, '+.2f')}".strip(),
            "apart" if row.separated else "",
        )
        for row in differences(one, two).itertuples()
        if row.difference == row.difference
    ]
    table = html_table(("", one.model[:18], two.model[:18], "difference [95 %]", ""), rows)
    st.html(f"<div style='overflow-x:auto'>{table}</div>")
    st.caption(
        "Value ÷ chance over all heads (contrast as it is). Documents are resampled together in both models; “apart”: "
        "the interval of the difference leaves 0 out."
    )


def by_head(scene: Scene, one: Measured, two: Measured, statistic: str) -> None:
    """Second minus first, head by head; needs the same layers and heads."""
    frame = head_differences(one, two)
    low, high = frame[f"{statistic}_low"], frame[f"{statistic}_high"]
    apart = int(((low > 0) | (high < 0)).sum())
    row = one.layers.index(scene.choice.layer) if scene.choice.layer in one.layers else 0
    figure = head_grid_figure(
        frame[statistic].to_numpy().reshape(one.shape),
        one.layers,
        kind="diverging",
        value_name="second − this",
        title=f"{STATISTICS[statistic].name}: second model minus this one",
        note=f"{apart} of {len(frame)} heads differ (95 %, simultaneous over heads and statistics). Red: more in the "
        "second model.",
        chosen=(row, scene.choice.head),
    )
    show(figure, "similarity-difference", lambda at, head: choose_head(one.layers[at], head))


def freeze(scene: Scene, ask: Ask, other: Second, name: str) -> None:
    """Layers whose similarity geometry is the same in two checkpoints of one model."""
    chosen = documents(scene, ask)

    def build():
        with progress_line() as progress:
            return layers_to_freeze(outputs(scene, chosen, ask.stream), other.outputs, progress=progress)

    found = kept_here("freeze", f"{name} {corpus_key(scene, chosen, scene.engine)} {ask.stream}", build)
    st.markdown("**Layers that stand still between the two**")
    frame = found.layers.assign(threshold=found.threshold)
    bounds = {} if frame["low"].isna().any() else {"low": "low", "high": "high"}
    chart = charts.line(
        frame, "layer", "cka", **bounds, null="threshold", x_title="layer", y_title="CKA (1: same geometry)", height=240
    )
    st.altair_chart(chart, width="stretch")
    st.caption(
        f"How much of the similarities' geometry both share, mean over a layer's heads; dashed: {found.threshold}. "
        f"{frozen_sentence(found)}"
    )


def frozen_sentence(found: Freeze) -> str:
    """Which layers could be frozen, or why that cannot be told."""
    if found.layers["low"].isna().all():
        return "One document: no intervals, so which layers could be frozen is not decided."
    names = ", ".join(f"L{layer}" for layer in found.frozen) or "none"
    return (
        f"Could be frozen from the bottom up (lower end of the interval above the line): {names}. "
        "What freezing costs, training tells."
    )
