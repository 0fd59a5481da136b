"""The chosen head's similar pairs in one document: over its text or image, and listed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from lib.capture import Capture
from lib.numerals import plural
from lib.similarity import pair_list
from lib.ui.pictures import sentence_starts
from lib.ui.scene import Scene
from lib.ui.similarity.document import chosen_matrix, shown_units, text_of
from lib.ui.similarity.measures import Ask
from lib.ui.similarity.wording import by_unit
from lib.ui.tables import numbered
from lib.views import Figure, flow, head_view_figure, patch_attention_figure, show

PAIRS = {
    "all": "All similar pairs",
    "same": "One token with itself",
    "within": "Within a sentence",
    "across": "Across sentences",
}
LISTED = 200
SYMMETRIC = "Similarity has no direction, and none of it is attention."


def pairs(scene: Scene, ask: Ask, taken: Capture) -> pd.DataFrame:
    """The chosen head's similar pairs over the text or image, and listed; returns the list.

    The choice of pairs (repetitions alone, within or across sentences) stands above both.
    """
    text = text_of(scene, taken)
    frame = pair_list(
        taken, 0, scene.choice.layer, scene.choice.head, ask.top, ask.kind, ask.special, ask.words, text=text
    )
    image = scene.encoding.grid is not None
    which = "all"
    if not image:
        which = st.segmented_control(
            "Pairs",
            list(PAIRS),
            format_func=lambda which: by_unit(PAIRS[which], ask.words),
            default="all",
            required=True,
            key="similarity-pairs",
            label_visibility="collapsed",
            persist_state="session",
        )
    if frame.empty:
        st.caption(by_unit("No pair of tokens to compare in this document.", ask.words))
        return frame
    shown = filtered(frame, which)
    total, undefined = frame.attrs["pairs"], frame.attrs["undefined"]
    unit = "patch pairs" if image else "pairs of words" if ask.words else "pairs"
    said = f"Shown: {len(shown):,} of the {len(frame):,} most similar {unit}, out of {total:,}."
    if undefined:
        said += f" Left out: {plural(undefined, 'zero vector')}."
    if image:
        left, right = st.columns([3, 2])
        with left:
            show(image_links(scene, ask, taken, shown, said), "similarity-links")
        with right:
            listed(shown, image)
    else:  # contexts need the whole width
        show(text_links(scene, ask, taken, shown, said), "similarity-links")
        listed(shown, image)
    return frame


def filtered(frame: pd.DataFrame, which: str) -> pd.DataFrame:
    """The pairs of one kind of ``PAIRS``."""
    keep = {
        "all": np.ones(len(frame), dtype=bool),
        "same": frame["same_token"],
        "within": frame["same_sentence"],
        "across": frame["other_sentence"],
    }
    return frame[np.asarray(keep[which], dtype=bool)]


def link_matrix(frame: pd.DataFrame, kept: np.ndarray) -> np.ndarray:
    """Pairs as a symmetric matrix over the shown units (unit, unit), 0 where there is no pair.

    frame: from pair_list; similarities that are not positive get a thousandth of the largest, so that their link
    is drawn. kept: position of each unit's first token (unit,).
    """
    place = np.full(int(kept.max()) + 1, -1)
    place[kept] = np.arange(len(kept))
    matrix = np.zeros((len(kept), len(kept)))
    first, second = frame["first"].to_numpy(int), frame["second"].to_numpy(int)
    known = (first < len(place)) & (second < len(place))
    one, two = place[first[known]], place[second[known]]
    value = frame["similarity"].to_numpy(float)[known]
    value = np.maximum(value, 1e-3 * np.abs(value).max(initial=1e-6))
    both = (one >= 0) & (two >= 0)
    matrix[one[both], two[both]] = matrix[two[both], one[both]] = value[both]
    return matrix


def text_links(scene: Scene, ask: Ask, taken: Capture, frame: pd.DataFrame, said: str) -> Figure:
    """The pairs over the running text: shaded by how much similarity ends in a token or word, lines on request."""
    text, units = text_of(scene, taken), shown_units(scene, ask, taken)
    table = units.table(taken.tokens, text)
    return head_view_figure(
        link_matrix(frame, table.pos),
        table.text,
        query_flow=flow(text, table.start, table.end, table.text),
        query_special=table.is_special,
        boundaries=sentence_starts(table),
        value_name="similarity",
        title=f"Similar pairs of L{scene.choice.layer} H{scene.choice.head}",
        note=f"{said} {SYMMETRIC}",
        mode="text",
        modes=("text", "lines"),
        symmetric=True,
    )


def image_links(scene: Scene, ask: Ask, taken: Capture, frame: pd.DataFrame, said: str) -> Figure:
    """The similarity of every patch to a chosen one over the image; links are the selected pairs at first."""
    units = shown_units(scene, ask, taken)
    table = units.table(taken.tokens)
    return patch_attention_figure(
        scene.encoding.seen,
        scene.encoding.grid,
        chosen_matrix(scene, ask, taken, units),
        prefix_labels=[text for text, row in zip(table.text, table.row, strict=True) if row < 0],
        kind="diverging",
        value_name="cosine" if ask.kind == "cosine" else "z · z",
        title=f"Similarity to a patch, L{scene.choice.layer} H{scene.choice.head}",
        note=said + " Click a patch; links show the pairs above a threshold, at first the selected ones.",
        threshold=float(frame["similarity"].min()),
    )


def listed(frame: pd.DataFrame, image: bool) -> None:
    """The pairs as a table, most similar first."""
    first = "first_text" if image else "first_context"
    second = "second_text" if image else "second_context"
    table = pd.DataFrame(
        {
            "pair": frame["first_text"] + " · " + frame["second_text"],
            "similarity": frame["similarity"],
            "distance": frame["distance"],
            "sentence": np.select([frame["same_sentence"], frame["other_sentence"]], ["same", "other"], "none"),
            "first, in context": frame[first],
            "second, in context": frame[second],
        }
    ).head(LISTED)
    if image:
        table = table.drop(columns=["sentence", "first, in context", "second, in context"])
    st.dataframe(
        numbered(table, {"similarity": ".3g"}),
        hide_index=True,
        height=min(36 * (len(table) + 1), 420 if image else 300),
        width="stretch",
        column_config={
            "pair": st.column_config.TextColumn(width=130),
            "similarity": st.column_config.NumberColumn(width=75),
            "distance": st.column_config.NumberColumn(
                width=70, help="in patch steps" if image else "in kept tokens or words"
            ),
            "sentence": st.column_config.TextColumn(width=70, help="Whether both stand in one; none: a special token"),
        },
    )
    if len(frame) > LISTED:
        st.caption(f"Listed: the first {LISTED} of {len(frame):,}; the download holds all.")
