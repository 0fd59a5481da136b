"""What the similarities can be used for: orders for pruning, features to take away, keywords, a second model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import streamlit as st

from lib.numerals import plural, written
from lib.similarity import (
    Measured,
    head_alignment,
    heads_of,
    rank_keywords,
    redundancy_order,
    repetition_order,
    token_features,
)
from lib.ui import cached
from lib.ui.captured import corpus_key
from lib.ui.downloads import download_row
from lib.ui.message import guarded
from lib.ui.progress import progress_line
from lib.ui.pruning_orders import Orders, hand_over
from lib.ui.scene import Scene
from lib.ui.similarity.compare import second
from lib.ui.similarity.measures import Ask, corpus_facts, corpus_name, documents, kept_here, measured_key, outputs
from lib.ui.similarity.wording import ends
from lib.ui.state import choose_head
from lib.ui.tables import csv_table, html_table, numbered
from lib.views import heatmap_figure, npz_bytes, show

USES = {
    "orders": "Heads to prune",
    "features": "Token features",
    "keywords": "Keywords",
    "second": "A second model",
}
ORDERS = {
    "by similarity": "By similarity: of the two most alike heads, one goes first.",
    "by repetition": "By repetition: heads that rarely make a token alike with itself go first.",
}
MOST_ROWS = 200  # of the features, on screen
MOST_TOKENS = 4096  # compared when heads are compared with one another


def uses(scene: Scene, ask: Ask, measured: Measured, table: pd.DataFrame) -> None:
    """One of the uses, chosen by name."""
    which = st.segmented_control(
        "Use",
        list(USES),
        format_func=USES.__getitem__,
        default="orders",
        required=True,
        key="similarity-use",
        label_visibility="collapsed",
        persist_state="session",
    )
    with guarded(f"this use of similarity ({USES[which].lower()})"):
        if which == "features":
            features(scene, ask)
        elif which == "keywords":
            keywords(scene, ask)
        elif which == "second":
            second(scene, ask, measured)
        else:
            orders(scene, ask, measured, table)


def alignment(scene: Scene, ask: Ask) -> np.ndarray:
    """How alike the geometries of every two heads are (head, head)."""
    chosen = documents(scene, ask)

    def build() -> np.ndarray:
        taken = outputs(scene, chosen, ask.stream)
        with progress_line() as progress:
            return head_alignment(taken, MOST_TOKENS, progress)

    return kept_here("head alignment", f"{corpus_key(scene, chosen, scene.engine)} {ask.stream}", build)


def orders(scene: Scene, ask: Ask, measured: Measured, table: pd.DataFrame) -> None:
    """Heads by redundancy and by how rarely they repeat a token: two orders for pruning, and why."""
    matrix, heads = alignment(scene, ask), heads_of(measured)
    names = [f"L{layer} H{head}" for layer, head in heads]
    by_use = {"by similarity": tuple(redundancy_order(matrix, heads))}
    if table["same_token_lift"].notna().any():  # patches have no identity that could come again
        by_use["by repetition"] = tuple(repetition_order(table))
    source = f"found on {plural(len(measured.documents), 'document')} of {corpus_name(scene)}"
    hand_over(scene.engine.key, ask.stream, Orders(source, by_use))
    left, right = st.columns([3, 2])
    with left:
        figure = heatmap_figure(
            matrix,
            row_labels=names,
            column_labels=names,
            row_title="head",
            column_title="head",
            title="How alike the similarities of two heads are (linear CKA)",
            note="0: unrelated, 1: the same up to rotation and scale. Special tokens are left out; at most "
            f"{MOST_TOKENS:,} tokens, from evenly spaced documents.",
            value_name="CKA",
            value_range=(0.0, 1.0),
            boundaries=range(measured.shape[1], len(heads), measured.shape[1]),
            lag=False,
            height=520,
        )
        show(figure, "similarity-alignment", lambda row, _: choose_head(*heads[row]))
    with right:
        st.markdown("**Orders of removal**")
        columns = {name: [f"L{layer} H{head}" for layer, head in order] for name, order in by_use.items()}
        frame = pd.DataFrame({"order": range(1, len(heads) + 1), **columns})
        st.dataframe(frame, hide_index=True, height=420, width="stretch")
        facts = corpus_facts(scene, ask)
        csv = ("headlight-pruning-orders.csv", "text/csv", lambda: csv_table(frame, facts))
        download_row({"Orders as CSV": csv}, "orders")
        st.caption(
            " ".join(ORDERS[name] for name in by_use) + " That a head is redundant in geometry does not make it "
            "useless: what the model loses along such an order is measured on Heads, Switch off."
        )
        st.page_link("pages/heads.py", label="Try it on Heads, Switch off", icon=":material/grid_on:")


def features(scene: Scene, ask: Ask) -> None:
    """What every token's neighbourhood looks like in every head, to take away."""
    found = _features(scene, ask)
    frame = cached.kept("features by layer", measured_key(scene, ask), found.frame)
    st.markdown(
        f"**{len(frame):,} rows**, one per {'word' if ask.words else 'token'}, "
        f"{frame.shape[1]} columns: means over the heads of each layer. The npz holds every head apart."
    )
    facts = corpus_facts(scene, ask)
    columns = found.columns()
    download_row(
        {
            "Features as CSV": (
                "headlight-token-features.csv",
                "text/csv",
                lambda: csv_table(frame, facts),
            ),
            "Every head as npz": (
                "headlight-token-features.npz",
                "application/octet-stream",
                lambda: npz_bytes(found.arrays(), facts),
            ),
            "Columns explained": (
                "headlight-token-features-columns.csv",
                "text/csv",
                lambda: csv_table(columns, facts),
            ),
        },
        "features",
    )
    shown = frame.head(MOST_ROWS)
    numbers = dict.fromkeys(shown.select_dtypes("floating"), ".3f") | {"sentence": "d"}
    st.dataframe(numbered(shown, numbers), hide_index=True, width="stretch")
    if len(frame) > MOST_ROWS:
        st.caption(f"The first {MOST_ROWS} rows.")
    meaning = st.column_config.TextColumn(width="large")
    st.dataframe(columns, hide_index=True, width="stretch", column_config={"meaning": meaning})


def _features(scene: Scene, ask: Ask):
    chosen = documents(scene, ask)

    def build():
        taken = outputs(scene, chosen, ask.stream)
        with progress_line() as progress:
            return token_features(taken, ask.top, ask.kind, ask.special, ask.words, progress)

    return kept_here("features", measured_key(scene, ask), build)


def keywords(scene: Scene, ask: Ask) -> None:
    """Does a word that many others resemble say what a text is about? Ranked, and scored on titles."""
    words = replace(ask, words=True, special=False)
    chosen = documents(scene, words)
    key = f"{corpus_key(scene, chosen, scene.engine)} {words}"
    found = kept_here("keywords", key, lambda: rank_keywords(_features(scene, words), chosen))
    change, low, high = found.difference
    st.markdown(
        f"Ranking by neighbourhood features is **{written(change, '+.2f')}** {ends(low, high, '+.2f')} in mean "
        f"reciprocal rank against tf-idf, on {found.documents} documents whose title occurs in their text."
    )
    left, right = st.columns([2, 3])
    rows = [
        (
            row.method,
            f"{written(row.reciprocal_rank, '.2f')} {ends(row.rank_low, row.rank_high, '.2f')}".strip(),
            f"{written(row.in_first_ten, '.2f')} {ends(row.ten_low, row.ten_high, '.2f')}".strip(),
        )
        for row in found.scores.itertuples()
    ]
    left.html(html_table(("method", "reciprocal rank [95 %]", "in first ten [95 %]"), rows))
    halves = "; ".join(f"{name} in L{layer}" for layer, name in found.chosen)
    left.caption(
        "Reciprocal rank: 1 ÷ place of the first true word. In first ten: share of the true words there. True words: "
        f"those of title and subject. Chosen on the other half of the documents: {halves}. Intervals over documents; "
        "chance ranks at random."
    )
    right.dataframe(found.rankings, hide_index=True, width="stretch")
