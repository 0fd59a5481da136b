"""Eigenvalue spectra: how many modes share the energy, and how fast it falls.

Every number here depends on the number of documents; see nulls.py for what it means beside white noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lib.errors import HeadlightError

from .fields import Field
from .given import real_numbers, whole_number
from .pod import Modes, snapshot_pod
from .resampling import half_samples, recentred

Array = np.ndarray
FEWEST_POINTS = 3  # on a line with two parameters


@dataclass(frozen=True)
class PowerLaw:
    """λ_k ∝ k^−β fitted over modes k_min … k_max, both counted from 1 and included.

    beta      the slope β ≥ 0; NaN ("n/a") where fewer than three eigenvalues are usable
    interval  (low, high) over documents; NaN where documents were not resampled
    r2        R² of the straight line on log–log axes; NaN for a flat spectrum
    """

    beta: float
    interval: tuple[float, float]
    k_min: int
    k_max: int
    r2: float

    @property
    def t_spec(self) -> float:
        """T_spec = 1/β. Large: a flat spectrum, many modes share the energy; small: concentrated in a few."""
        return _inverse(self.beta)

    @property
    def t_spec_interval(self) -> tuple[float, float]:
        """Interval of T_spec, from the two ends of β's."""
        return _inverse(self.interval[1]), _inverse(self.interval[0])


def fit_power_law(eigenvalues: Array, k_min: int = 2, k_max: int | None = None) -> PowerLaw:
    """Slope of log λ_k on log k by least squares over modes k_min … k_max, without an interval.

    eigenvalues: (mode,) descending. k_max: None gives min(30, N/3) for the N = modes + 1 snapshots that a full
    centred spectrum comes from. The range stops at the last positive eigenvalue; β is NaN where fewer than three
    are left, never a default.

    A sampled spectrum is biased, the more so with many cells: from 150 documents and modes 2 … 30, a true β of
    0.5 comes back as about 0.39, 0.21 and 0.09 for 256, 2,000 and 20,000 cells; 1, 2 and 3 as about 0.81, 2.00
    and 3.05 (2,000 cells). Compare spectra of equal N and equal cells only.

    Raises HeadlightError for NaN, for eigenvalues that are not descending and for a range without modes.

    **Source**: Zeris, arXiv 2606.06573 (spectral temperature 1/β); deviation: no value stands in for a fit
    that cannot be made.
    """
    eigenvalues = _spectrum(eigenvalues)
    k_min = whole_number(k_min, "k_min, the first mode of the fit,", 1)
    if k_max is not None:
        whole_number(k_max, "k_max, the last mode of the fit that begins at k_min,", k_min)
    wanted = min(30, (len(eigenvalues) + 1) // 3) if k_max is None else k_max
    k_max = min(wanted, int((eigenvalues > 0).sum()))
    beta, r2 = _slope(eigenvalues[None, k_min - 1 : k_max], k_min)
    return PowerLaw(float(beta[0]), (math.nan, math.nan), k_min, k_max, float(r2[0]))


def bootstrap_power_law(
    snapshots: Array | Field | Modes,
    k_min: int = 2,
    k_max: int | None = None,
    window: Array | None = None,
    level: float = 0.95,
    draws: int = 100,
    seed: int = 0,
) -> PowerLaw:
    """Power law of an ensemble's spectrum with an interval over documents, by resampling them.

    snapshots: as for ``snapshot_pod``, or its result. The interval is the relative spread of β over random halves
    of the documents, laid round the estimate: β of an ordinary bootstrap sample depends on how many documents it
    holds twice. It covers the spread over documents, not the sampling bias that ``fit_power_law`` states.

    **Source**: Shao & Wu (1989), *Ann. Statist.* 17 (resampling halves without replacement).
    """
    modes = snapshots if isinstance(snapshots, Modes) else snapshot_pod(snapshots, window)
    fit = fit_power_law(modes.eigenvalues, k_min, k_max)
    if not fit.beta > 0:
        return fit
    fewest = fit.k_max + 2
    spectra = [np.linalg.eigvalsh(g)[::-1] for g, _ in half_samples(modes.gram, draws, seed, fewest)]
    usable = np.array([s[fit.k_min - 1 : fit.k_max] for s in spectra if s[fit.k_max - 1] > 0])
    if len(usable) < draws / 2:
        return fit
    slopes = _slope(usable, fit.k_min)[0]
    interval = recentred(np.array(fit.beta), slopes, modes.documents, fewest).interval(level)
    return replace(fit, interval=(float(interval.low), float(interval.high)))


def effective_rank(eigenvalues: Array, epsilon: float) -> int:
    """H*(ε) = min{n : Σ_{k>n} λ_k ≤ ε Σλ}, the modes needed for all but a share ε of the *energy*.

    The relative L² error is √ε. No centred ensemble of N documents needs more than ⌈(1 − ε)(N − 1)⌉ modes, which
    a flat spectrum reaches. An ensemble rank: it bounds nothing about heads. 0 where there is no energy.

    >>> effective_rank([9, 1], 0.1), effective_rank([8, 1, 1], 0.1)
    (1, 2)

    Raises HeadlightError for NaN, for eigenvalues that are not descending and for ε outside [0, 1).
    """
    eigenvalues = _spectrum(eigenvalues)
    if not 0 <= epsilon < 1:
        raise HeadlightError("a share of the energy, 0 ≤ ε < 1", f"{epsilon}", "For 90 % of the energy, ε = 0.1.")
    total = eigenvalues.sum()
    tail = np.r_[np.cumsum(eigenvalues[::-1])[::-1], 0.0]  # tail[n] = Σ_{k>n} λ_k
    return int(np.argmax(tail <= epsilon * total + 1e-12 * total))


def entropy_rank(eigenvalues: Array) -> float:
    """exp(−Σ p ln p) with p = λ/Σλ: the number of equal modes of the same entropy; 0 without energy.

    **Source**: Roy & Vetterli (2007), EUSIPCO, *The effective rank*.
    """
    eigenvalues = _spectrum(eigenvalues)
    if not eigenvalues.sum() > 0:
        return 0.0
    share = eigenvalues[eigenvalues > 0] / eigenvalues.sum()
    return float(np.exp(-(share * np.log(share)).sum()))


def participation_ratio(eigenvalues: Array) -> float:
    """(Σλ)²/Σλ²: the number of equal modes of the same second moment; 0 without energy."""
    eigenvalues = _spectrum(eigenvalues)
    return float(eigenvalues.sum() ** 2 / (eigenvalues**2).sum()) if eigenvalues.sum() > 0 else 0.0


def _slope(eigenvalues: Array, k_min: int) -> tuple[Array, Array]:
    """β and R² of positive spectra (spectrum, mode) that begin at mode k_min; NaN with fewer than three modes."""
    spectra, points = eigenvalues.shape
    if points < FEWEST_POINTS:
        return np.full(spectra, np.nan), np.full(spectra, np.nan)
    x = np.log(np.arange(k_min, k_min + points))
    x -= x.mean()
    y = np.log(eigenvalues)
    y = y - y.mean(axis=1, keepdims=True)
    slope = y @ x / (x @ x)
    spread = (y**2).sum(axis=1)
    flat = spread < 1e-20
    r2 = np.where(flat, np.nan, slope**2 * (x @ x) / np.where(flat, 1, spread))
    return np.where(flat, 0.0, np.maximum(0.0, -slope)), r2


def _spectrum(eigenvalues: Array) -> Array:
    """Eigenvalues as float64 (mode,): finite, descending; rounding below zero counts as zero."""
    eigenvalues = real_numbers(eigenvalues, "eigenvalues (mode,)").astype(np.float64)
    if eigenvalues.ndim != 1 or not np.isfinite(eigenvalues).all():
        raise HeadlightError(
            "finite eigenvalues (mode,)", f"shape {eigenvalues.shape}, or NaN in them", "Check the snapshots."
        )
    largest = eigenvalues.max(initial=0.0)
    if (np.diff(eigenvalues) > 1e-9 * largest).any() or (eigenvalues < -1e-9 * largest).any():
        raise HeadlightError(
            "eigenvalues that descend and are not negative", "another order or sign", "Sort them, largest first."
        )
    return np.maximum(eigenvalues, 0.0)


def _inverse(beta: float) -> float:
    return math.inf if beta == 0 else 1 / beta
