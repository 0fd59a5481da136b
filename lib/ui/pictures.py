"""From a scene to the figures of the Heads page: which tokens are shown, what is masked, what the note says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lib.corpora import Document, TokenTable
from lib.errors import HeadlightError
from lib.heads.visibility import attention_window, causal_stream, visible
from lib.ui import cached
from lib.ui.scene import Scene
from lib.views import Figure, flow, head_view_figure, patch_attention_figure


def masked(scene: Scene) -> np.ndarray | None:
    """Pairs that cannot attend in the chosen layer: (query_pos, key_pos) bool; None where every pair can."""
    size, causal = len(scene.encoding.table), causal_stream(scene.engine, "self")
    seen = visible(size, size, causal, attention_window(scene.engine, scene.choice.layer))
    return None if seen.all() else ~seen


def shown_tokens(table: TokenTable, special: bool) -> np.ndarray:
    """Positions of the tokens to show: all, or all but special ones; (token,) int."""
    if special:
        return np.arange(len(table))
    kept = np.flatnonzero(~table.is_special)
    if not kept.size:
        raise HeadlightError(
            "at least one ordinary token to show", "special tokens only", "Switch special tokens on, or use a text."
        )
    return kept


def left_out(scene: Scene) -> str:
    """What the figure does not show, in one or two sentences; "" where it shows everything."""
    encoding = scene.encoding
    parts = []
    if encoding.lost:
        parts.append(f"The text goes on for {encoding.lost:,} more tokens, cut off here.")
    if not scene.choice.special and (hidden := int(encoding.table.is_special.sum())):
        parts.append(f"{hidden} special tokens are hidden; the weights shown are the model's own, not renormalised.")
    return " ".join(parts)


def scene_patterns(scene: Scene, stream: str = "self") -> np.ndarray:
    """All patterns of the scene's document: (layer, head, query_pos, key_pos), from the store where they are known."""
    return cached.patterns(
        scene.engine.key, scene.document.hash, scene.choice.tokens, stream, scene.engine, scene.encoding
    )


def overview_figure(scene: Scene, pattern: np.ndarray) -> Figure:
    """All layers × all heads as one picture."""
    key = f"{scene.engine.key} {scene.document.hash} {scene.choice.tokens}"
    shown = shown_tokens(scene.encoding.table, scene.choice.special)
    return cached.overview(key, scene.choice.special, left_out(scene), pattern, shown)


def head_figure(scene: Scene, pattern: np.ndarray) -> Figure:
    """The chosen head on the chosen document: lines, heatmap and text, or the image with its patches."""
    layer, head = scene.choice.layer, scene.choice.head
    encoding, title = scene.encoding, f"L{layer} H{head}"
    if encoding.grid:
        return patch_attention_figure(
            encoding.seen,
            encoding.grid,
            pattern[layer, head],
            prefix_labels=[text for text, row in zip(encoding.table.text, encoding.table.row, strict=True) if row < 0],
            title=title,
            note=left_out(scene),
        )
    kept = shown_tokens(encoding.table, scene.choice.special)
    table = encoding.table.at(kept)
    closed = masked(scene)
    return head_view_figure(
        pattern[layer, head][np.ix_(kept, kept)],
        table.text,
        query_flow=flow(scene.document.text, table.start, table.end, table.text),
        query_special=table.is_special,
        mask=None if closed is None else closed[np.ix_(kept, kept)],
        boundaries=sentence_starts(table),
        title=title,
        note=left_out(scene),
        mode="text",
    )


def sentence_starts(table: TokenTable) -> Sequence[int]:
    """Positions at which a sentence begins, the first left out."""
    known = table.sentence
    starts = [i for i in range(1, len(table)) if known[i] >= 0 and known[i] != known[i - 1]]
    return [i for i in starts if known[:i].max() >= 0]


def describe(document: Document, table: TokenTable, lost: int) -> str:
    """One line on a document: its length in tokens and sentences, or its grid."""
    if document.kind == "image":
        rows, cols = int(table.row.max()) + 1, int(table.col.max()) + 1
        return f"{rows} × {cols} patches"
    sentences = len(np.unique(table.sentence[table.sentence >= 0]))
    cut = f", {lost:,} cut off" if lost else ""
    return f"{len(table):,} tokens, {sentences} {'sentence' if sentences == 1 else 'sentences'}{cut}"
