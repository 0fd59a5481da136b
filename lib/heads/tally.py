"""Tally: the scores of every head in every document, and what they say about the corpus.

A document is kept as a vector of scores, so intervals come from resampling documents.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib import stats
from lib.errors import HeadlightError
from lib.heads.scores import Score

DRAWS = 1000
SHARES = ("mass", "share")  # bounded by 0 and 1: intervals are cut there


@dataclass(frozen=True, eq=False)
class Tally:
    """Scores per document; the arrays are (document, layer, head, score), NaN where undefined.

    values    mean over the rows that define the score
    chance    the same for uniform rows
    rows      number of those rows: the weight of a document in a mean over rows
    excluded  (layer, head) rows left out because they held NaN or nothing
    layers    true layer numbers of the layer axis
    scores    what stands on the score axis
    special   whether special tokens took part
    tokens, lost  of all documents: rows of the token table, and tokens cut off by the window
    """

    values: np.ndarray
    chance: np.ndarray
    rows: np.ndarray
    excluded: np.ndarray
    layers: tuple[int, ...]
    scores: tuple[Score, ...]
    stream: str = "self"
    special: bool = True
    model: str = ""
    tokens: int = 0
    lost: int = 0

    @property
    def documents(self) -> int:
        """Number of documents."""
        return len(self.values)

    def place(self, name: str) -> int:
        """Position of a score on the score axis; raises HeadlightError for a name that is none."""
        names = [score.name for score in self.scores]
        if name not in names:
            raise HeadlightError(f"one of the scores {', '.join(names)}", repr(name), "Choose one of these.")
        return names.index(name)

    def of(self, name: str) -> tuple[stats.Interval, np.ndarray]:
        """One score of all heads with its 95 % interval, simultaneous over heads, and its chance; (layer, head).

        Where fewer than two documents define the score there is no interval.
        """
        place = self.place(name)
        return _summary(self.values[..., place], self.chance[..., place], self.rows[..., place])

    def by_layer(self, name: str) -> tuple[stats.Interval, np.ndarray]:
        """The same for the mean over the heads of each layer: (layer,), simultaneous over layers."""
        place = self.place(name)
        weights = self.rows[..., place].astype(np.float64)
        rows = weights.sum(axis=2)
        values, chance = (
            np.nansum(array[..., place] * weights, axis=2) / np.where(rows > 0, rows, np.nan)
            for array in (self.values, self.chance)
        )
        return _summary(values, chance, rows)


def _summary(values: np.ndarray, chance: np.ndarray, rows: np.ndarray) -> tuple[stats.Interval, np.ndarray]:
    """Mean over documents weighted by rows, its interval over documents, and the chance level."""
    interval = stats.bootstrap_mean(values, rows, draws=DRAWS, simultaneous=True)
    alone = (~np.isnan(values)).sum(axis=0) < 2
    low, high = (np.where(alone, np.nan, bound) for bound in (interval.low, interval.high))
    level = stats.weighted_mean(chance, rows)
    return stats.Interval(interval.estimate, low, high, interval.level, interval.documents, True), level


def columns(tally: Tally, name: str) -> dict[str, np.ndarray]:
    """NAME, NAME_chance, NAME_low and NAME_high of one score: each (layer · head,)."""
    interval, chance = tally.of(name)
    low, high = interval.low, interval.high
    if tally.scores[tally.place(name)].unit in SHARES:
        low, high = np.maximum(low, 0), np.minimum(high, 1)
    found = {name: interval.estimate, f"{name}_chance": chance, f"{name}_low": low, f"{name}_high": high}
    return {column: array.ravel() for column, array in found.items()}


def frame(tally: Tally) -> pd.DataFrame:
    """All scores as one row per (layer, head): layer, head, four columns per score, excluded_rows."""
    heads = tally.excluded.shape[1]
    table: dict[str, np.ndarray] = {
        "layer": np.repeat(tally.layers, heads),
        "head": np.tile(np.arange(heads), len(tally.layers)),
    }
    for score in tally.scores:
        table |= columns(tally, score.name)
    return pd.DataFrame(table | {"excluded_rows": tally.excluded.ravel()})
