"""This head over the corpus: examples from its strongest to its weakest, how far it reads, which tokens it serves."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from lib.corpora import Document
from lib.numerals import plural
from lib.ui.heads.measures import head_examples, head_profile
from lib.ui.heads.wording import SCORES, capital, number
from lib.ui.message import guarded
from lib.ui.scene import Scene
from lib.ui.tables import html_table
from lib.views import charts

SHORT = 240  # characters of an example
NEAR = 24  # lags drawn on either side
LISTED = 12


def corpus_panel(scene: Scene, documents: tuple[Document, ...], stream: str, layer: int, head: int) -> None:
    """Draw examples, lags and tokens of the chosen head."""
    names = ["confidence", "entropy_share", "self"]
    if scene.engine.kind != "vision":
        names += ["previous_token", "next_token", "first_token", "same_sentence", "duplicate_token", "mean_lag"]
    score = st.selectbox(
        "Ranked by",
        names,
        format_func=lambda name: SCORES[name].label,
        key="heads-ranked",
        persist_state="session",
        width=230,
    )
    with guarded("the examples"):
        _examples(head_examples(scene, documents, stream, layer, head, score), documents, score, layer, head)
    if scene.encoding.grid:
        st.caption("How far a head reads among patches stands in its numbers above; which patches, in Patches.")
        return
    found = head_profile(scene, documents, stream, layer, head)
    _lags(found.lags, len(documents))
    left, right = st.columns(2, gap="large")
    with left:
        _tokens(found.read, "Reads from", "share of its attention")
    with right:
        _tokens(found.written, "Writes to", "share of the length of its outputs")


def _examples(found: pd.DataFrame, documents: tuple[Document, ...], score: str, layer: int, head: int) -> None:
    """Sequences by bucket."""
    st.markdown(f"**Examples of L{layer} H{head}**, from the strongest to the weakest; typical is the median")
    rows = []
    before = ""
    for row in found.itertuples():
        text = " ".join(str(row.text).split())
        shown = text if len(text) <= SHORT else f"{text[:SHORT]}…"
        rows.append((row.bucket if row.bucket != before else "", shown, documents[row.document].name[:28],
                     f"{row.rank} of {row.of}", number(row.score)))  # fmt: skip
        before = row.bucket
    frame = pd.DataFrame(rows, columns=["bucket", "sequence", "document", "rank", SCORES[score].label])
    st.dataframe(
        frame,
        hide_index=True,
        width="stretch",
        height=min(36 * (len(frame) + 1), 480),
        column_config={
            "bucket": st.column_config.TextColumn(width=130),
            "sequence": st.column_config.TextColumn(width="large"),
        },
    )
    st.caption(
        f"{capital(SCORES[score].says)}, mean over the rows of a sequence (a sentence, 32 tokens, or one image)."
    )


def _lags(lags: pd.DataFrame, documents: int) -> None:
    """Attention by distance, beside chance."""
    if lags.empty:
        return
    near = lags[lags["lag"].abs() <= NEAR]
    banded = documents > 1
    st.markdown("**How far it reads**")
    chart = charts.line(
        near,
        "lag",
        "share",
        **({"low": "low", "high": "high"} if banded else {}),
        null="chance",
        x_title="lag in tokens (query − key; positive looks back)",
        y_title="share of a row",
    )
    st.altair_chart(chart, width="stretch")
    beyond = lags.loc[lags["lag"].abs() > NEAR, "share"].sum()
    st.caption(
        f"{plural(documents, 'document')}{'; band: 95 %, simultaneous over lags' if banded else ''}; "
        f"dashed: uniform rows. {number(float(beyond))} of the attention lies beyond ±{NEAR} tokens, not drawn."
    )


def _tokens(table: pd.DataFrame, title: str, meaning: str) -> None:
    """The tokens with the largest share."""
    st.markdown(f"**{title}**")
    if table.empty:
        st.caption("No token occurs five times in these documents: there is nothing to compare.")
        return
    columns = ["token", "share", "chance", "lift", "count"]
    rows = [
        (token, number(share), number(chance), f"{number(lift)} ×", str(count))
        for token, share, chance, lift, count in table.head(LISTED)[columns].itertuples(index=False, name=None)
    ]
    st.html(html_table(("token", "share", "chance", "lift", "occurrences"), rows))
    st.caption(f"{capital(meaning)}; tokens that occur fewer than five times are left out.")
