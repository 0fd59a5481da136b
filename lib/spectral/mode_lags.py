"""Where along the lag modes have their energy: peaks, shares of bands, and whether plain modes mix bands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib.stats import Interval

from .fields import Field, require_documents
from .lag import lag_bands, lag_energy
from .pod import snapshot_pod
from .resampling import Replicates, resampled_vectors

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
    """Lag energy of the leading modes of plain POD, weighted by their eigenvalues, with bootstrap samples.

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
        return self.energy.map(lambda e: (e / self.cells).argmax(axis=-1).astype(np.float64)).interval()

    @property
    def white_noise_peak(self) -> tuple[float, float]:
        """95 % interval of the peak that white noise would have: anywhere."""
        low, high = np.quantile(self.lags, [0.025, 0.975])
        return float(low), float(high)

    def share(self, first: float, last: float) -> Interval:
        """Share of the leading modes' energy at |lag| from ``first`` to ``last``, both included."""
        inside = (self.lags >= first) & (self.lags <= last)
        return self.energy.map(lambda e: e[..., inside].sum(axis=-1) / e.sum(axis=-1)).interval()

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
    samples = [
        diagonals.energy(vectors).sum(axis=0) for _, vectors in resampled_vectors(modes.gram, count, draws, seed)
    ]
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
    bands differ in energy by orders of magnitude.
    """
    require_documents(field)
    windows = lag_bands(field.length, centres)
    diagonals = _Diagonals(field)
    belongs = diagonals.along(lag_bands(field.length, centres, partition=True))  # (band, lag)
    plain = _shares(field, None, diagonals, belongs, count, draws, seed)
    own = [_shares(field, w, diagonals, belongs, count, draws, seed) for w in windows]
    outside_favoured = plain.map(lambda s: 1 - s.max(axis=-1).mean(axis=-1))
    outside_own = _mean([o.map(lambda s, b=b: 1 - s[..., b].mean(axis=-1)) for b, o in enumerate(own)])
    difference = Replicates(
        outside_own.estimate - outside_favoured.estimate, outside_own.draws - outside_favoured.draws, field.documents
    )
    other = [1 - np.delete(o.estimate.mean(axis=0), b).mean() for b, o in enumerate(own) if len(own) > 1]
    return BandBlur(
        plain=outside_favoured.interval(),
        windowed=outside_own.interval(),
        difference=difference.interval(),
        permuted=float(np.mean(other)) if other else float("nan"),
    )


def _shares(
    field: Field, window: Array | None, diagonals: _Diagonals, belongs: Array, count: int, draws: int, seed: int
) -> Replicates:
    """Share of each leading mode's energy in each band (mode, band); NaN where the window lets nothing through."""
    modes = snapshot_pod(field, window)
    weight = 1.0 if window is None else diagonals.along(window[None])[0] ** 2
    count = min(count, modes.rank)

    def shares(vectors: Array) -> Array:
        energy = diagonals.energy(vectors) * weight  # (mode, lag)
        with np.errstate(invalid="ignore"):
            return energy @ belongs.T / energy.sum(axis=1, keepdims=True)

    if not count:
        nothing = np.full((1, len(belongs)), np.nan)
        return Replicates(nothing, np.repeat(nothing[None], draws, axis=0), field.documents)
    samples = [shares(vectors) for _, vectors in resampled_vectors(modes.gram, count, draws, seed)]
    return Replicates(shares(modes.vectors[:, :count]), np.array(samples), field.documents)


def _mean(parts: list[Replicates]) -> Replicates:
    """Mean over bands with energy."""
    defined = [p for p in parts if not np.isnan(p.estimate)]
    if not defined:
        return parts[0]
    return Replicates(
        np.mean([p.estimate for p in defined], axis=0),
        np.mean([p.draws for p in defined], axis=0),
        defined[0].documents,
    )


class _Diagonals:
    """A field's patterns, lag by lag: modes of any combination of documents give their lag energy at once."""

    def __init__(self, field: Field) -> None:
        query, key = np.tril_indices(field.length) if field.causal else np.indices((field.length,) * 2).reshape(2, -1)
        distance = np.abs(query - key)
        order = np.argsort(distance, kind="stable")
        self.place = query[order] * field.length + key[order]
        self.lags, self.starts, self.cells = np.unique(distance[order], return_index=True, return_counts=True)
        self.patterns = field.pattern.reshape(field.documents, -1)[:, self.place]  # (doc, cell)

    def energy(self, vectors: Array) -> Array:
        """Σ φ² over the cells of each |lag|, (mode, lag), of the modes Σ_s c_sk x_s; vectors (doc, mode)."""
        modes = vectors.T.astype(np.float32) @ self.patterns
        return np.add.reduceat(modes.astype(np.float64) ** 2, self.starts, axis=1)

    def along(self, windows: Array) -> Array:
        """Windows (\\*, query_pos, key_pos) that depend on |lag| alone, read along it: (\\*, lag)."""
        return windows.reshape(len(windows), -1)[:, self.place[self.starts]]
