"""The catalogue: one row per head over the corpus, and a scatter of any two scores."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.heads.roles import NONE_CLEAR
from lib.ui.downloads import download_row, provenance
from lib.ui.heads.wording import SCORES, capital, measured, unit
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.ui.tables import csv_table
from lib.views import by_class, scatter

TOP_ROLES = 7  # roles with a colour of their own; the others share one
FIRST = ("previous_token", "self", "first_token", "same_sentence", "entropy_share", "mean_lag", "same_row", "same_hue")


def catalogue_panel(scene: Scene, table: pd.DataFrame, documents: int) -> None:
    """Draw table, filter, scatter and download. table: from ``score_heads``."""
    names = measured(table)
    kept, chosen = _filters(table, names)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _table(kept, chosen)
    with right:
        _scatter(scene, kept, names)
    _missing(table, documents)
    facts = provenance(scene, corpus=scene.choice.corpus, corpus_documents=documents, **_plain(table.attrs))
    stem = "headlight-heads"
    download_row({"Catalogue as CSV": (f"{stem}.csv", "text/csv", partial(csv_table, kept, facts))}, "catalogue")


def _plain(attrs: dict) -> dict[str, object]:
    return {f"catalogue {name}": attrs[name] for name in ("stream", "special", "documents", "tokens", "lost")}


def _filters(table: pd.DataFrame, names: list[str]) -> tuple[pd.DataFrame, list[str]]:
    """The rows that are kept, and the scores with columns of their own."""
    roles = list(table["role"].value_counts().index)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        role = st.multiselect(
            "Roles", roles, key="heads-catalogue-roles", placeholder="all", persist_state="session", width=320
        )
        chosen = st.multiselect(
            "Scores",
            names,
            default=[name for name in FIRST if name in names][:5],
            format_func=lambda name: SCORES[name].label,
            key="heads-catalogue-scores",
            persist_state="session",
        )
    return (table[table["role"].isin(role)] if role else table), chosen


def _table(kept: pd.DataFrame, chosen: list[str]) -> None:
    """The table; a click on a row chooses its head."""
    shown = pd.DataFrame({"layer": kept["layer"], "head": kept["head"], "role": kept["role"]})
    columns: dict[str, object] = {}
    for name in chosen:
        label = SCORES[name].label
        shown[label] = kept[name]
        shown[f"{label}: chance"] = kept[f"{name}_chance"]
        shown[f"{label}: 95 %"] = [
            "" if pd.isna(low) else f"{low:.3g} … {high:.3g}"
            for low, high in zip(kept[f"{name}_low"], kept[f"{name}_high"], strict=True)
        ]
        columns |= {c: st.column_config.NumberColumn(format="%.3g") for c in (label, f"{label}: chance")}
        columns[label] = st.column_config.NumberColumn(format="%.3g", help=SCORES[name].says)
    shown["also"] = kept["also"]
    rows = [(int(row.layer), int(row.head)) for row in kept.itertuples()]

    def choose() -> None:
        picked = st.session_state["heads-catalogue"].selection.rows
        if picked and picked[0] < len(rows):
            choose_head(*rows[picked[0]])

    st.dataframe(
        shown,
        key="heads-catalogue",
        hide_index=True,
        height=460,
        width="stretch",
        column_config=columns,
        on_select=choose,
        selection_mode="single-row",
    )


def _scatter(scene: Scene, kept: pd.DataFrame, names: list[str]) -> None:
    """All heads on two scores; a click chooses one."""
    with st.container(horizontal=True):
        across, up = (
            st.selectbox(
                label,
                names,
                index=names.index(first) if first in names else place,
                format_func=lambda name: SCORES[name].label,
                key=f"heads-catalogue-{label}",
                persist_state="session",
            )
            for place, (label, first) in enumerate((("Across", "entropy_share"), ("Up", "first_token")))
        )
    drawn = kept[kept[across].notna() & kept[up].notna()]
    if drawn.empty:
        st.caption("No head has both scores.")
        return
    span = drawn[[across, up]]
    low, high = span.min(), span.max()
    unit_square = ((span - low) / (high - low).replace(0, 1)).to_numpy(float) * (1.0, 0.8)
    common = [role for role in drawn["role"].value_counts().index if role != NONE_CLEAR][: TOP_ROLES - 1]
    classes = [*common, "other"]
    where = [classes.index(role) if role in common else len(common) for role in drawn["role"]]
    heads = [(int(row.layer), int(row.head)) for row in drawn.itertuples()]
    chosen = (scene.choice.layer, scene.choice.head)
    scatter(
        unit_square,
        key="heads-scatter",
        data_id=f"{across} {up} {len(drawn)}",
        colouring=by_class(np.array(where), classes, title="role"),
        labels=[f"L{layer} H{head}" for layer, head in heads],
        facts={SCORES[name].label: drawn[name].to_numpy(float) for name in dict.fromkeys((across, up))},
        chosen=heads.index(chosen) if chosen in heads else None,
        title=f"{capital(SCORES[across].label)} → against {SCORES[up].label} ↑",
        note=f"Across {_range(low[across], high[across], across)}, up {_range(low[up], high[up], up)}.",
        height=380,
        on_choose=lambda point: choose_head(*heads[point]),
    )


def _range(low: float, high: float, name: str) -> str:
    return f"{low:.2g} … {high:.2g} {unit(name)}".strip()


def _missing(table: pd.DataFrame, documents: int) -> None:
    """What stands on how much, and what could not be measured."""
    attrs = table.attrs
    excluded = int(table["excluded_rows"].sum())
    parts = [
        f"{documents} documents, {attrs['tokens']:,} tokens, {attrs['lost']:,} cut off; special tokens "
        f"{'counted' if attrs['special'] else 'left out, rows renormalised'}.",
        f"{excluded:,} rows that held nothing are left out." if excluded else "",
        "Intervals: bootstrap over documents, simultaneous over all heads.",
    ]
    gone = [f"{SCORES[name].label}: {why}" for name, why in attrs["missing"].items() if name in SCORES]
    parts.append(f"Not measured: {'; '.join(gone)}." if gone else "")
    st.caption(" ".join(filter(None, parts)))
