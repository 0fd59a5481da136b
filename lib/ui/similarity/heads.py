"""All heads by one statistic, and the numbers of the chosen head beside them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lib.similarity import Measured
from lib.ui.scene import Scene
from lib.ui.similarity.wording import KINDS, STATISTICS, interval, number, statistics, times, unit
from lib.ui.state import choose_head
from lib.ui.tables import html_table
from lib.views import Figure, head_grid_figure, show

HALVES = "In doublings: +1 is twice chance, −1 half of it."
FAINTEST = 2.0**-4  # lifts below are drawn like this one: zero has no logarithm


def head_map(scene: Scene, measured: Measured, table: pd.DataFrame, name: str, lifted: bool) -> None:
    """Layers × heads coloured by a statistic, raw or over chance; a click chooses the head.

    measured, table: statistics of the corpus and their summary; name: of the statistic; lifted: as lift over chance
    where the statistic has one.
    """
    figure = map_figure(scene, measured, table, name, lifted)
    show(figure, "similarity-map", lambda row, head: choose_head(measured.layers[row], head))


def map_figure(scene: Scene, measured: Measured, table: pd.DataFrame, name: str, lifted: bool) -> Figure:
    """The picture of ``head_map``."""
    entry, lift = STATISTICS[name], lifted and f"{name}_lift" in table
    values = table[name].to_numpy()
    if lift:
        values = np.log2(np.maximum(table[f"{name}_lift"].to_numpy(), FAINTEST))
    names = [_tip(row, name) for _, row in table.iterrows()]
    layer = scene.choice.layer
    chosen = (measured.layers.index(layer), scene.choice.head) if layer in measured.layers else None
    return head_grid_figure(
        values.reshape(measured.shape),
        measured.layers,
        names=np.array(names, dtype=object).reshape(measured.shape).tolist(),
        value_name="log₂ of value ÷ chance" if lift else entry.name.lower(),
        unit="" if lift else unit(entry.counted, measured.image, measured.settings.words),
        kind="diverging" if lift or name == "contrast" else "sequential",
        title=f"{entry.name}{' ÷ chance' if lift else ''} of the most similar {_share(measured)} of pairs, "
        f"by {KINDS[measured.settings.kind]}",
        note=" ".join(filter(None, [HALVES if lift else "", separated(table, name), _sentences(measured.notes)])),
        chosen=chosen,
    )


def _share(measured: Measured) -> str:
    return f"{100 * measured.settings.top:g} %"


def _sentences(notes: tuple[str, ...]) -> str:
    return "".join(f"{note[:1].upper()}{note[1:]}. " for note in notes).strip()


def _tip(row: pd.Series, name: str) -> str:
    counted = STATISTICS[name].counted
    ends = interval(row[f"{name}_low"], row[f"{name}_high"], counted)
    return f"{f'{number(row[name], counted)} {ends}'.strip()}, chance {number(row[f'{name}_chance'], counted)}"


def separated(table: pd.DataFrame, name: str) -> str:
    """How many heads lie above and below chance, with intervals that hold for all heads at once."""
    key, chance = (f"{name}_lift", 1.0) if f"{name}_lift" in table else (name, 0.0)
    above, below = int((table[f"{key}_low"] > chance).sum()), int((table[f"{key}_high"] < chance).sum())
    if table[f"{key}_low"].isna().all():
        return "No interval: that takes two documents or more."
    return f"{above} of {len(table)} heads lie above chance and {below} below (95 %, simultaneous over all heads)."


def head_numbers(scene: Scene, measured: Measured, table: pd.DataFrame) -> None:
    """Every statistic of the chosen head: value, interval, chance, lift."""
    row = table.iloc[measured.row(scene.choice.layer, scene.choice.head)]
    st.markdown(f"**L{scene.choice.layer} H{scene.choice.head}**, its similar pairs over the corpus")
    rows = []
    for name, entry in statistics(measured.image).items():
        value = number(row[name], entry.counted)
        ends = interval(row[f"{name}_low"], row[f"{name}_high"], entry.counted)
        lift = times(row[f"{name}_lift"]) if f"{name}_lift" in row else ""
        rows.append((entry.name, f"{value} {ends}".strip(), number(row[f"{name}_chance"], entry.counted), lift))
    bounded = len(measured.documents) > 1
    st.html(html_table(("", "value [95 %]" if bounded else "value", "chance", "÷ chance"), rows))
    contrast = "" if measured.image else ", contrast in standard deviations"
    st.caption(
        f"Distance in {unit('tokens', measured.image, measured.settings.words)}{contrast}. "
        + (
            "Documents count alike; intervals over documents, simultaneous over all heads."
            if bounded
            else "One document: no intervals."
        )
    )
