"""Where along the lag modes have their energy: peaks, shares of bands, and whether plain modes mix bands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from lib.stats import Interval

from .fields import Field, is_rounding, require_documents
from .lag import lag_bands, lag_energy
from .pod import snapshot_pod
from .resampling import Replicates, half_samples

Array = np.ndarray


def mode_lag_profile(modes: Array, causal: bool) -> Array:
    """Share of each mode's energy by lag, float64 (mode, lag); lags as in ``lag_energy``.

    modes: (mode, query_pos, key_pos). Each row adds up to 1.
    """
    energy, _ = lag_energy(np.square(modes, dtype=np.float64), causal)
    total = energy.sum(axis=-1, keepdims=True)
    return np.divide(energy, total, out=np.zeros_like(energy), where=total > 0)


@dataclass(frozen=True, eq=False)
class ModeLags:
    """Lag energy of the leading modes of plain POD, weighted by their eigenvalues, with those of random halves
    of the documents.

    lags     (lag,) |τ| in tokens, 0 … L/2 − 1
    cells    (lag,) cells of the field at each lag: the lag energy of white noise
    energy   Replicates of the energy by lag (lag,), summed over cells
    count    how many modes were taken
    """

    lags: Array
    cells: Array
    energy: Replicates
    count: int

    @property
    def peak(self) -> Interval:
        """|lag| at which the leading modes have most energy per cell, in tokens."""
        return self.energy.map(lambda e: (e / self.cells).argmax(axis=-1).astype(np.float64)).percentiles()

    @property
    def white_noise_peak(self) -> tuple[float, float]:
        """95 % interval of the peak that white noise would have: anywhere."""
        low, high = np.quantile(self.lags, [0.025, 0.975])
        return float(low), float(high)

    def share(self, first: float, last: float) -> Interval:
        """Share of the leading modes' energy at |lag| from ``first`` to ``last``, both included."""
        inside = (self.lags >= first) & (self.lags <= last)
        with np.errstate(invalid="ignore"):  # no fluctuation, no energy: not defined
            return self.energy.map(lambda e: e[..., inside].sum(axis=-1) / e.sum(axis=-1)).percentiles()

    def white_noise_share(self, first: float, last: float) -> float:
        """The same share of white noise: that of the cells."""
        inside = (self.lags >= first) & (self.lags <= last)
        return float(self.cells[inside].sum() / self.cells.sum())


def leading_mode_lags(field: Field, count: int = 3, draws: int = 100, seed: int = 0) -> ModeLags:
    """Where along the lag the ``count`` leading modes of plain POD sit; a window would build the answer in."""
    require_documents(field)
    modes = snapshot_pod(field)
    diagonals = _Diagonals(field)
    near = diagonals.lags < field.length // 2
    energy = diagonals.energy(modes.vectors[:, :count]).sum(axis=0)
    samples = [diagonals.energy(v).sum(axis=0) for v in _sampled_modes(modes.gram, count, draws, seed)]
    replicates = Replicates(energy[near], np.array(samples)[:, near], field.documents)
    return ModeLags(diagonals.lags[near], diagonals.cells[near], replicates, count)


@dataclass(frozen=True, eq=False)
class BandBlur:
    """How much of the leading modes' lag energy lies outside one band, 0 … 1.

    plain       outside the band that each mode of plain POD favours
    windowed    outside the band whose window each mode of scale-selective POD came through
    difference  windowed − plain
    permuted    windowed modes measured against another band than their own: the null
    """

    plain: Interval
    windowed: Interval
    difference: Interval
    permuted: float


def band_blur(field: Field, centres: Array, count: int = 3, draws: int = 100, seed: int = 0) -> BandBlur:
    """Whether plain POD mixes lag bands that windows keep apart; bands about ``centres`` (band,) in tokens.

    A lag belongs to bands in the shares of ``lag_bands(…, partition=True)``. Modes are weighted equally, because
    bands differ in energy by orders of magnitude; a band without energy is left out.
    """
    require_documents(field)
    diagonals = _Diagonals(field)
    belongs = diagonals.along(lag_bands(field.length, centres, partition=True))  # (band, lag)
    through = diagonals.along(lag_bands(field.length, centres)) ** 2
    plain = _shares(diagonals.grams(belongs), count, draws, seed).map(lambda s: 1 - s.max(axis=-1).mean(axis=-1))
    parts, others = [], []
    for band, window in enumerate(through):
        shares = _shares(diagonals.grams(belongs * window), count, draws, seed)
        if not np.isnan(shares.estimate).any():
            parts.append(shares.map(lambda s, b=band: 1 - s[..., b].mean(axis=-1)))
            others.extend(1 - np.delete(shares.estimate.mean(axis=0), band))
    nothing = Replicates(np.array(np.nan), np.full(draws, np.nan), field.documents)
    windowed = _combined(lambda *p: np.mean(p, axis=0), *parts) if parts else nothing
    return BandBlur(
        plain=plain.interval(),
        windowed=windowed.interval(),
        difference=_combined(np.subtract, windowed, plain).interval(),
        permuted=float(np.mean(others)) if others else float("nan"),
    )


def _shares(grams: Array, count: int, draws: int, seed: int) -> Replicates:
    """Share of each leading mode's energy in each band (mode, band), from Gram matrices (band, doc, doc).

    NaN where the bands have no energy together.
    """
    whole = grams.sum(axis=0)
    documents = len(whole)

    def shares(vectors: Array) -> Array:
        energy = np.einsum("sk,bst,tk->kb", vectors, grams, vectors, optimize=True)
        return energy / energy.sum(axis=1, keepdims=True)

    if not np.trace(whole) > 0:
        nothing = np.full((1, len(grams)), np.nan)
        return Replicates(nothing, np.repeat(nothing[None], draws, axis=0), documents)
    estimate = shares(np.linalg.eigh(whole)[1][:, : -count - 1 : -1])
    samples = [shares(vectors) for vectors in _sampled_modes(whole, count, draws, seed)]
    return Replicates(estimate, np.array(samples), documents)


def _sampled_modes(gram: Array, count: int, draws: int, seed: int) -> Iterator[Array]:
    """Leading modes of random halves of the documents, as combinations of all of them (doc, mode)."""
    for half, chosen in half_samples(gram, draws, seed):
        coefficients = np.zeros((len(gram), min(count, len(chosen))))
        coefficients[chosen] = np.linalg.eigh(half)[1][:, : -count - 1 : -1]
        yield coefficients


def _combined(number: Callable[..., Array], *parts: Replicates) -> Replicates:
    """A number of several numbers that were drawn on the same documents."""
    draws = number(*(p.draws for p in parts))
    return Replicates(np.asarray(number(*(p.estimate for p in parts))), draws, parts[0].documents)


class _Diagonals:
    """A field's fluctuation, lag by lag: modes of any combination of documents give their lag energy at once."""

    def __init__(self, field: Field) -> None:
        every = np.indices((field.length,) * 2)
        query, key = np.tril_indices(field.length) if field.causal else every.reshape(2, -1)
        distance = np.abs(query - key)
        order = np.argsort(distance, kind="stable")
        self.place = query[order] * field.length + key[order]
        self.lags, self.starts, self.cells = np.unique(distance[order], return_index=True, return_counts=True)
        self.fluctuation = field.pattern.reshape(field.documents, -1)[:, self.place]  # (doc, cell)
        mean = field.mean.ravel()[self.place]
        self.fluctuation -= mean.astype(np.float32)
        if is_rounding(float(np.square(self.fluctuation).sum()) / field.documents, float((mean**2).sum())):
            self.fluctuation[:] = 0

    def energy(self, vectors: Array) -> Array:
        """Σ φ² over the cells of each |lag|, (mode, lag), of the modes Σ_s c_sk u_s; vectors (doc, mode)."""
        modes = vectors.T.astype(np.float32) @ self.fluctuation
        return np.add.reduceat(modes.astype(np.float64) ** 2, self.starts, axis=1)

    def grams(self, weights: Array) -> Array:
        """Gram matrices (weight, doc, doc) of the fluctuation whose cells weigh, by |lag|, as in (weight, lag)."""
        documents = len(self.fluctuation)
        total = np.zeros((len(weights), documents, documents))
        for lag in np.flatnonzero(weights.max(axis=0) > 1e-24 * weights.max()):
            cells = self.fluctuation[:, self.starts[lag] : self.starts[lag] + self.cells[lag]]
            gram = (cells @ cells.T).astype(np.float64)
            for one, weight in zip(total, weights[:, lag], strict=True):
                one += weight * gram
        return total

    def along(self, windows: Array) -> Array:
        """Windows (\\*, query_pos, key_pos) that depend on |lag| alone, read along it: (\\*, lag)."""
        return windows.reshape(len(windows), -1)[:, self.place[self.starts]]
