"""Does a head copy? On random tokens said twice, the mass that the repeat puts beside the earlier occurrence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.capture import Block, observe
from lib.corpora import repeated_tokens
from lib.errors import HeadlightError

Array = np.ndarray
LENGTH, SEQUENCES = 25, 8


@dataclass(frozen=True, eq=False)
class Induction:
    """Mass of the repeat's rows, of every head in every sequence.

    after   (sequence, layer, head), on the token after the earlier occurrence: induction as in causal models
    before  the same on the token before it, which only bidirectional models can use
    chance  (sequence,), of uniform rows
    layers  true layer numbers
    """

    after: Array
    before: Array
    chance: Array
    layers: tuple[int, ...]


def induction_of(
    engine: Any, stream: str | None = None, length: int = LENGTH, sequences: int = SEQUENCES, seed: int = 0
) -> Induction:
    """Run the probe; the length is cut to what the model's window holds.

    Raises HeadlightError for models that read no tokens.

    **Source** Olsson et al., "In-context Learning and Induction Heads", 2022, arXiv 2209.11895. The probe in both
    directions follows Yeh et al., AttentionViz, arXiv 2305.03210.
    """
    if engine.max_length is not None:
        length = max(2, min(length, (engine.max_length - 4) // 2))  # four special tokens at most
    probes = repeated_tokens(engine, length, count=sequences, seed=seed)
    tables = [one.target_table if stream == "decoder" else one.table for one in probes]
    keeper = _Keeper(len(probes), [_repeat(table, length) for table in tables], length)
    observed = observe(engine, probes, keeper, stream=stream)
    after, before = (np.stack([keeper.found[layer][part] for layer in observed.layers], axis=1) for part in (0, 1))
    causal = engine.causal if stream is None else stream == "decoder"
    chance = [np.mean(1 / (rows + 1) if causal else np.full(len(rows), 1 / len(table)))
              for rows, table in zip(keeper.rows, tables, strict=True)]  # fmt: skip
    return Induction(after, before, np.array(chance), observed.layers)


def _repeat(table: Any, length: int) -> Array:
    """Positions of the second saying, but its first token, before whose earlier occurrence there may be nothing."""
    ordinary = np.flatnonzero(~table.is_special)
    if len(ordinary) < 2 * length:
        raise HeadlightError(
            f"{2 * length} ordinary tokens", f"{len(ordinary)}", "The probe's tokens are special to this model."
        )
    return ordinary[length + 1 : 2 * length]


class _Keeper:
    """Observer: (after, before) of each block."""

    needs = frozenset({"pattern"})

    def __init__(self, sequences: int, rows: list[Array], length: int) -> None:
        self.sequences, self.rows, self.length = sequences, rows, length
        self.found: dict[int, Array] = {}  # layer -> (after | before, sequence, head)

    def see(self, block: Block) -> None:
        kept = self.found.setdefault(block.layer, np.full((2, self.sequences, len(block.pattern)), np.nan))
        rows = self.rows[block.document]
        earlier = rows - self.length
        for part, step in enumerate((1, -1)):
            kept[part, block.document] = block.pattern[:, rows, earlier + step].mean(axis=1)
