"""What a spectrum would be without structure, and whether the ensemble is large enough to tell.

Two nulls: white noise in the same cells, and each lag's diagonal shuffled independently between documents, which
keeps every document's material and the lag-energy profile but not what belongs together across lags.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from lib.errors import HeadlightError

from .fields import FEWEST_DOCUMENTS, Field, as_field, require_documents
from .given import real_numbers
from .pod import NEGLIGIBLE_WEIGHT
from .resampling import centred_gram
from .spectrum import effective_rank

Array = np.ndarray
GROWTH = 1.1  # H* at N over H* at N/2 from which the rank still grows with N


def white_noise_spectra(documents: int, cells: Array | int, draws: int = 20, seed: int = 0) -> Array:
    """Spectra (draw, mode) of N centred documents of white noise, by Bartlett's decomposition.

    cells: their number, or a window (\\*cells) through which the noise is seen; unequal weights w count as
    (Σw²)²/Σw⁴ equal cells. No noise is drawn per cell: the Gram matrix of N − 1 directions is Wishart.

    **Source**: Anderson, *An Introduction to Multivariate Statistical Analysis* (2003), §7.2 (Bartlett);
    Satterthwaite (1946), *Biometrics Bull.* 2 (equal cells).
    """
    if documents < FEWEST_DOCUMENTS:
        raise HeadlightError(f"at least {FEWEST_DOCUMENTS} documents", f"{documents}", "Add documents.")
    weights = np.asarray(cells, dtype=np.float64) ** 2
    freedom = float(cells) if weights.ndim == 0 else float(weights.sum() ** 2 / (weights**2).sum())
    directions = documents - 1
    rng = np.random.default_rng(seed)
    spectra = np.zeros((draws, directions))
    for spectrum in spectra:
        modes = min(directions, int(freedom))
        if modes < directions:  # fewer cells than directions: the nonzero spectrum is that of the cells
            noise = rng.standard_normal((modes, directions))
            spectrum[:modes] = np.linalg.eigvalsh(noise @ noise.T)[::-1]
            continue
        factor = np.tril(rng.standard_normal((directions, directions)), -1)
        np.fill_diagonal(factor, np.sqrt(rng.chisquare(freedom - np.arange(directions))))
        spectrum[:] = np.linalg.eigvalsh(factor @ factor.T)[::-1]
    return np.maximum(spectra, 0) / documents


def shuffled_lag_spectra(field: Field | Array, window: Array | None = None, draws: int = 6, seed: int = 0) -> Array:
    """Spectra (draw, mode) of the field after each lag's diagonal changed hands between documents.

    The documents are permuted independently for every lag; window as for ``snapshot_pod``.
    """
    field = as_field(field)
    require_documents(field)
    diagonals = _diagonals(field, window)
    rng = np.random.default_rng(seed)
    spectra = np.zeros((draws, field.documents - 1))
    shuffled = np.empty((field.documents, sum(d.shape[1] for d in diagonals)), np.float32)
    for spectrum in spectra:
        start = 0
        for diagonal in diagonals:
            stop = start + diagonal.shape[1]
            np.take(diagonal, rng.permutation(field.documents), axis=0, out=shuffled[:, start:stop])
            start = stop
        gram = (shuffled @ shuffled.T).astype(np.float64) / field.documents
        spectrum[:] = np.linalg.eigvalsh(centred_gram(gram))[:0:-1]
    return np.maximum(spectra, 0)


def null_interval(values: Array, level: float = 0.95) -> tuple[float, float]:
    """Interval in which one more draw of the null would lie: mean ± t·sd·√(1 + 1/n) of simulated values (draw,)."""
    values = np.asarray(values, dtype=np.float64)
    n = len(values)
    if n < 2:
        return float("nan"), float("nan")
    reach = stats.t.ppf((1 + level) / 2, n - 1) * values.std(ddof=1) * np.sqrt(1 + 1 / n)
    return float(values.mean() - reach), float(values.mean() + reach)


@dataclass(frozen=True, eq=False)
class RankGrowth:
    """H*(ε) against the number of documents, and whether it can be believed.

    documents  (size,) N of each subset; the last is the whole ensemble
    rank       (size,) mean H* over random subsets of that size
    bound      (size,) ⌈(1 − ε)(N − 1)⌉, what a flat spectrum gives
    noise      interval of H* of white noise at the full N
    epsilon    ε
    spectra    per size, the eigenvalues of its subsets (draw, mode); white those of white noise, None without cells
    """

    documents: Array
    rank: Array
    bound: Array
    noise: tuple[float, float]
    epsilon: float
    spectra: tuple[Array, ...]
    white: Array | None

    @property
    def unresolved(self) -> str:
        """Why the rank says nothing yet, or "" where it is resolved."""
        if self.rank[-1] >= self.noise[0]:
            return "unresolved: needs more documents (white noise needs as many modes)"
        half = np.interp(self.documents[-1] / 2, self.documents, self.rank)
        if self.rank[-1] >= max(GROWTH * half, half + 1):
            return "unresolved: needs more documents (the rank still grows with N)"
        return ""

    def at(self, epsilon: float) -> RankGrowth:
        """The same at another ε, from the spectra that are known."""
        return _grown(self.documents, self.spectra, self.white, epsilon)


def rank_growth(
    gram: Array,
    epsilon: float = 0.1,
    cells: Array | int | None = None,
    sizes: Sequence[int] | None = None,
    draws: int = 6,
    seed: int = 0,
) -> RankGrowth:
    """H*(ε) of random subsets of the documents behind a Gram matrix (doc, doc), UUᵀ/N.

    cells: as for ``white_noise_spectra``; without them the noise interval is that of infinitely many cells, the
    flat bound. sizes: subset sizes, None for eight of them up to N. Raises HeadlightError for what is no Gram matrix of
    three documents or more.
    """
    gram = real_numbers(gram, "a Gram matrix (doc, doc)")
    whole = len(gram) if gram.ndim else 0
    if gram.shape != (whole, whole) or whole < FEWEST_DOCUMENTS or not np.isfinite(gram).all():
        raise HeadlightError(
            f"a Gram matrix (doc, doc) of at least {FEWEST_DOCUMENTS} documents, without NaN",
            f"shape {gram.shape}" if np.isfinite(gram).all() else "NaN or infinity in it",
            "Take Modes.gram of snapshot_pod.",
        )
    sizes = np.linspace(min(10, whole), whole, 8) if sizes is None else sizes
    sizes = np.unique(np.r_[np.asarray(sizes, dtype=int), whole])
    sizes = sizes[(sizes >= 3) & (sizes <= whole)]
    rng = np.random.default_rng(seed)
    subsets = [
        [rng.choice(whole, n, replace=False) for _ in range(draws)] if n < whole else [np.arange(whole)] for n in sizes
    ]
    spectra = tuple(np.array([_spectrum_of(gram, chosen) for chosen in drawn]) for drawn in subsets)
    white = None if cells is None else white_noise_spectra(whole, cells, seed=seed)
    return _grown(sizes, spectra, white, epsilon)


def _grown(sizes: Array, spectra: tuple[Array, ...], white: Array | None, epsilon: float) -> RankGrowth:
    ranks = [np.mean([effective_rank(s, epsilon) for s in drawn]) for drawn in spectra]
    bound = np.ceil((1 - epsilon) * (sizes - 1) - 1e-9)
    noise = (float(bound[-1]), float(bound[-1]))
    if white is not None:
        noise = null_interval([effective_rank(s, epsilon) for s in white])
    return RankGrowth(sizes, np.array(ranks, dtype=np.float64), bound, noise, epsilon, spectra, white)


def _spectrum_of(gram: Array, documents: Array) -> Array:
    return np.maximum(np.linalg.eigvalsh(centred_gram(gram[np.ix_(documents, documents)]))[::-1], 0)


def _diagonals(field: Field, window: Array | None) -> list[Array]:
    """The fluctuation through the window, lag by lag, float32 (doc, row); lags without weight are left out."""
    length = field.length
    weights = np.ones((length, length)) if window is None else np.asarray(window, dtype=np.float64)
    floor = NEGLIGIBLE_WEIGHT * np.abs(weights).max()
    diagonals = []
    for lag in range(0 if field.causal else 1 - length, length):
        weight = np.diagonal(weights, -lag)
        if np.abs(weight).max() > floor:
            mean = np.diagonal(field.mean, -lag)
            cells = np.diagonal(field.pattern, -lag, axis1=1, axis2=2)
            diagonals.append(((cells - mean) * weight).astype(np.float32))
    return diagonals
