"""One head on one document: its similarity matrix, its attention map as another object, its similar pairs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import streamlit as st

from lib.capture import Capture
from lib.corpora import TokenTable
from lib.similarity import pair_list, similarity_matrix
from lib.ui import cached
from lib.ui.message import guarded
from lib.ui.pictures import sentence_starts, shown_tokens
from lib.ui.scene import Scene
from lib.ui.similarity.measures import Ask, outputs
from lib.ui.similarity.wording import KINDS
from lib.ui.tables import numbered
from lib.ui.words import plural
from lib.views import Figure, flow, head_view_figure, heatmap_figure, patch_attention_figure, show

PAIRS = {
    "all": "All similar pairs",
    "same": "One token with itself",
    "within": "Within a sentence",
    "across": "Across sentences",
}
LISTED = 200
SYMMETRIC = "Similarity has no direction, and none of it is attention."


def document_outputs(scene: Scene, ask: Ask) -> Capture:
    """Head outputs of the chosen document alone."""
    return outputs(scene, (scene.document,), ask.stream)


def matrices(scene: Scene, ask: Ask, taken: Capture) -> Figure:
    """The chosen head's S on the chosen document, and its attention map beside it; returns the picture of S."""
    kept = shown_tokens(taken.tokens, scene.choice.special)
    figure = similarity_figure(scene, ask, taken, kept)
    left, right = st.columns(2, gap="medium")
    with left:
        show(figure, "similarity-matrix")
    with right, guarded("the attention of this document"):
        show(attention_figure(scene, taken, kept), "similarity-attention")
    return figure


def similarity_figure(scene: Scene, ask: Ask, taken: Capture, kept: np.ndarray) -> Figure:
    """S of the chosen head as a heatmap. kept: positions shown (token,)."""
    matrix = chosen_matrix(scene, ask, taken, kept)
    table = taken.tokens.at(kept)
    strong = _strong(matrix)
    parts = []
    if ask.kind == "dot":
        parts.append(
            "Colours end where one pair in 200 lies beyond; those and the diagonal ‖z‖² are drawn no stronger."
        )
    if undefined := int(np.isnan(np.diag(matrix)).sum()):
        parts.append(f"Hatched, for they have no cosine: {plural(undefined, 'zero vector')}.")
    if taken.lost[0]:
        parts.append(f"{taken.lost[0]:,} more tokens are cut off.")
    parts.append(_specials(taken.tokens, scene.choice.special))
    if taken.causal:
        parts.append("Causal model: both tokens of a pair saw only what precedes them.")
    return heatmap_figure(
        matrix,
        row_labels=table.text,
        column_labels=table.text,
        row_title="token",
        column_title="token",
        title=f"Similarity of outputs, {KINDS[ask.kind]} · L{scene.choice.layer} H{scene.choice.head}",
        note=" ".join(filter(None, parts)),
        kind="diverging",
        value_range=(-1.0, 1.0) if ask.kind == "cosine" else (-strong, strong),
        value_name="cosine" if ask.kind == "cosine" else "z · z",
        boundaries=boundaries(table),
        height=460,
    )


def attention_figure(scene: Scene, taken: Capture, kept: np.ndarray) -> Figure:
    """The same head's attention map on the same document: where it looks, not what becomes alike."""
    pattern = cached.patterns(
        scene.engine.key, scene.document.hash, scene.choice.tokens, taken.stream, scene.engine, scene.encoding
    )[taken.layer_index(scene.choice.layer), scene.choice.head]
    keys = taken.tokens if taken.stream != "cross" else taken.key_tokens
    columns = kept if taken.stream != "cross" else shown_tokens(keys, scene.choice.special)
    rows, across = taken.tokens.at(kept), keys.at(columns)
    return heatmap_figure(
        pattern[np.ix_(kept, columns)],
        row_labels=rows.text,
        column_labels=across.text,
        title=f"Another object: the attention map · L{scene.choice.layer} H{scene.choice.head}",
        note="Where the head looks. Two tokens can look at different places and still come out alike.",
        scale="log",
        boundaries=boundaries(rows),
        column_boundaries=boundaries(across),
        height=460,
    )


def chosen_matrix(scene: Scene, ask: Ask, taken: Capture, kept: np.ndarray) -> np.ndarray:
    """S of the chosen head over the shown tokens (token, token)."""
    z = taken.z[taken.layer_index(scene.choice.layer), scene.choice.head]
    return similarity_matrix(z[kept], ask.kind)


def _strong(matrix: np.ndarray) -> float:
    """Size of the similarity that one pair in 200 exceeds; the few largest would leave all others pale."""
    sizes = np.abs(matrix[np.triu_indices(len(matrix), 1)])
    return float(np.nanquantile(sizes, 0.995)) if np.isfinite(sizes).any() and np.nanmax(sizes) > 0 else 1.0


def _specials(table: TokenTable, special: bool) -> str:
    hidden = 0 if special else int(table.is_special.sum())
    return f"Left out: {plural(hidden, 'special token')}." if hidden else ""


def boundaries(table: TokenTable) -> Sequence[int]:
    """Where a sentence begins, or, on an image, a row of patches."""
    row = np.asarray(table.row)
    if (row >= 0).any():
        return [i for i in range(1, len(row)) if row[i] != row[i - 1]]
    return sentence_starts(table)


def pairs(scene: Scene, ask: Ask, taken: Capture) -> pd.DataFrame:
    """The chosen head's similar pairs over the text or image, and listed; returns the list.

    The choice of pairs (repetitions alone, within or across sentences) stands above both.
    """
    text = _text(scene, taken)
    frame = pair_list(
        taken, 0, scene.choice.layer, scene.choice.head, ask.top, ask.kind, ask.special, ask.words, text=text
    )
    image = scene.encoding.grid is not None
    which = "all"
    if not image:
        which = st.segmented_control(
            "Pairs",
            list(PAIRS),
            format_func=PAIRS.__getitem__,
            default="all",
            required=True,
            key="similarity-pairs",
            label_visibility="collapsed",
            persist_state="session",
        )
    if frame.empty:
        st.caption("No pair of tokens to compare in this document.")
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


def _text(scene: Scene, taken: Capture) -> str:
    if taken.stream in ("decoder", "cross"):
        return scene.document.target or scene.document.text
    return scene.document.text


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
    """Pairs as a symmetric matrix over the shown tokens (token, token), 0 where there is no pair.

    frame: from pair_list; similarities that are not positive get a thousandth of the largest, so that their link
    is drawn.
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
    """The pairs over the running text: shaded by how much similarity ends in a token, lines on request."""
    kept = shown_tokens(taken.tokens, scene.choice.special)
    table = taken.tokens.at(kept)
    return head_view_figure(
        link_matrix(frame, kept),
        table.text,
        query_flow=flow(_text(scene, taken), table.start, table.end, table.text),
        query_special=table.is_special,
        boundaries=sentence_starts(table),
        value_name="similarity",
        title=f"Similar pairs of L{scene.choice.layer} H{scene.choice.head}",
        note=f"{said} {SYMMETRIC}" + (" Words are drawn at their first token." if ask.words else ""),
        mode="text",
        modes=("text", "lines"),
        symmetric=True,
    )


def image_links(scene: Scene, ask: Ask, taken: Capture, frame: pd.DataFrame, said: str) -> Figure:
    """The similarity of every patch to a chosen one over the image; links are the selected pairs at first."""
    kept = shown_tokens(taken.tokens, scene.choice.special)
    matrix = chosen_matrix(scene, ask, taken, kept)
    table = taken.tokens.at(kept)
    return patch_attention_figure(
        scene.encoding.seen,
        scene.encoding.grid,
        matrix,
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
