"""How many offsets does a head attend to? One makes a spiral of its map, several make clumps.

Also the mass on a token itself and on position 0, from the same pass over the patterns.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lib.capture import Block, observe
from lib.corpora import Document, Encoding, encode
from lib.stats import bootstrap_mean, weighted_mean

from .errors import EmbeddingError

Array = np.ndarray
REACH = 16  # tokens to either side
SHARE, LIFT = 0.1, 3.0  # least mass of an attended offset, and how many times chance that must be
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Offsets:
    """Attention by offset, of every head in every document.

    mass    (document, layer, head, lag), mean over the rows that have a token there; lags run from −REACH to REACH,
            lag = query position − key position, so 1 is the previous token and 0 the token itself
    chance  (document, lag), the same of uniform rows over the keys that they may see
    first, first_chance  (document, layer, head) and (document,): mass on position 0 of all later rows
    layers  true layer numbers
    """

    mass: Array
    chance: Array
    first: Array
    first_chance: Array
    layers: tuple[int, ...]

    @property
    def lags(self) -> Array:
        """The lag of each entry of the last axis."""
        reach = self.mass.shape[3] // 2
        return np.arange(-reach, reach + 1)

    @property
    def on_itself(self) -> Array:
        """Mass on the token itself (document, layer, head)."""
        return self.mass[..., self.mass.shape[3] // 2]

    def table(self) -> pd.DataFrame:
        """One row per head: offsets attended to, as text and in number, the largest mass, and the kind of map.

        An offset is attended to where its mass is at least 0.1 and the lower bound of its interval (95 % over
        documents, simultaneous over heads and offsets) three times chance; with one document the mass itself.
        """
        interval = bootstrap_mean(self.mass, simultaneous=True)
        chance = weighted_mean(self.chance)
        low = interval.low if len(self.mass) > 1 else interval.estimate
        attended = (interval.estimate >= SHARE) & (np.nan_to_num(low) >= LIFT * chance)
        rows = []
        for index, layer in enumerate(self.layers):
            for head in range(self.mass.shape[2]):
                found = self.lags[attended[index, head]]
                rows.append(
                    {
                        "layer": layer,
                        "head": head,
                        "offsets": ", ".join(f"{-lag:+d}" if lag else "0" for lag in found),
                        "count": len(found),
                        "largest": float(np.nanmax(interval.estimate[index, head])),
                        "shape": _shape(found),
                    }
                )
        return pd.DataFrame(rows)


def offsets_of(
    engine: Any,
    documents: Sequence[Document | Encoding],
    stream: str | None = None,
    progress: Progress | None = None,
) -> Offsets:
    """Run a model over documents and measure attention by offset, on itself and on position 0.

    Rows of special tokens are left out. Raises EmbeddingError for cross-attention, and what ``lib.capture.observe``
    raises.
    """
    if stream == "cross":
        raise EmbeddingError("queries and keys of one text", "cross-attention", "Choose the encoder or the decoder.")
    encodings = [one if isinstance(one, Encoding) else encode(one, engine) for one in documents]
    causal = engine.causal if stream is None else stream == "decoder"
    keeper = _Keeper([one.target_table if stream == "decoder" else one.table for one in encodings], causal)
    observed = observe(engine, encodings, keeper, stream=stream, progress=progress)
    by_layer = [keeper.found[layer] for layer in observed.layers]
    mass, first = (
        np.stack([np.stack([document[part] for document in layer]) for layer in by_layer], axis=1) for part in (0, 1)
    )
    chance = [_measured(uniform[None], rows) for uniform, rows in map(keeper.uniform, range(len(encodings)))]
    return Offsets(
        mass, np.stack([one[0][0] for one in chance]), first, np.array([one[1][0] for one in chance]), observed.layers
    )


def _shape(lags: Array) -> str:
    """What a map looks like that attends to these lags."""
    if len(lags) > 1:
        return f"{len(lags)} offsets: clumps"
    if len(lags) == 0:
        return "no fixed offset"
    return "one offset: a spiral" if lags[0] else "itself: queries on their keys"


class _Keeper:
    """Observer: the mass by offset of each block."""

    needs = frozenset({"pattern"})

    def __init__(self, tables: Sequence[Any], causal: bool) -> None:
        self.tables, self.causal = tables, causal
        self.found: dict[int, list[tuple[Array, Array]]] = {}

    def see(self, block: Block) -> None:
        kept = self.found.setdefault(block.layer, [()] * len(self.tables))
        kept[block.document] = _measured(block.pattern, ~self.tables[block.document].is_special)

    def uniform(self, document: int) -> tuple[Array, Array]:
        """The pattern of uniform rows of one document, and its rows that count."""
        n = len(self.tables[document])
        seen = np.tril(np.ones((n, n))) if self.causal else np.ones((n, n))
        return seen / seen.sum(axis=1, keepdims=True), ~self.tables[document].is_special


def _measured(pattern: Array, rows: Array) -> tuple[Array, Array]:
    """Mean mass at each lag (head, lag) and on position 0 from later rows (head,), NaN where no row has such a key."""
    heads, n, _ = pattern.shape
    mass = np.full((heads, 2 * REACH + 1), np.nan)
    for lag in range(-REACH, REACH + 1):
        if abs(lag) >= n:
            continue
        counted = rows[max(lag, 0) : n + min(lag, 0)]
        if counted.any():
            mass[:, lag + REACH] = np.diagonal(pattern, -lag, 1, 2)[:, counted].mean(axis=1)
    later = rows & (np.arange(n) > 0)
    first = pattern[:, later, 0].mean(axis=1) if later.any() else np.full(heads, np.nan)
    return mass, first
