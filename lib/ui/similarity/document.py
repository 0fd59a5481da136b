"""One head on one document: its similarity matrix, and its attention map as another object beside it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from lib.capture import Capture
from lib.corpora import TokenTable
from lib.heads import merge_words
from lib.numerals import plural
from lib.similarity import Units, document_units, similarity_matrix
from lib.ui import cached
from lib.ui.message import guarded
from lib.ui.pictures import sentence_starts, shown_tokens
from lib.ui.scene import Scene
from lib.ui.similarity.measures import Ask, outputs
from lib.ui.similarity.wording import KINDS, by_unit
from lib.views import Figure, heatmap_figure, show

MEANS = "A word's vector is the mean of its tokens' vectors."


def document_outputs(scene: Scene, ask: Ask) -> Capture:
    """Head outputs of the chosen document alone."""
    return outputs(scene, (scene.document,), ask.stream)


def shown_units(scene: Scene, ask: Ask, taken: Capture) -> Units:
    """Tokens, words or patches of the chosen document that the pictures show, as the statistics count them."""
    shown_tokens(taken.tokens, scene.choice.special)  # tells where there is none
    return document_units(taken.tokens, scene.choice.special, ask.words)


def matrices(scene: Scene, ask: Ask, taken: Capture) -> Figure:
    """The chosen head's S on the chosen document, and its attention map beside it; returns the picture of S."""
    units = shown_units(scene, ask, taken)
    figure = similarity_figure(scene, ask, taken, units)
    left, right = st.columns(2, gap="medium")
    with left:
        show(figure, "similarity-matrix")
    with right, guarded("the attention of this document"):
        show(attention_figure(scene, ask, taken), "similarity-attention")
    return figure


def similarity_figure(scene: Scene, ask: Ask, taken: Capture, units: Units) -> Figure:
    """S of the chosen head as a heatmap."""
    matrix = chosen_matrix(scene, ask, taken, units)
    table = units.table(taken.tokens, text_of(scene, taken))
    strong = _strong(matrix)
    parts = [MEANS] if ask.words else []
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
        row_title=_unit(scene, ask),
        column_title=_unit(scene, ask),
        title=f"Similarity of outputs, {KINDS[ask.kind]} · L{scene.choice.layer} H{scene.choice.head}",
        note=" ".join(filter(None, parts)),
        kind="diverging",
        value_range=(-1.0, 1.0) if ask.kind == "cosine" else (-strong, strong),
        value_name="cosine" if ask.kind == "cosine" else "z · z",
        boundaries=boundaries(table),
        height=460,
    )


def attention_figure(scene: Scene, ask: Ask, taken: Capture) -> Figure:
    """The same head's attention map on the same document: where it looks, not what becomes alike."""
    pattern = cached.patterns(
        scene.engine.key, scene.document.hash, scene.choice.tokens, taken.stream, scene.engine, scene.encoding
    )[taken.layer_index(scene.choice.layer), scene.choice.head]
    keys = taken.tokens if taken.stream != "cross" else taken.key_tokens
    sides, special = (taken.tokens, keys), scene.choice.special
    kept = [shown_tokens(table, special) for table in sides]
    rows, across = (table.at(which) for table, which in zip(sides, kept, strict=True))
    weights = pattern[np.ix_(*kept)]
    note = "Where the head looks. Two tokens can look at different places and still come out alike."
    if ask.words:
        texts = text_of(scene, taken), scene.document.text if taken.stream == "cross" else text_of(scene, taken)
        weights = merge_words(weights[None], rows, across).pattern[0]
        rows, across = (
            document_units(table, special, words=True).table(table, text)
            for table, text in zip(sides, texts, strict=True)
        )
        note = f"{by_unit(note, words=True)} To a word: the sum over its tokens; from a word: their mean."
    return heatmap_figure(
        weights,
        row_labels=rows.text,
        column_labels=across.text,
        title=f"Another object: the attention map · L{scene.choice.layer} H{scene.choice.head}",
        note=note,
        scale="log",
        boundaries=boundaries(rows),
        column_boundaries=boundaries(across),
        height=460,
    )


def chosen_matrix(scene: Scene, ask: Ask, taken: Capture, units: Units) -> np.ndarray:
    """S of the chosen head over the shown units (unit, unit)."""
    z = taken.z[taken.layer_index(scene.choice.layer), scene.choice.head]
    return similarity_matrix(units.pool(z), ask.kind)


def text_of(scene: Scene, taken: Capture) -> str:
    """The text whose tokens the outputs belong to: of a decoder, what it writes."""
    if taken.stream in ("decoder", "cross"):
        return scene.document.target or scene.document.text
    return scene.document.text


def _unit(scene: Scene, ask: Ask) -> str:
    return "patch" if scene.encoding.grid is not None else "word" if ask.words else "token"


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
