"""Lag: how far back a query looks, query_pos − key_pos. Rows read along the lag, profiles, windows and bands.

Lag is not scale: see scalogram.py for how wide an oscillation along the lag is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from lib.errors import HeadlightError
from lib.stats import Interval, bootstrap_mean

from .fields import Field, as_field, is_rounding
from .given import real_numbers, whole_number

Array = np.ndarray
KINDS = ("band", "signed", "lowpass")
MOST_BANDS = 64


def lag_rows(pattern: Array, ahead: bool = False) -> Array:
    """The rows that see L/2 keys on one side, read along the lag: a view (doc, row, lag), nothing is copied.

    pattern: (doc, query_pos, key_pos). Row r, lag τ is pattern[:, i, i − τ] with i = L − ⌊L/2⌋ + r, so that all
    signals have the ⌊L/2⌋ lags 0 … ⌊L/2⌋ − 1. ``ahead`` reads the other direction, pattern[:, i, i + τ] for the
    first ⌊L/2⌋ rows, in the order of increasing room (last row first).
    """
    if ahead:
        pattern = pattern[:, ::-1, ::-1]
    half = pattern.shape[1] // 2
    start = pattern.shape[1] - half
    doc, query, key = pattern.strides
    corner = pattern[:, start:, start:]
    shape = (pattern.shape[0], half, half)
    return np.lib.stride_tricks.as_strided(corner, shape, (doc, query + key, -key), writeable=False)


def lag_energy(squares: Array, causal: bool) -> tuple[Array, Array]:
    """Sums along the diagonals: (\\*, lag) and the number of cells of each lag (lag,).

    squares: (\\*, query_pos, key_pos). Lags run from 0 to L − 1 in a causal field, else from −(L − 1) to L − 1.
    """
    length = squares.shape[-1]
    flat, index, cells = _lag_index(length, causal)
    rows = squares.reshape(-1, length * length)
    sums = [np.bincount(index, weights=row[flat], minlength=len(cells)) for row in rows]
    return np.reshape(sums, (*squares.shape[:-2], len(cells))), cells


@lru_cache(maxsize=4)
def _lag_index(length: int, causal: bool) -> tuple[Array, Array, Array]:
    """Cells that attention can fill (cell,), the lag's place of each (cell,), and the cells per lag (lag,)."""
    every = np.indices((length, length)).reshape(2, -1)
    query, key = np.tril_indices(length) if causal else every
    index = query - key + (0 if causal else length - 1)
    arrays = query * length + key, index, np.bincount(index)
    for array in arrays:
        array.setflags(write=False)
    return arrays


@dataclass(frozen=True, eq=False)
class LagProfile:
    """Where along the lag the fluctuation has its energy.

    lags     (lag,) in tokens: 0 … L − 1, or −(L − 1) … L − 1 in a bidirectional field
    energy   (doc, lag) mean of u² over the rows where the lag exists
    length   L
    """

    lags: Array
    energy: Array
    length: int

    @cached_property
    def mean(self) -> Array:
        """E(τ) = ⟨u²⟩ over documents and rows, (lag,)."""
        return self.energy.mean(axis=0)

    @property
    def centroid(self) -> float:
        """Mean |lag| weighted by E(τ), over |τ| < L/2, which half of the rows see; NaN without energy."""
        return float(self.centroid_interval(draws=0).estimate)

    def centroid_interval(self, level: float = 0.95, draws: int = 1000, seed: int = 0) -> Interval:
        """The centroid with its bootstrap interval over documents."""
        near = np.abs(self.lags) < self.length / 2
        energy = self.energy[:, near]
        total = energy.sum(axis=1)
        with np.errstate(invalid="ignore", divide="ignore"):
            each = energy @ np.abs(self.lags[near]) / total
        return bootstrap_mean(each, weights=total, level=level, draws=max(draws, 2), seed=seed)


def lag_profile(field: Field | Array) -> LagProfile:
    """Lag-energy profile E(τ) = ⟨u_s(i, i − τ)²⟩ of a field's fluctuation, document by document.

    Lag is signed in a bidirectional field: positive lags look back. Far lags exist in few rows, so they are
    noisier than near ones.
    """
    field = as_field(field)
    parts = []
    for first in range(0, field.documents, 16):  # the fluctuation of all would be a second field in memory
        sums, cells = lag_energy((field.pattern[first : first + 16] - field.mean) ** 2, field.causal)
        parts.append(sums / cells)
    energy = np.concatenate(parts)
    lags = np.arange(field.length) if field.causal else np.arange(1 - field.length, field.length)
    mean_square = lag_energy(field.mean**2, field.causal)[0] / cells
    still = [is_rounding(e, m) for e, m in zip(energy.mean(axis=0), mean_square, strict=True)]
    energy[:, still] = 0.0
    return LagProfile(lags, energy, field.length)


def lag_window(length: int, centre: float, width: float, kind: str = "band") -> Array:
    """Window along the lag, float64 (query_pos, key_pos), 1 at its centre.

    centre, width: in tokens. kind: "band", exp(−(|τ| − centre)²/2 width²), the same in both directions;
    "signed", exp(−(τ − centre)²/2 width²), where a negative centre looks ahead; "lowpass", exp(−τ²/2 width²),
    which has no centre and ignores it.

    Raises HeadlightError for an unknown kind, a width that is not positive and a centre outside the field.

    **Source**: Zeris, arXiv 2606.06573 (scale-selective filter); deviation: the published script multiplies
    by "lowpass" along future lags, where a causal field is zero.
    """
    if kind not in KINDS:
        raise HeadlightError(f"a kind of window among {', '.join(KINDS)}", f"{kind!r}", "Choose one of them.")
    if not 0 < width < np.inf:
        raise HeadlightError("a window wider than 0 tokens", f"{width}", "Give a positive width.")
    centre = 0.0 if kind == "lowpass" else float(centre)
    _require_inside(length, centre, kind)
    lag = np.subtract.outer(np.arange(length), np.arange(length))
    distance = lag - centre if kind == "signed" else np.abs(lag) - centre
    return np.exp(-0.5 * (distance / width) ** 2)


def _require_inside(length: int, centre: float, kind: str) -> None:
    if not (-length if kind == "signed" else -1) < centre < length:
        raise HeadlightError(
            f"a centre within the lags of a field of {length} tokens", f"{centre:g}", "Move the band inside."
        )


def band_width(centre: float) -> float:
    """Width σ of a band about a lag: a quarter of it, at least one token; wider ones let the diagonal leak in."""
    return max(abs(centre) / 4, 1.0)


def lag_bands(length: int, centres: Array, partition: bool = False) -> Array:
    """One lag window per centre, float64 (band, query_pos, key_pos), with widths from ``band_width``.

    Where a centre is negative, all are signed lags; otherwise a band looks both ways. ``partition`` divides by
    the sum over bands, so that the bands' *fields* add up to the whole; their energies still do not. The division
    is made in logarithms, because far from all centres every window underflows. Raises HeadlightError for a centre
    outside the field, and without centres.

    **Source**: Zeris, arXiv 2606.06573; the partition is ours.
    """
    centres = np.atleast_1d(real_numbers(centres, "band centres (band,)").astype(np.float64))
    if centres.ndim != 1 or not centres.size or not np.isfinite(centres).all():
        raise HeadlightError("band centres (band,) in tokens", f"{centres}", "Give at least one lag.")
    kind = "signed" if (centres < 0).any() else "band"
    for centre in centres:
        _require_inside(length, centre, kind)
    if not partition:
        return np.stack([lag_window(length, c, band_width(c), kind) for c in centres])
    lag = np.subtract.outer(np.arange(length), np.arange(length))
    distance = (lag if kind == "signed" else np.abs(lag)) - centres[:, None, None]
    widths = np.array([band_width(c) for c in centres])[:, None, None]
    logarithm = -0.5 * (distance / widths) ** 2
    share = np.exp(logarithm - logarithm.max(axis=0))
    return share / share.sum(axis=0)


def band_centres(profiles: LagProfile | Sequence[LagProfile], count: int = 4) -> Array:
    """Centres for ``count`` bands, geometric from lag 1 to the lag below which 95 % of E(τ) lies, |τ| < L/2.

    Several profiles, such as a model's layers, share their centres: their energies are added. Raises HeadlightError
    without profiles and for a count below 1.
    """
    count = whole_number(count, "a number of bands", 1, MOST_BANDS)
    profiles = [profiles] if isinstance(profiles, LagProfile) else list(profiles)
    if not profiles:
        raise HeadlightError("at least one lag profile", "none", "Measure one with lag_profile.")
    length = profiles[0].length
    folded = [np.bincount(np.abs(p.lags), weights=p.mean, minlength=length) for p in profiles]
    energy = np.sum(folded, axis=0)[: max(2, length // 2)]
    total = energy.sum()
    reach = np.searchsorted(np.cumsum(energy), 0.95 * total) if total > 0 else len(energy) - 1
    return np.geomspace(1, max(int(reach), count, 2), count) if count > 1 else np.array([max(1.0, reach / 2)])
