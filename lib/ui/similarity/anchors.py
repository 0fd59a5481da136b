"""Each head's anchor token, whether it is stable and more than a long vector, and the neighbourhood of any token."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from lib.numerals import plural
from lib.similarity import Measured, anchor_tokens, anchored_heads, neighbourhood, pmi
from lib.similarity import anchors as anchors_of
from lib.similarity.anchors import MINIMUM, SPREAD
from lib.ui.downloads import download_row
from lib.ui.message import guarded
from lib.ui.scene import Scene
from lib.ui.similarity.measures import Ask, corpus_facts, kept_here, measured, measured_key
from lib.ui.similarity.wording import by_unit, ends
from lib.ui.tables import csv_table, numbered
from lib.views import charts

MOST = 200  # rows of a table on screen
COUNT = ",.9g"  # 103, and 12.5 where pairs that tie count in parts
UNDEFINED = "not defined: one document"


def anchor_panel(scene: Scene, ask: Ask, found: Measured) -> None:
    """Anchors of all heads, of the chosen head, and neighbourhoods."""
    if not found.names:
        st.caption("Patches have no identity, so images have no anchors.")
        return
    with guarded("the anchors of these documents"):
        cosine = measured(scene, replace(ask, kind="cosine"))
        table = kept_here("anchor table", measured_key(scene, ask), lambda: anchors_of(found, cosine))
        every_head(scene, ask, found, table)
        left, right = st.columns(2)
        with left:
            chosen_head(scene, found, table)
        with right:
            neighbours(scene, found)


def every_head(scene: Scene, ask: Ask, found: Measured, table: pd.DataFrame) -> None:
    """One row per head: its anchor, lift, stability and norm check."""
    share, low, high = anchored_heads(found)
    stable = (
        f"Stability over documents: {UNDEFINED}"
        if np.isnan(share)
        else f"**{100 * share:.0f} %** {ends(100 * low, 100 * high, '.0f')} of heads have one anchor of lift above 3 "
        "in both halves of the corpus"
    )
    distinct, long = table["token"].nunique(), int(table["only_long"].sum())
    st.markdown(
        f"{stable}; **{distinct}** different anchor{'' if distinct == 1 else 's'} in {len(table)} heads; "
        f"in **{long}** the lift comes from long vectors alone."
    )
    shown = pd.DataFrame(
        {
            "head": [f"L{layer} H{head}" for layer, head in zip(table["layer"], table["head"], strict=True)],
            "anchor": table["token"],
            "÷ chance": table["lift"],
            "share": 100 * table["share"],
            "stable": (100 * table["stability"]).round(),
            "halves": UNDEFINED
            if np.isnan(share)
            else np.where(
                table["same_in_halves"], "same", table["first_half"].astype(str) + " | " + table["second_half"]
            ),
            "‖z‖ ÷ mean": table["length_ratio"],
            "÷ chance, cosine": table["lift_cosine"],
            "only long": table["only_long"],
        }
    )
    if np.isnan(share):
        shown = shown.drop(columns="stable")  # halves says why
    st.dataframe(
        shown,
        hide_index=True,
        height=300,
        width="stretch",
        column_config={
            "÷ chance": st.column_config.NumberColumn(
                format="%.1f", help=by_unit("Share of endpoints ÷ share of tokens", found.settings.words)
            ),
            "share": st.column_config.NumberColumn(format="%.1f %%", help="Of the endpoints of similar pairs"),
            "stable": st.column_config.ProgressColumn(
                format="%d %%", min_value=0, max_value=100, help="Bootstrap draws over documents with the same anchor"
            ),
            "halves": st.column_config.TextColumn(help="The anchor in even and in odd documents"),
            "‖z‖ ÷ mean": st.column_config.NumberColumn(format="%.2f", help="Length of the anchor's output vectors"),
            "÷ chance, cosine": st.column_config.NumberColumn(format="%.1f", help="Lift when lengths do not count"),
            "only long": st.column_config.CheckboxColumn(help="Above 3 only because its vectors are long"),
        },
    )
    facts = corpus_facts(scene, ask)
    csv = ("headlight-anchors.csv", "text/csv", lambda: csv_table(table, facts))
    download_row({"Anchors as CSV": csv}, "anchors")


def chosen_head(scene: Scene, found: Measured, table: pd.DataFrame) -> None:
    """The tokens at which the chosen head's similar pairs end most, with lift and interval."""
    words = found.settings.words
    st.markdown(f"**{by_unit('Tokens', words)} that L{scene.choice.layer} H{scene.choice.head} draws others to**")
    frame = anchor_tokens(found, scene.choice.layer, scene.choice.head).drop_duplicates("token").head(8)
    frame = frame.assign(chance=1.0, lift_low=frame["lift_low"].clip(lower=0))
    bounds = {} if frame["lift_low"].isna().all() else {"low": "lift_low", "high": "lift_high"}
    st.altair_chart(
        charts.bars(
            frame,
            "token",
            "lift",
            chance="chance",
            **bounds,
            y_title=by_unit("share of endpoints ÷ share of tokens", words),
        ),
        width="stretch",
    )
    documents = len(found.documents)
    where = f", in {plural(min(documents, SPREAD), 'document')} or more" if documents > 1 else ""
    said = (
        f"The eight with the largest excess, which is not the largest lift, of the tokens that occur {MINIMUM} times "
        f"or more{where}. "
        + ("Intervals over documents, simultaneous over these tokens." if bounds else "One document: no intervals.")
    )
    st.caption(by_unit(said, words))
    pairs = pmi(found, scene.choice.layer, scene.choice.head)
    st.markdown(by_unit("**Different tokens that it makes alike**", words))
    if pairs.empty:
        where = ", in two documents" if documents > 1 else ""
        st.caption(by_unit(f"No pair of different tokens is selected three times{where}.", words))
        return
    st.dataframe(
        numbered(pairs.head(MOST).round({"selected": 1}), {"selected": COUNT, "present": COUNT, "pmi": ".2f"}),
        hide_index=True,
        width="stretch",
        column_config={
            "selected": st.column_config.NumberColumn(help="Selected pairs; ties count in parts"),
            "present": st.column_config.NumberColumn(help=by_unit("All pairs of the two tokens", words)),
            "pmi": st.column_config.NumberColumn("PMI", help="ln of how much more often than chance"),
        },
    )


def neighbours(scene: Scene, found: Measured) -> None:
    """Which tokens the chosen head makes alike with a token of the user's choice."""
    names = token_choices(found)
    words = found.settings.words
    st.markdown(by_unit("**Neighbourhood of a token**", words))
    token = st.selectbox(
        "Neighbourhood of",
        names,
        key="similarity-token",
        persist_state="session",
        label_visibility="collapsed",
        help="Most frequent first; type to search.",
    )
    if token is None:
        return
    frame = neighbourhood(found, scene.choice.layer, scene.choice.head, token)
    if frame.empty:
        st.caption(by_unit("None of the selected pairs of this head ends in this token.", words))
        return
    st.dataframe(
        numbered(frame.head(MOST).round({"selected": 1}), {"selected": COUNT, "expected": ".2f", "lift": ".1f"}),
        hide_index=True,
        width="stretch",
        column_config={
            "selected": st.column_config.NumberColumn(help="Selected pairs with the neighbour; ties count in parts"),
            "expected": st.column_config.NumberColumn(help="If pairs were selected at random"),
            "lift": st.column_config.NumberColumn("÷ chance"),
        },
    )


def token_choices(found: Measured) -> list[str]:
    """Every token of the corpus once, most frequent first."""
    total: dict[str, int] = {}
    for document in found.documents:
        for label, count in zip(document.labels, document.counts, strict=True):
            total[found.names[label]] = total.get(found.names[label], 0) + int(count)
    return sorted(total, key=lambda name: -total[name])
