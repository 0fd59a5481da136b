"""What stands beside the points: the document or the image they come from, with the chosen head's attention in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from lib.corpora import Encoding, TokenTable
from lib.embeddings import ByPosition, by_position, without
from lib.embeddings.joint import KEY, QUERY
from lib.embeddings.reading import Reading
from lib.heads.visibility import attention_window, causal_stream, visible
from lib.ui import cached
from lib.ui.embeddings.measures import Ask, Points
from lib.ui.embeddings.stage import Stage
from lib.ui.pictures import sentence_starts
from lib.ui.progress import progress_line
from lib.views import Figure, flow, head_view_figure, heatmap_figure, patch_attention_figure

POSITIONS = 48  # of the mean pattern


@dataclass(frozen=True, eq=False)
class Source:
    """The picture of one document, and which point each of its queries and keys is (−1: none)."""

    figure: Figure
    query_points: np.ndarray
    key_points: np.ndarray


def stream_name(ask: Ask) -> str | None:
    """A stream as the measures name it: None for the only one."""
    return None if ask.stream == "self" else ask.stream


def sides(encoding: Encoding, stream: str) -> tuple[TokenTable, TokenTable]:
    """The tokens that look and those that are looked at, of one document."""
    own, target = encoding.table, encoding.target_table
    return (target if stream in ("decoder", "cross") else own), (target if stream == "decoder" else own)


def pattern_of(on: Stage) -> np.ndarray:
    """All patterns of the chosen document, (layer, head, query_pos, key_pos), from the store where known."""
    document, engine = on.read.documents[on.document], on.now.engine
    tokens = on.now.choice.tokens if on.image else on.read.cut
    encoding = on.read.encodings[on.document]
    return cached.patterns(engine.key, document.hash, tokens, on.ask.stream, engine, encoding)


def source(on: Stage, points: Points, first: bool) -> Source:
    """The picture of the chosen document for the chosen head. first: whether position 0 is shown."""
    read, taken, at, layer = on.read, on.taken, on.document, on.chosen[0]
    weights = pattern_of(on)[on.place]
    query_rows, key_rows = (np.full(len(table), -1) for table in (taken.tokens, taken.key_tokens))
    for rows, role in ((query_rows, QUERY), (key_rows, KEY)):
        rows[points.token[points.role == role]] = np.flatnonzero(points.role == role)
    own = query_rows[slice(*taken.doc_offsets[at : at + 2])]
    theirs = key_rows[slice(*taken.key_doc_offsets[at : at + 2])]
    encoding = read.encodings[at]
    title = f"{read.documents[at].name} in {on.name}"
    if encoding.grid is not None:
        prefix = [text for text, row in zip(encoding.table.text, encoding.table.row, strict=True) if row < 0]
        figure = patch_attention_figure(encoding.seen, encoding.grid, weights, prefix_labels=prefix, title=title)
        return Source(figure, own, theirs)
    queries, keys = sides(encoding, on.ask.stream)
    window = attention_window(on.now.engine, layer)
    masked = ~visible(len(queries), len(keys), causal_stream(on.now.engine, on.ask.stream), window)
    hide = keys.is_special & (not on.ask.special)
    names = ["special tokens"] * bool(hide.any())
    if not first:
        hide, names = hide | (keys.pos == 0), [*names, "position 0"]
    hidden = without(weights, hide, " and ".join(names))
    rows = np.flatnonzero(~(queries.is_special & (not on.ask.special)))
    cols = np.flatnonzero(~hide)
    if not (len(rows) and len(cols)):
        rows, cols, hidden = np.arange(len(queries)), np.arange(len(keys)), without(weights, np.zeros(len(keys), bool))
    figure = _text(read, at, queries.at(rows), keys.at(cols), on.ask.stream, hidden.pattern[np.ix_(rows, cols)],
                   masked[np.ix_(rows, cols)], title, hidden.note)  # fmt: skip
    return Source(figure, own[rows], theirs[cols])


def _text(
    read: Reading,
    at: int,
    queries: TokenTable,
    keys: TokenTable,
    stream: str,
    weights: np.ndarray,
    masked: np.ndarray,
    title: str,
    note: str,
) -> Figure:
    document, same = read.documents[at], stream != "cross" and np.array_equal(queries.pos, keys.pos)
    target = document.target or document.text
    own, theirs = {"cross": (target, document.text), "decoder": (target, target)}.get(stream, (document.text,) * 2)
    lost = read.encodings[at].lost
    cut = f"The document goes on for {lost:,} more tokens." if lost else ""
    crossing = {} if same else {
        "key_flow": flow(theirs, keys.start, keys.end, keys.text),
        "key_special": keys.is_special,
        "key_boundaries": sentence_starts(keys),
    }  # fmt: skip
    return head_view_figure(
        weights,
        queries.text,
        None if same else keys.text,
        query_flow=flow(own, queries.start, queries.end, queries.text),
        query_special=queries.is_special,
        mask=masked if masked.any() else None,
        boundaries=sentence_starts(queries),
        title=title,
        note=" ".join(filter(None, (note, cut))),
        **crossing,
    )


def mean_by_position(on: Stage) -> Figure:
    """The mean pattern of the chosen head by position over all documents read."""
    (layer, head), read = on.chosen, on.read

    def build() -> ByPosition:
        with progress_line() as progress:
            stream = stream_name(on.ask)
            return by_position(on.now.engine, read.encodings, layer, stream, POSITIONS, progress)

    with st.empty():  # a place of its own, with and without a progress line
        found = cached.kept("embeddings: by position", f"{on.key} {layer}", build)
    longest = int((found.documents > 0).any(axis=1).sum()), int((found.documents > 0).any(axis=0).sum())
    mean = found.pattern[head, : longest[0], : longest[1]]
    fewest = int(found.documents[: longest[0], : longest[1]].min())
    return heatmap_figure(
        mean,
        row_title="query position",
        column_title="key position",
        title=f"Mean of {on.name} by position",
        note=f"{len(read.documents):,} documents, {fewest:,} of them as long as this; special tokens included.",
        value_name="mean attention",
    )
