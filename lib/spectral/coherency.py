"""Cross-coherency between token positions: do two rows oscillate together, document after document, at one scale?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib.errors import HeadlightError

from .fields import Field, as_field, is_rounding
from .lag import lag_rows
from .morlet import OMEGA0, check_scales, folded_wavelets, scale_limits

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Coherency:
    """Cross-coherency of all rows at one scale and lag; every matrix is float64 (query_pos, query_pos).

    gamma      γ_ij, symmetric, 1 on the diagonal; NaN in rows that do not see L/2 keys on this side
    null       mean γ_ij after each row's documents were shuffled; NaN on the diagonal, which has no null
    threshold  what the largest shuffled γ_ij of the whole matrix stays below with probability ``level``
    """

    gamma: Array
    null: Array
    threshold: float
    scale: float
    lag: int
    level: float

    @property
    def excess(self) -> Array:
        """γ_ij where it exceeds the threshold, NaN elsewhere and on the diagonal: the only part to colour."""
        off = ~np.eye(len(self.gamma), dtype=bool)
        return np.where(off & (np.nan_to_num(self.gamma) > self.threshold), self.gamma, np.nan)


def coherency(
    field: Field | Array,
    scale: float,
    lag: int,
    shuffles: int = 100,
    level: float = 0.95,
    seed: int = 0,
    omega0: float = OMEGA0,
) -> Coherency:
    """Cross-coherency γ_ij = |⟨W_i W_j*⟩| / √(⟨|W_i|²⟩⟨|W_j|²⟩) over documents, with its shuffled null.

    scale, lag: the (a, b) in tokens at which every row's fluctuation is transformed, one b for all rows, so that γ
    is symmetric; a negative lag looks ahead in a bidirectional field. One document has no fluctuation: its pattern
    itself is transformed, and γ is 1 wherever it is defined. A row without energy there is NaN.

    Raises HeadlightError for a scale out of range and a lag that half of the rows do not have.

    **Source**: Zeris, arXiv 2606.06573; Torrence & Webster (1999), *J. Climate* 12. Deviation: the published
    script takes another b for each row, which makes γ asymmetric.
    """
    field = as_field(field)
    half = field.length // 2
    scale = check_scales(scale, scale_limits(half, omega0)[1], omega0)
    if len(scale) != 1:
        raise HeadlightError("one scale", f"{len(scale)} scales", "Ask for one at a time.")
    ahead = lag < 0
    if not abs(lag) < half or lag != int(lag) or (ahead and field.causal):
        raise HeadlightError(
            f"a whole lag from {0 if field.causal else 1 - half} to {half - 1} tokens",
            f"{lag}",
            "Choose a lag inside the band.",
        )
    waves = _waves(field, float(scale[0]), abs(int(lag)), ahead, omega0)  # (doc, row)
    gamma = _gamma(waves)
    rng = np.random.default_rng(seed)
    total, largest, off = np.zeros_like(gamma), [], ~np.eye(half, dtype=bool)
    for _ in range(shuffles if field.documents > 1 else 0):
        shuffled = _gamma(np.take_along_axis(waves, rng.permuted(_order(waves), axis=0), axis=0))
        total += shuffled
        largest.append(np.nanmax(shuffled[off], initial=0.0))
    null = np.where(off, total / len(largest), np.nan) if largest else np.full_like(gamma, np.nan)
    return Coherency(
        gamma=_placed(gamma, field.length, ahead),
        null=_placed(null, field.length, ahead),
        threshold=float(np.quantile(largest, level)) if largest else float("nan"),
        scale=float(scale[0]),
        lag=int(lag),
        level=level,
    )


def cross_coherency(
    field: Field | Array, scale: float, lag: int, shuffles: int = 100, seed: int = 0
) -> tuple[Array, Array]:
    """γ_ij and its document-shuffled null, both float64 (query_pos, query_pos); see ``coherency``.

    The null is the mean of γ_ij over shuffles, about 0.89/√N.
    """
    both = coherency(field, scale, lag, shuffles=shuffles, seed=seed)
    return both.gamma, both.null


def _waves(field: Field, scale: float, lag: int, ahead: bool, omega0: float) -> Array:
    rows = lag_rows(field.pattern, ahead).astype(np.float64)  # (doc, row, lag)
    if field.documents > 1:
        mean = lag_rows(field.mean[None], ahead)[0]
        rows -= mean
        for row in range(rows.shape[1]):
            if is_rounding((rows[:, row] ** 2).mean(axis=0).sum(), (mean[row] ** 2).sum()):
                rows[:, row] = 0.0
    rows -= rows.mean(axis=2, keepdims=True)
    wavelet = folded_wavelets(rows.shape[2], (scale,), omega0)[0, lag]
    return rows @ wavelet.conj()


def _gamma(waves: Array) -> Array:
    cross = np.abs(waves.T @ waves.conj())
    energy = np.diagonal(cross)
    floor = 1e-20 * energy.max(initial=0.0)
    root = np.sqrt(np.where(energy > floor, energy, np.nan))
    gamma = cross / np.outer(root, root)
    np.fill_diagonal(gamma, np.where(np.isnan(root), np.nan, 1.0))
    return np.minimum((gamma + gamma.T) / 2, 1.0)


def _order(waves: Array) -> Array:
    return np.broadcast_to(np.arange(len(waves))[:, None], waves.shape)


def _placed(rows: Array, length: int, ahead: bool) -> Array:
    """A (row, row) matrix at the query positions that the rows stand for, NaN elsewhere."""
    half = len(rows)
    placed = np.full((length, length), np.nan)
    if ahead:
        placed[:half, :half] = rows[::-1, ::-1]
    else:
        placed[length - half :, length - half :] = rows
    return placed
