"""What the pictures of a scene have in common: which tokens are shown, what is masked, what the note says."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lib.corpora import Document, TokenTable
from lib.errors import HeadlightError
from lib.heads.visibility import attention_window, causal_stream, visible
from lib.models import Engine
from lib.ui import cached
from lib.ui.scene import Scene
from lib.views import Figure


def streams(engine: Engine) -> tuple[str, ...]:
    """Where a model attends: "self", or the three attentions of an encoder–decoder."""
    return ("encoder", "decoder", "cross") if engine.kind == "encoder-decoder" else ("self",)


def tables(scene: Scene, stream: str) -> tuple[TokenTable, TokenTable]:
    """The tokens that look and the tokens that are looked at, in the chosen document."""
    own, target = scene.encoding.table, scene.encoding.target_table
    return (target if stream in ("decoder", "cross") else own), (target if stream == "decoder" else own)


def layers(scene: Scene, stream: str) -> tuple[int, ...]:
    """The true numbers of a stream's layers, in the order of a pattern's first axis."""
    return cached.stream_layers(scene.engine.key, stream, scene.engine)


def chosen_place(scene: Scene, pattern: np.ndarray, stream: str) -> tuple[int, int]:
    """The chosen head as (row of the pattern, head), or the nearest there is."""
    numbers = np.array(layers(scene, stream))
    row = int(np.abs(numbers - scene.choice.layer).argmin())
    return row, min(scene.choice.head, pattern.shape[1] - 1)


def masked(scene: Scene, stream: str, layer: int) -> np.ndarray:
    """Pairs that cannot attend in a layer: (query_pos, key_pos) bool."""
    queries, keys = tables(scene, stream)
    window = attention_window(scene.engine, layer)
    return ~visible(len(queries), len(keys), causal_stream(scene.engine, stream), window)


def layer_masks(scene: Scene, stream: str) -> np.ndarray:
    """The same for every layer: (layer, query_pos, key_pos), one array seen many times where layers agree."""
    numbers = layers(scene, stream)
    if len({attention_window(scene.engine, layer) for layer in numbers}) == 1:
        one = masked(scene, stream, numbers[0])
        return np.broadcast_to(one, (len(numbers), *one.shape))
    return np.stack([masked(scene, stream, layer) for layer in numbers])


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
    if not scene.choice.special and not encoding.grid and (hidden := int(encoding.table.is_special.sum())):
        parts.append(f"{hidden} special tokens are hidden; the weights shown are the model's own, not renormalised.")
    return " ".join(parts)


def scene_patterns(scene: Scene, stream: str = "self") -> np.ndarray:
    """All patterns of the scene's document: (layer, head, query_pos, key_pos), from the store where they are known."""
    return cached.patterns(
        scene.engine.key, scene.document.hash, scene.choice.tokens, stream, scene.engine, scene.encoding
    )


def overview_figure(
    scene: Scene, pattern: np.ndarray, stream: str, names: Sequence[Sequence[str]] | None = None, named: str = ""
) -> Figure:
    """All layers × all heads as one picture of patterns. names: of the heads; named: tells one set of names apart."""
    special = scene.choice.special or scene.encoding.grid is not None
    key = f"{scene.engine.key} {scene.document.hash} {scene.choice.tokens} {stream} {special} {named}"
    rows, columns = (shown_tokens(table, special) for table in tables(scene, stream))
    masks = layer_masks(scene, stream)
    if not special:
        pattern, masks = (array[..., rows, :][..., columns] for array in (pattern, masks))
    note = f"Click a square, or move with the arrow keys. {left_out(scene)}"
    return cached.overview(key, note, pattern, masks, layers(scene, stream), names)


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
