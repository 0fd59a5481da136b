"""One head over a corpus: how far it reads, what it reads from, and where it writes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lib import stats
from lib.capture import Block, observe
from lib.capture.batching import encoded
from lib.capture.check import trusted
from lib.corpora import Document, Encoding, TokenTable
from lib.heads.outcome import Progress
from lib.heads.scene import scene

REACH = 128  # lags beyond, on either side, are one bin


@dataclass(frozen=True)
class Profile:
    """Of one head, over a corpus.

    lags     one row per lag (query_pos − key_pos; the outermost two hold all that lies farther): lag, share of the
             attention, low, high (95 % interval over documents, simultaneous over lags), chance, lift.
             Empty for cross-attention and images
    read     one row per token that is read from: token, share, chance, lift, count, documents
    written  one row per token that is written to: the same for the length of z at its positions
    """

    lags: pd.DataFrame
    read: pd.DataFrame
    written: pd.DataFrame


def profile(
    engine: Any,
    documents: Sequence[Document | Encoding],
    layer: int,
    head: int,
    stream: str | None = None,
    least: int = 5,
    progress: Progress | None = None,
) -> Profile:
    """How one head reads and writes over a corpus; tokens that occur fewer than ``least`` times are left out.

    A token is read from in proportion to the attention that its positions get, and written to in proportion to the
    length of z at its positions; lift compares with uniform rows, and with positions that all get the same length.

    **Source** lift as in Halevi et al., arXiv 2512.21956 (share ÷ share of the corpus).
    """
    encodings = encoded(engine, documents)
    stream = trusted(engine).stream(stream)
    reader = _Reader(engine, encodings, layer, head, stream)
    observe(engine, encodings, reader, layers=[layer], stream=stream, progress=progress)
    return Profile(reader.lag_table(), _tokens(reader.read, least), _tokens(reader.written, least))


class _Reader:
    """Observer: sums per lag and per token of one head."""

    needs = frozenset({"pattern", "z"})

    def __init__(self, engine: Any, encodings: Sequence[Encoding], layer: int, head: int, stream: str) -> None:
        self.engine, self.encodings, self.layer, self.head, self.stream = engine, encodings, layer, head, stream
        self.lags: list[tuple[np.ndarray, np.ndarray, int]] = []  # mass and chance (lag,), rows
        self.read: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))  # mass, chance, count, documents
        self.written: dict[str, np.ndarray] = defaultdict(lambda: np.zeros(4))

    def see(self, block: Block) -> None:
        place = scene(self.engine, self.encodings[block.document], block.stream, self.layer)
        weights = block.pattern[self.head]
        uniform = place.seen / place.seen.sum(axis=1, keepdims=True)
        _add(self.read, place.keys, weights.sum(axis=0), uniform.sum(axis=0))
        lengths = np.linalg.norm(block.z[self.head], axis=1)
        _add(self.written, place.queries, lengths, np.full(len(lengths), lengths.mean()))
        if not (place.crossing or place.image):
            lag = place.queries.pos[:, None] - place.keys.pos
            bins = np.clip(lag, -REACH, REACH).ravel() + REACH
            mass, chance = (np.bincount(bins, w.ravel(), minlength=2 * REACH + 1) for w in (weights, uniform))
            self.lags.append((mass, chance, len(weights)))

    def lag_table(self) -> pd.DataFrame:
        """Attention by lag, per row."""
        columns = ("lag", "share", "low", "high", "chance", "lift")
        if not self.lags:
            return pd.DataFrame(columns=columns)
        rows = np.array([rows for _, _, rows in self.lags], dtype=float)
        share = np.array([mass for mass, _, _ in self.lags]) / rows[:, None]  # (document, lag)
        chance = stats.weighted_mean(np.array([c for _, c, _ in self.lags]) / rows[:, None], rows)
        interval = stats.bootstrap_mean(share, rows, simultaneous=True)
        with np.errstate(invalid="ignore", divide="ignore"):
            lift = interval.estimate / chance
        table = zip(
            columns,
            (np.arange(-REACH, REACH + 1), interval.estimate, np.maximum(interval.low, 0), interval.high, chance, lift),
            strict=True,
        )
        return pd.DataFrame(dict(table))[chance > 0].reset_index(drop=True)


def _add(sums: dict[str, np.ndarray], table: TokenTable, mass: np.ndarray, chance: np.ndarray) -> None:
    """Add one document's mass and chance per position to the tokens that stand there."""
    for text, own, level in zip(table.text, mass.tolist(), chance.tolist(), strict=True):
        sums[text] += (own, level, 1, 0)
    for text in set(table.text):
        sums[text][3] += 1


def _tokens(sums: dict[str, np.ndarray], least: int) -> pd.DataFrame:
    """Tokens by share, the largest first."""
    mass, chance, count, documents = np.array(list(sums.values())).T
    table = pd.DataFrame(
        {
            "token": list(sums),
            "share": mass / (mass.sum() or 1),
            "chance": chance / (chance.sum() or 1),
            "lift": np.where(chance > 0, mass / np.where(chance > 0, chance, 1), np.nan),
            "count": count.astype(int),
            "documents": documents.astype(int),
        }
    )
    return table[table["count"] >= least].sort_values("share", ascending=False, ignore_index=True)
