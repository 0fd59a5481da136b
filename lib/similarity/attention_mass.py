"""Where attention itself goes: the mass each layer's maps put on [CLS], [SEP], '.' and other tokens.

This is the attention map A, another object than the similarity of its outputs; the paper's claim about separators
is about A.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lib.capture import Block, observe
from lib.corpora import encode
from lib.stats import bootstrap_mean, weighted_mean

from .statistics import ratio
from .units import CLASSES, token_classes

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ColumnMass:
    """Attention mass by class of key: mass and chance (document, layer, head, class), NaN where a class is absent.

    Classes are those of ``units.CLASSES``: other, [CLS], [SEP], '.'; chance is uniform attention over the keys that
    each row may see.
    """

    layers: tuple[int, ...]
    mass: Array
    chance: Array
    special: bool
    model: str

    def by_layer(self) -> tuple[Array, Array]:
        """Mean over the heads: mass and chance, (document, layer, class)."""
        return self.mass.mean(axis=2), self.chance.mean(axis=2)


class _Keeper:
    """Observer that keeps mean column mass by class of key."""

    needs = frozenset({"pattern"})

    def __init__(self, rows: Sequence[Array], classes: Sequence[Array]) -> None:
        self.rows, self.classes = rows, classes  # per document: query rows that count, class of each key
        self.kept: dict[tuple[int, int], tuple[Array, Array]] = {}  # (document, layer) -> mass, chance

    def see(self, block: Block) -> None:
        pattern = block.pattern[:, self.rows[block.document]]  # (head, query_pos, key_pos)
        member = np.eye(len(CLASSES), dtype=np.float32)[self.classes[block.document]]  # (key_pos, class)
        absent = member.sum(axis=0) == 0
        # a key that no head of the layer gives any weight is hidden by a mask
        seen = (pattern > 0).any(axis=0)
        expected = (seen @ member) / np.maximum(seen.sum(axis=1, keepdims=True), 1)  # (query_pos, class)
        mass = (pattern.mean(axis=1) @ member).astype(np.float64)
        chance = np.broadcast_to(expected.mean(axis=0), mass.shape).copy()
        mass[:, absent], chance[:, absent] = np.nan, np.nan
        self.kept[block.document, block.layer] = (mass, chance)


def column_mass(
    engine: Any,
    documents: Sequence[Any],
    special: bool = False,
    layers: Sequence[int] | None = None,
    stream: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> ColumnMass:
    """Attention mass on [CLS], [SEP], '.' and other keys, by document, layer and head, with its chance.

    documents: Documents or Encodings. special: count the rows of special tokens too; their columns always count.
    stream: as in lib.capture.observe. progress(done, total, stage) may raise to cancel.

    **Source**: Halevi et al., arXiv 2512.21956 (column mass of A); the chance value and the separate classes are
    ours.
    """
    encodings = [encode(document, engine) if hasattr(document, "sentences") else document for document in documents]
    decoder = stream in ("decoder", "cross")
    queries = [encoding.target_table if decoder else encoding.table for encoding in encodings]
    keys = [encoding.target_table if stream == "decoder" else encoding.table for encoding in encodings]
    rows = [np.flatnonzero(np.ones(len(table), dtype=bool) if special else ~table.is_special) for table in queries]
    rows = [np.arange(len(table)) if not len(row) else row for row, table in zip(rows, queries, strict=True)]
    keeper = _Keeper(rows, [token_classes(table) for table in keys])
    observed = observe(engine, encodings, keeper, layers, stream, progress)
    parts = [
        np.stack(
            [
                np.stack([keeper.kept[document, layer][which] for layer in observed.layers])
                for document in range(len(encodings))
            ]
        )
        for which in (0, 1)
    ]
    return ColumnMass(observed.layers, parts[0], parts[1], special, engine.name)


def mass_by_layer(mass: ColumnMass, level: float = 0.95, seed: int = 0) -> pd.DataFrame:
    """Columns layer, on, mass, low, high, chance, lift, lift_low, lift_high; mean over heads, documents alike.

    Intervals over documents, simultaneous over layers and classes; classes that no document has are left out.
    """
    values, chance = mass.by_layer()
    weight = np.ones(len(values))
    plain = bootstrap_mean(values, level=level, seed=seed, simultaneous=True)
    lift = ratio(values, chance, weight, level, seed, simultaneous=True)
    n_layers, n_classes = values.shape[1:]
    frame = pd.DataFrame(
        {
            "layer": np.repeat(mass.layers, n_classes),
            "on": np.tile(CLASSES, n_layers),
            "mass": plain.estimate.ravel(),
            "low": plain.low.ravel(),
            "high": plain.high.ravel(),
            "chance": weighted_mean(chance).ravel(),
            "lift": lift.estimate.ravel(),
            "lift_low": lift.low.ravel(),
            "lift_high": lift.high.ravel(),
        }
    )
    return frame[frame["mass"].notna()].reset_index(drop=True)
