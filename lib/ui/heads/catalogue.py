"""The catalogue: one row per head over the corpus, a scatter of any two scores, and a map of any score."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.heads.roles import NONE_CLEAR
from lib.numerals import plural, written
from lib.ui.downloads import download_row, provenance
from lib.ui.heads.wording import SCORES, SIGNED, capital, measured, number, unit
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.ui.tables import csv_table
from lib.views import by_class, head_grid_figure, palette, scatter, show

TOP_ROLES = 7  # roles with a colour of their own; the others share one
FIRST = ("previous_token", "self", "first_token", "same_sentence", "entropy_share", "mean_lag", "same_row", "same_hue")
BESIDE = ("chance", "÷ chance", "95 %")


def catalogue_panel(scene: Scene, table: pd.DataFrame, documents: int) -> None:
    """Draw filter, table, scatter, map and download. table: from ``score_heads``."""
    names = measured(table)
    kept, chosen, beside = _filters(table, names, "image" if scene.encoding.grid else "text")
    _table(scene, kept, chosen, beside)
    across, up = _axes(names)
    left, right = st.columns(2, gap="large")
    with left:
        _scatter(scene, kept, across, up)
    with right:
        _map(scene, table, up, documents)
    _missing(table, documents, scene.encoding.grid is not None)
    facts = provenance(scene, corpus=scene.choice.corpus, corpus_documents=documents, **_plain(table.attrs))
    stem = "headlight-heads"
    download_row({"Catalogue as CSV": (f"{stem}.csv", "text/csv", partial(csv_table, kept, facts))}, "catalogue")


def _plain(attrs: dict) -> dict[str, object]:
    return {f"catalogue {name}": attrs[name] for name in ("stream", "special", "documents", "tokens", "lost")}


def _filters(table: pd.DataFrame, names: list[str], kind: str) -> tuple[pd.DataFrame, list[str], list[str]]:
    """The rows that are kept, the scores with columns of their own, and what stands beside each score.

    kind: "text" or "image", which have scores of their own to choose from.
    """
    roles = list(table["role"].value_counts().index)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        role = st.multiselect(
            "Roles", roles, key="heads-catalogue-roles", placeholder="all", persist_state="session", width=260
        )
        chosen = st.multiselect(
            "Scores",
            names,
            default=[name for name in FIRST if name in names][:4],
            format_func=lambda name: SCORES[name].label,
            key=f"heads-catalogue-scores-{kind}",
            persist_state="session",
            width=420,
        )
        beside = st.pills(
            "Beside each score", BESIDE, selection_mode="multi", default=["÷ chance"], key="heads-catalogue-beside",
            persist_state="session",
        )  # fmt: skip
    held = table["role"].isin([one for one in role if one in roles])
    return (table[held] if held.any() else table), [name for name in chosen if name in names], list(beside)


def _table(scene: Scene, kept: pd.DataFrame, chosen: list[str], beside: list[str]) -> None:
    """The table; a click on a row chooses its head, and the row of the chosen head is the one that is ticked."""
    shown = pd.DataFrame({"layer": kept["layer"], "head": kept["head"], "role": kept["role"]})
    narrow = {"width": "small", "format": "%.3g"}
    columns: dict[str, object] = {
        name: st.column_config.Column(width=wide, pinned=True)
        for name, wide in (("layer", 55), ("head", 55), ("role", 150))
    }
    for name in chosen:
        label = SCORES[name].label
        value, chance = kept[name], kept[f"{name}_chance"]
        shown[label] = value
        columns[label] = st.column_config.NumberColumn(help=SCORES[name].says, **narrow)
        extra = {
            "chance": chance,
            "÷ chance": (value / chance).where(chance > 0),
            "95 %": [
                "" if pd.isna(low) else f"{written(low, '.3g')} … {written(high, '.3g')}"
                for low, high in zip(kept[f"{name}_low"], kept[f"{name}_high"], strict=True)
            ],
        }
        for what in beside:
            shown[f"{label}: {what}"] = extra[what]
            if what != "95 %":
                columns[f"{label}: {what}"] = st.column_config.NumberColumn(what, **narrow)
            else:
                columns[f"{label}: {what}"] = st.column_config.TextColumn(what, width=125)
    shown["also"] = kept["also"]
    rows = [(int(row.layer), int(row.head)) for row in kept.itertuples()]

    def choose() -> None:
        picked = st.session_state["heads-catalogue"].selection.rows
        if picked and picked[0] < len(rows):
            choose_head(*rows[picked[0]])

    here = (scene.choice.layer, scene.choice.head)  # chosen here or elsewhere, before or after a filter
    st.session_state["heads-catalogue"] = {"selection": {"rows": [rows.index(here)] if here in rows else []}}
    st.dataframe(
        shown,
        key="heads-catalogue",
        hide_index=True,
        height=min(36 * (len(shown) + 1), 420),
        width="stretch",
        column_config=columns,
        on_select=choose,
        selection_mode="single-row",
    )


def _axes(names: list[str]) -> tuple[str, str]:
    """The two scores of the scatter."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        across, up = (
            st.selectbox(
                label,
                names,
                index=names.index(first) if first in names else place,
                format_func=lambda name: SCORES[name].label,
                key=f"heads-catalogue-{label}",
                persist_state="session",
                width=230,
            )
            for place, (label, first) in enumerate((("Across", "entropy_share"), ("Up, and in the map", "first_token")))
        )
    return across, up


def _scatter(scene: Scene, kept: pd.DataFrame, across: str, up: str) -> None:
    """All heads on two scores; a click chooses one."""
    drawn = kept[kept[across].notna() & kept[up].notna()]
    if drawn.empty:
        st.caption("No head has both scores.")
        return
    span = drawn[[across, up]]
    low, high = span.min(), span.max()
    unit_square = ((span - low) / (high - low).replace(0, 1)).to_numpy(float) * (1.0, 0.8)
    common = [role for role in drawn["role"].value_counts().index if role != NONE_CLEAR][: TOP_ROLES - 1]
    classes = [*common, "other"] if set(drawn["role"]) - set(common) else common
    where = [classes.index(role) if role in common else len(common) for role in drawn["role"]]
    heads = [(int(row.layer), int(row.head)) for row in drawn.itertuples()]
    chosen = (scene.choice.layer, scene.choice.head)
    scatter(
        unit_square,
        key="heads-scatter",
        data_id=f"{across} {up} {len(drawn)}",
        colouring=by_class(
            np.array(where),
            classes,
            (*palette.class_colours(TOP_ROLES)[: len(common)], palette.NEUTRAL)[: len(classes)],
            title="role",
        ),
        labels=[f"L{layer} H{head}" for layer, head in heads],
        facts={SCORES[name].label: drawn[name].to_numpy(float) for name in dict.fromkeys((across, up))},
        chosen=heads.index(chosen) if chosen in heads else None,
        title=f"{capital(SCORES[across].label)} → against {SCORES[up].label} ↑",
        note=f"Across {_range(low[across], high[across], across)}, up {_range(low[up], high[up], up)}.",
        height=380,
        on_choose=lambda point: choose_head(*heads[point]),
    )


def _map(scene: Scene, table: pd.DataFrame, name: str, documents: int) -> None:
    """Layers × heads coloured by a score over the corpus; a click chooses the head."""
    numbers = sorted(int(layer) for layer in table["layer"].unique())
    chance = table[f"{name}_chance"].mean()
    here = (scene.choice.layer, scene.choice.head)
    figure = head_grid_figure(
        table[name].to_numpy(float).reshape(len(numbers), -1),
        numbers,
        names=[list(part) for _, part in table.groupby("layer")["role"]],
        value_name=SCORES[name].label,
        unit=unit(name),
        kind="diverging" if name in SIGNED else "sequential",
        title=capital(SCORES[name].label),
        note=f"{capital(SCORES[name].says)}, over {plural(documents, 'document')}."
        + ("" if np.isnan(chance) else f" Chance {number(chance)} on average."),
        chosen=(numbers.index(here[0]), here[1])
        if here[0] in numbers and here[1] < len(table) // len(numbers)
        else None,
    )
    show(figure, "heads-score-map", lambda row, head: choose_head(numbers[row], head))


def _range(low: float, high: float, name: str) -> str:
    return f"{number(low)} … {number(high)} {unit(name)}".strip()


def _missing(table: pd.DataFrame, documents: int, image: bool) -> None:
    """What stands on how much, and what could not be measured."""
    attrs = table.attrs
    excluded = int(table["excluded_rows"].sum())
    parts = [
        f"{plural(documents, 'document')}, {attrs['tokens']:,} tokens, {attrs['lost']:,} cut off; special tokens "
        f"{'counted' if attrs['special'] else 'left out, rows renormalised'}.",
        f"{excluded:,} rows that held nothing are left out." if excluded else "",
        "Intervals: bootstrap over documents, simultaneous over all heads."
        if documents > 1
        else "One document: no intervals, and roles stay unsure.",
    ]
    missing = {name: why for name, why in attrs["missing"].items() if name in SCORES}
    if image:  # words that are said twice: nothing that anyone would look for here
        missing = {name: why for name, why in missing.items() if not name.startswith("probe_")}
    labels: dict[str, list[str]] = {}  # reason -> what it keeps from being measured
    for name, why in missing.items():
        labels.setdefault(why.removesuffix("."), []).append(SCORES[name].label)
    gone = [f"{', '.join(names)} ({why})" for why, names in labels.items()]
    parts.append(f"Not measured: {'; '.join(gone)}." if gone else "")
    st.caption(" ".join(filter(None, parts)))
