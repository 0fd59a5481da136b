"""The paper's findings on this model, and a sentence about every head."""

from __future__ import annotations

import re
from functools import partial

import pandas as pd
import streamlit as st

from lib.embeddings import Evidence, attentionviz, head_sentences
from lib.ui import cached
from lib.ui.downloads import download_row, provenance
from lib.ui.embeddings.every import known_evidence, known_trust, measured, measured_twin
from lib.ui.embeddings.maps import Maps
from lib.ui.embeddings.stage import Stage
from lib.ui.embeddings.wording import PAPER
from lib.ui.scene import corpora_for
from lib.ui.state import choose_head
from lib.ui.tables import csv_table
from lib.ui.verdicts import card, measured_html, verdicts_csv
from lib.verdicts import CLAIMS, MARKS, Verdict

HEAD = re.compile(r"L(\d+) H(\d+)")
LINKS = 4  # heads offered per claim


def findings_panel(on: Stage) -> None:
    """Verdicts by the shared rules, each with the paper's number and the heads it names."""
    if on.ask.stream == "cross":
        st.caption("The claims are about queries and keys of one text: choose another attention.")
        return
    found = measured(on)
    if found is None:
        st.caption("Measures every head on these documents: a minute or more. Nothing else has to wait.")
        return
    twin = measured_twin(on)
    if twin is None:
        st.caption("Without the untrained twin it stays open what is learned and what any model would show.")
    verdicts = _verdicts(on, found, twin)
    counts = {mark: sum(one.mark == mark for one in verdicts) for mark in MARKS}
    st.markdown(" · ".join(f"**{count}** {mark}" for mark, count in counts.items()))
    st.caption(f"Claims of Yeh et al., AttentionViz, arXiv 2305.03210. {on.read.note}")
    keys = {claim.claim: claim.key for claim in CLAIMS}
    for index, verdict in enumerate(verdicts):
        with st.container(border=True):
            st.html(card(verdict))
            st.caption(PAPER.get(keys.get(verdict.claim, ""), ""))
            _links(on, verdict, index)
            with st.expander("Rule and parts" if verdict.parts else "Rule", type="compact"):
                st.caption(f"Rule: {verdict.rule}")
                for part in verdict.parts:
                    st.html(f"<div style='margin:6px 0'>{measured_html(part, marked=True)}</div>")
    file = ("headlight-attentionviz.csv", "text/csv", partial(verdicts_csv, verdicts))
    download_row({"Findings as CSV": file}, "embeddings-findings")


def _verdicts(on: Stage, found: Evidence, twin: Evidence | None) -> list[Verdict]:
    corpus = corpora_for("image" if on.image else "text")[on.now.choice.corpus]
    key = f"{on.key} {twin is not None} {corpus}"
    return cached.kept("embeddings: verdicts", key, lambda: attentionviz(found, twin, corpus))


def named_heads(verdict: Verdict) -> list[tuple[int, int]]:
    """The (layer, head) that a verdict and its parts name, in order, each once."""
    texts = [text for one in (verdict, *verdict.parts) for text in (one.quantity, one.note)]
    found = [(int(layer), int(head)) for text in texts for layer, head in HEAD.findall(text)]
    return list(dict.fromkeys(found))


def _links(on: Stage, verdict: Verdict, index: int) -> None:
    heads = [place for place in named_heads(verdict) if place[0] in on.taken.layers][:LINKS]
    if not heads:
        return
    with st.container(horizontal=True, gap="small"):
        for layer, head in heads:
            st.button(
                f"Open L{layer} H{head}",
                key=f"embeddings-claim-{index}-{layer}-{head}",
                on_click=choose_head,
                args=(layer, head),
                type="tertiary",
                icon=":material/scatter_plot:",
            )


def sentences(on: Stage, made: Maps | None) -> dict[tuple[int, int], str] | None:
    """A sentence for every head where they have been measured."""
    found = known_evidence(on)
    if found is None:
        return None
    trust = known_trust(on, made)
    columns = {one.grid[1] for one in on.read.encodings if one.grid}
    distance = _distance(found)

    def build() -> dict[tuple[int, int], str]:
        return head_sentences(
            found.orders.table,
            found.offsets.table(),
            distance,
            trust,
            image=on.image,
            columns=columns.pop() if len(columns) == 1 else None,
        )

    return cached.kept("embeddings: sentences", f"{on.key} {'' if trust is None else made.settings}", build)


def _distance(found: Evidence) -> pd.DataFrame:
    """Distance against score by head, the mean over documents."""
    mean = pd.DataFrame(
        pd.DataFrame(found.distance.reshape(found.documents, -1)).mean().to_numpy(), columns=["correlation"]
    )
    heads = found.distance.shape[2]
    mean["layer"] = [layer for layer in found.layers for _ in range(heads)]
    mean["head"] = list(range(heads)) * len(found.layers)
    return mean


def words_panel(on: Stage, made: Maps) -> None:
    """All heads in one sentence each; a row chooses its head."""
    if on.ask.stream == "cross":
        st.caption("Queries and keys are of two texts here: choose the encoder's or the decoder's own attention.")
        return
    if measured(on) is None:
        st.caption("A sentence per head, for whom so many pictures are too many. First all heads have to be measured.")
        return
    told = sentences(on, made)
    frame = pd.DataFrame(
        {
            "head": [f"L{layer} H{head}" for layer, head in told],
            "in words": [text.split(": ", 1)[1] for text in told.values()],
        }
    )
    places = list(told)

    def chosen() -> None:
        rows = st.session_state["embeddings-words"]["selection"]["rows"]
        if rows and rows[0] < len(places):
            choose_head(*places[rows[0]])

    st.dataframe(
        frame,
        hide_index=True,
        height=420,
        row_height=62,  # a sentence takes two lines or three
        key="embeddings-words",
        on_select=chosen,
        selection_mode="single-row",
        column_config={
            "head": st.column_config.TextColumn(width=70),
            "in words": st.column_config.TextColumn(width=760),
        },
    )
    st.caption(f"Choose a row to open its head. {on.read.note} Trust is spoken of once it has been measured.")
    facts = provenance(on.now, read=on.read.note, scale=on.ask.scale, stream=on.ask.stream)
    file = ("headlight-heads-in-words.csv", "text/csv", partial(csv_table, frame, facts))
    download_row({"Sentences as CSV": file}, "embeddings-words")
