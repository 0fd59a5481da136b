"""The census: every head is scored while the model reads; a document leaves a vector of scores, never a pattern."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lib.capture import Block, observe
from lib.capture.check import trusted
from lib.corpora import Document, Encoding, encode
from lib.heads.scene import Scene, scene
from lib.heads.scores import Score, chance_rows, row_scores, scores_of
from lib.heads.tally import Tally
from lib.heads.visibility import attention_window

Progress = Callable[[int, int, str], None]

NORMS = (
    Score("norm_gap", "norm gap", "mean length of queries minus mean length of keys", "difference"),
    Score("z_norm", "output norm", "mean length of z, the head's output before W_O", "norm"),
)
NORM_CHANCE = np.array([0.0, np.nan])  # nothing says how long an output is by chance


def tally_heads(
    engine: Any,
    documents: Sequence[Document | Encoding],
    stream: str | None = None,
    special: bool = True,
    progress: Progress | None = None,
) -> Tally:
    """Score every head in every document.

    stream: None for the only one, or the encoder's; "encoder", "decoder", "cross". special: whether special tokens
    take part; without them rows are renormalised over the other tokens.

    Raises what ``lib.capture.observe`` raises.
    """
    encodings = [d if isinstance(d, Encoding) else encode(d, engine) for d in documents]
    layout = trusted(engine)
    last = layout.streams[layout.stream(stream)][-1]
    census = _Census(engine, encodings, special, last)
    observed = observe(engine, encodings, census, stream=stream, progress=progress)
    found = [census.found[layer] for layer in observed.layers]  # layer, document, (values, chance, rows, excluded)
    values, chance, rows, excluded = (
        np.stack([np.stack([document[part] for document in layer]) for layer in found], axis=1) for part in range(4)
    )
    return Tally(
        values, chance, rows, excluded.sum(axis=0), observed.layers, census.scores, census.stream, special,
        engine.name, len(observed.tokens), sum(observed.lost),
    )  # fmt: skip


class _Census:
    """Observer: the mean scores of each block, by layer and document."""

    needs = frozenset({"pattern", "query", "key", "z"})

    def __init__(self, engine: Any, encodings: Sequence[Encoding], special: bool, last: int) -> None:
        self.engine, self.encodings, self.special, self.last = engine, encodings, special, last
        self.scenes: dict[int, dict[int | None, tuple[Scene, np.ndarray]]] = {}  # document -> window -> scene, chance
        self.found: dict[int, list[tuple[np.ndarray, ...]]] = {}  # layer -> per document
        self.scores: tuple[Score, ...] = ()
        self.stream = "self"

    def see(self, block: Block) -> None:
        current, chance = self._scene(block)
        self.stream, self.scores = block.stream, scores_of(current) + NORMS
        values, chances, rows, excluded = _document_scores(row_scores(block.pattern, current, chance), current, chance)
        lengths = {name: _lengths(getattr(block, name)).mean(axis=1) for name in ("query", "key", "z")}
        norms = np.stack([lengths["query"] - lengths["key"], lengths["z"]], axis=1)  # (head, norm)
        layer = self.found.setdefault(block.layer, [()] * len(self.encodings))
        layer[block.document] = (
            np.c_[values, norms].astype(np.float32),
            np.c_[chances, np.broadcast_to(NORM_CHANCE, norms.shape)].astype(np.float32),
            np.c_[rows, np.full(norms.shape, block.z.shape[1])].astype(np.float32),
            excluded,
        )
        if block.layer == self.last:
            del self.scenes[block.document]

    def _scene(self, block: Block) -> tuple[Scene, np.ndarray]:
        window = attention_window(self.engine, block.layer)
        kept = self.scenes.setdefault(block.document, {})
        if window not in kept:
            made = scene(self.engine, self.encodings[block.document], block.stream, block.layer, self.special)
            kept[window] = made, chance_rows(made)
        return kept[window]


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """‖v‖ of (head, pos, d_head): (head, pos)."""
    return np.sqrt(np.einsum("hpd,hpd->hp", vectors, vectors))


def _document_scores(values: np.ndarray, current: Scene, chance: np.ndarray) -> tuple[np.ndarray, ...]:
    """From rows (score, head, query_pos) to means, chance and numbers of rows (head, score), and excluded rows (head,).

    Chance is the mean over exactly the rows that the head's own mean runs over.
    """
    defined = ~np.isnan(values)
    rows = defined.sum(axis=2)
    divisor = np.where(rows > 0, rows, np.nan)
    means = np.where(defined, values, 0).sum(axis=2, dtype=np.float64) / divisor
    chances = np.where(defined, chance[:, None], 0).sum(axis=2, dtype=np.float64) / divisor
    expected = int(current.allowed.any(axis=1).sum())
    confidence = [score.name for score in scores_of(current)].index("confidence")
    return means.T, chances.T, rows.T, expected - rows[confidence]
