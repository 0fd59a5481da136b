"""Every head off alone: a map of what the model loses, and each role's claim beside that."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lib.corpora import Document
from lib.heads import claims_beside_effects, role_effects, sweep
from lib.models import Engine
from lib.numerals import plural
from lib.ui import cached
from lib.ui.captured import encodings
from lib.ui.downloads import download_row, provenance
from lib.ui.heads.measures import catalogue, every_head, stream_of
from lib.ui.heads.wording import SCORES, signed
from lib.ui.job import Progress, worked
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.ui.tables import csv_table, html_table
from lib.views import head_grid_figure, show

SWEEP = "heads-sweep"


def alone_panel(scene: Scene, documents: tuple[Document, ...], stream: str, mode: str, key: str) -> None:
    """Draw the map, claims beside effects, and the table of heads. key: names documents and mode."""
    st.markdown("**Every head off alone**")
    every = every_head(scene, stream)
    read = encodings(scene, documents, scene.engine)
    work = partial(_swept, scene.engine, read, mode, stream_of(stream))
    found = worked(SWEEP, key, f"Switch off each of {len(every)} heads in turn", work)
    if found is None:
        st.caption(
            f"Over {plural(len(documents), 'document')}. Shows which heads the model misses, and whether heads of one "
            "role are missed more than others."
        )
        return
    table = catalogue(scene, documents, stream)
    beside = role_effects(table, found)
    left, right = st.columns([2, 3], gap="large")
    with left:
        _map(scene, found, table)
    with right:
        _claims(beside)
    with st.expander("Every head: its role's score beside its effect"):
        _heads(beside, _distance(found))
    facts = provenance(scene, corpus_documents=len(documents), ablation=mode, measure=found["measure"].iloc[0])
    files = {"Effects as CSV": ("headlight-effects.csv", "text/csv", partial(csv_table, beside, facts))}
    download_row(files, "effects")


def known_sweep(key: str) -> pd.DataFrame | None:
    """The effects of every head where they have been measured already."""
    return cached.known(SWEEP, key)


def _swept(engine: Engine, read: list, mode: str, stream: str | None, progress: Progress) -> pd.DataFrame:
    return sweep(engine, read, mode, stream, progress=progress)


def asked(found: pd.DataFrame) -> str:
    """On how much an effect rests: documents, and predictions where the model predicts."""
    documents, predictions = int(found["documents"].iloc[0]), int(found["predictions"].iloc[0])
    return plural(documents, "document") + ("" if _distance(found) else f", {predictions:,} predictions")


def _distance(found: pd.DataFrame) -> bool:
    """Whether the effect is a distance, as of a model that predicts nothing: never below 0."""
    return "distance" in str(found["measure"].iloc[0])


def _map(scene: Scene, found: pd.DataFrame, table: pd.DataFrame) -> None:
    """Layers × heads coloured by the change; a click chooses the head."""
    numbers = sorted(int(layer) for layer in found["layer"].unique())
    roles = table.set_index(["layer", "head"])["role"]
    tips = [[str(roles.get((layer, head), "")) for head in part["head"]] for layer, part in found.groupby("layer")]
    here = (scene.choice.layer, scene.choice.head)
    missed = int((found["change_low"] > 0).sum())
    distance = _distance(found)
    note = f"{asked(found)}. " + (
        "A distance cannot fall below 0, so its interval always lies above it: compare heads with one another."
        if distance
        else f"Red: worse without the head; {missed} of {len(found)} are missed (95 %, simultaneous over all heads)."
    )
    show(
        head_grid_figure(
            found["change"].to_numpy().reshape(len(numbers), -1),
            numbers,
            names=tips,
            value_name="change",
            kind="sequential" if distance else "diverging",
            title=f"{'' if distance else 'Change of the '}{found['measure'].iloc[0]}".capitalize(),
            note=note,
            chosen=(numbers.index(here[0]), here[1]) if here[0] in numbers else None,
        ),
        "heads-sweep-map",
        lambda row, head: choose_head(numbers[row], head),
    )


def _claims(beside: pd.DataFrame) -> None:
    """Each role as a claim: what its heads change, beside as many heads drawn at random."""
    st.markdown("Each role's claim beside its effect")
    rows = [
        (
            claim.role,
            str(claim.heads),
            signed(claim.change),
            f"{signed(claim.drawn_low)} … {signed(claim.drawn_high)}",
            claim.found,
            f"L{claim.layer} H{claim.head}: {signed(claim.head_change)}",
        )
        for claim in claims_beside_effects(beside).itertuples()
    ]
    table = html_table(("role", "heads", "change", "random heads", "", "strongest"), rows)
    st.html(f"<div style='overflow-x:auto'>{table}</div>")
    st.caption(
        "Change: median over a role's heads. Random heads: the middle 95 % of that median over as many heads drawn "
        "from all, 2,000 times. Strongest: the head with the highest score, and its change. A role says what a head "
        "attends to; only “missed more” says that the model needs it more than other heads."
    )


def _heads(beside: pd.DataFrame, distance: bool) -> None:
    """One row per head; a click chooses it."""
    ordered = beside.sort_values("change", ascending=False)
    heads = [(int(row.layer), int(row.head)) for row in ordered.itertuples()]

    def choose() -> None:
        picked = st.session_state["heads-effects"].selection.rows
        if picked and picked[0] < len(heads):
            choose_head(*heads[picked[0]])

    shown = pd.DataFrame(
        {
            "head": [f"L{layer} H{head}" for layer, head in heads],
            "role": ordered["role"],
            "rests on": [SCORES[name].label if name else "" for name in ordered["score"]],
            "score": ordered["value"],
            "chance": ordered["chance"],
            "change": ordered["change"],
            "95 %": [
                "" if pd.isna(low) else f"{signed(low)} … {signed(high)}"
                for low, high in zip(ordered["change_low"], ordered["change_high"], strict=True)
            ],
            "effect": ordered["effect"],
        }
    )
    st.dataframe(
        shown.drop(columns="effect") if distance else shown,
        key="heads-effects",
        hide_index=True,
        height=300,
        width="stretch",
        column_config={
            name: st.column_config.NumberColumn(format="%.3g", width="small") for name in ("score", "chance", "change")
        },
        on_select=choose,
        selection_mode="single-row",
    )
    st.caption(
        "“Missed”: the interval of the change lies above 0; simultaneous over all heads. A click chooses a head."
    )
