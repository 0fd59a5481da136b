"""Bootstrap over documents for numbers that are not means: spectra, modes and contrasts between layers or models.

Means are in lib.stats. Here every number is recomputed on resampled documents through their Gram matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lib.stats import Interval

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Replicates:
    """A number on the documents as they are, and on bootstrap samples of them.

    estimate (\\*cells); draws (draw, \\*cells), NaN where a sample does not define the number
    documents  how many there were, 0 where it does not matter
    """

    estimate: Array
    draws: Array
    documents: int = 0

    def map(self, number: Callable[[Array], Array]) -> Replicates:
        """The same for a function of the number; it is given (\\*cells) and (draw, \\*cells): use the last axes."""
        return Replicates(number(self.estimate), number(self.draws), self.documents)

    def interval(self, level: float = 0.95, simultaneous: bool = False) -> Interval:
        """The replicates' spread about their own mean, laid round the estimate.

        Drawing documents twice shifts every replicate of a spectrum one way (fewer distinct documents), so plain
        percentiles would sit beside the estimate. ``simultaneous``: one factor times each cell's deviation, so
        that all cells are covered together.

        **Source**: Efron & Tibshirani, *An Introduction to the Bootstrap* (1993), ch. 10 and 13; Beran (1988).
        """
        undefined = np.isnan(self.draws).mean(axis=0) > 0.5
        draws = np.where(undefined, 0.0, self.draws)
        deviation = draws - np.nanmean(draws, axis=0)
        if simultaneous:
            spread = np.nanstd(draws, axis=0)
            with np.errstate(invalid="ignore", divide="ignore"):
                studentised = np.abs(deviation) / np.where(spread > 0, spread, np.nan)
            largest = np.nan_to_num(studentised.reshape(len(draws), -1)).max(axis=1, initial=0.0)
            reach = np.quantile(largest, level) * spread
            low, high = -reach, reach
        else:
            low, high = np.nanquantile(deviation, [(1 - level) / 2, (1 + level) / 2], axis=0)
        bounds = [self.estimate + np.where(undefined, np.nan, bound) for bound in (low, high)]
        return Interval(self.estimate, *bounds, level, self.documents, simultaneous)


def draw_counts(documents: int, draws: int, seed: int = 0) -> Array:
    """How often each document is drawn in each bootstrap sample, int (draw, doc)."""
    share = np.full(documents, 1 / documents)
    return np.random.default_rng(seed).multinomial(documents, share, size=draws)


def centred_gram(gram: Array, counts: Array | None = None) -> Array:
    """A Gram matrix (doc, doc) with the mean of its documents, weighted by ``counts`` (doc,), removed."""
    share = np.full(len(gram), 1 / len(gram)) if counts is None else counts / counts.sum()
    across = gram @ share
    return gram - across[:, None] - across[None, :] + share @ across


def resampled_spectra(gram: Array, draws: int, seed: int = 0) -> list[Array]:
    """Spectra (mode,) of bootstrap samples of the documents behind a Gram matrix (doc, doc), UUᵀ/N.

    A document drawn c times weighs √c, and those not drawn leave the matrix, so each solve has about 0.63 N rows.
    """
    return [np.linalg.eigvalsh(matrix)[::-1] for matrix, _, _ in _samples(gram, draw_counts(len(gram), draws, seed))]


def resampled_vectors(gram: Array, count: int, draws: int, seed: int = 0) -> Iterator[tuple[Array, Array]]:
    """Leading modes of bootstrap samples as combinations of the documents, one sample at a time.

    Yields eigenvalues (mode,) and coefficients (doc, mode), so that a mode is proportional to Σ_s c_sk x_s; the
    coefficients of a mode add up to zero, which centres it.
    """
    for matrix, drawn, root in _samples(gram, draw_counts(len(gram), draws, seed)):
        eigenvalues, vectors = np.linalg.eigh(matrix)
        coefficients = np.zeros((len(gram), min(count, len(drawn))))
        coefficients[drawn] = root[:, None] * vectors[:, : -count - 1 : -1]
        yield eigenvalues[: -count - 1 : -1], coefficients


def _samples(gram: Array, counts: Array) -> Iterator[tuple[Array, Array, Array]]:
    for count in counts:
        drawn = np.flatnonzero(count)
        root = np.sqrt(count[drawn])
        yield centred_gram(gram[np.ix_(drawn, drawn)], count[drawn]) * np.outer(root, root), drawn, root
