"""Lag scalogram: the energy of a field's fluctuation by scale and lag, against lags that are independent.

Two axes, not one: lag is how far back a query looks, scale how wide an oscillation along the lag is. A lone bump
of standard deviation S answers at scale 5.9 S, so "energy at scale 20" can be a bump 3.4 tokens wide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from scipy import ndimage

from lib.stats import Interval, bootstrap_mean
from lib.threads import one_thread

from .document_energies import morlet_energies
from .fields import Field, as_field, is_rounding, require_documents
from .lag import lag_rows
from .morlet import OMEGA0, check_scales, default_scales, folded_wavelets, fourier_period, scale_limits

Array = np.ndarray
BLOCK_DOCUMENTS = 16  # whose signals are read at a time, in double precision


@dataclass(frozen=True, eq=False)
class Scalogram:
    """Energy of lag signals by scale and lag.

    energy    (scale, lag) ⟨|W(a, b)|²⟩ over documents and rows
    scales    (scale,) a in tokens
    periods   (scale,) Fourier period, in tokens, of the oscillation whose density peaks at that scale
    lags      (lag,) b: 0 … L/2 − 1, negative ones looking ahead in a bidirectional field
    omega0    ω₀ of the Morlet wavelet; NaN for another wavelet
    cone      bool (scale, lag), True where the far edge is felt: |b| > L/2 − 1 − √2·a
    null      (scale, lag) energy expected of independent lags with the same lag-energy profile
    by_document, null_by_document  float32 (doc, scale, lag), what the two are means of
    profile   (lag,) E(τ) = ⟨u²⟩ over the same rows and documents
    wavelet   its name
    """

    energy: Array
    scales: Array
    periods: Array
    lags: Array
    omega0: float
    cone: Array
    null: Array
    by_document: Array
    null_by_document: Array
    profile: Array
    wavelet: str = "Morlet"

    @property
    def density(self) -> Array:
        """⟨|W|²⟩/a: equal amplitudes weigh equally at every scale, but white noise falls as 1/a."""
        return self.energy / self.scales[:, None]

    @cached_property
    def ratio(self) -> Interval:
        """Energy over its null with a simultaneous 95 % interval over documents; NaN in the cone."""
        return self.ratio_interval()

    def ratio_interval(self, level: float = 0.95, draws: int = 400, seed: int = 0) -> Interval:
        """Energy over its null (scale, lag), with an interval that covers all cells outside the cone together."""
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.where(self.null_by_document > 0, self.by_document / self.null_by_document, np.nan)
        outside = ~self.cone
        interval = bootstrap_mean(
            ratio[:, outside],
            weights=self.null_by_document[:, outside],
            level=level,
            draws=draws,
            seed=seed,
            simultaneous=True,
        )
        bounds = [np.full(self.energy.shape, np.nan) for _ in range(3)]
        for whole, part in zip(bounds, (interval.estimate, interval.low, interval.high), strict=True):
            whole[outside] = part
        return Interval(*bounds, level, interval.documents, True)


@dataclass(frozen=True)
class DominantScale:
    """A peak of the density along the scale, at one lag, that independent lags do not explain.

    scale, lag, period in tokens; density ⟨|W|²⟩/a; ratio to the null and the lower end of its interval.
    """

    scale: float
    lag: int
    period: float
    density: float
    ratio: float
    low: float


@one_thread()
def lag_scalogram(field: Field | Array, scales: Array | None = None, omega0: float = OMEGA0) -> Scalogram:
    """Morlet scalogram of a field's fluctuation along the lag, averaged over rows and documents.

    scales: (scale,) in tokens, None for the whole usable range. Row i ≥ L/2 of document s gives the signal
    f(τ) = u_s(i, i − τ), 0 ≤ τ < L/2, its mean over τ removed, extended evenly about τ = 0. A bidirectional field
    gives the keys ahead too, from its first rows, as negative lags; at lag 0 the two directions are averaged.

    The mean energy is quadratic in the signals, so it needs only their lag covariance C: ψ_abᴴ C ψ_ab with the
    folded wavelet ψ_ab. The null is ψᴴ P diag⟨u²(τ)⟩ P ψ, P = I − 11ᵀ/M: random signs per lag before the mean is
    removed.

    Raises HeadlightError for fewer than three documents, windows too short for one scale, and scales out of range.

    **Source**: Zeris, arXiv 2606.06573; deviations: past keys, the even extension, the covariance form and
    the null are ours.
    """
    field = as_field(field)
    require_documents(field)
    samples = field.length // 2
    scales = (
        default_scales(samples, omega0)
        if scales is None
        else check_scales(scales, scale_limits(samples, omega0)[1], omega0)
    )
    wavelets = folded_wavelets(samples, tuple(scales), omega0)
    energies = partial(morlet_energies, scales=scales, omega0=omega0)
    return scalogram_with(field, wavelets, energies, scales, fourier_period(scales, omega0), omega0)


def dominant_scales(scalogram: Scalogram, ratio: Interval | None = None) -> list[DominantScale]:
    """Scales that stand out: local maxima of ⟨|W|²⟩/a along the scale, at one lag, whose ratio to the null exceeds 1.

    The lower end of the simultaneous interval decides; the cone, the first and the last scale are left out. Of
    peaks at neighbouring lags and scales only the highest is named. Strongest first.
    """
    ratio = scalogram.ratio if ratio is None else ratio
    density = scalogram.density
    peak = np.zeros(density.shape, dtype=bool)
    peak[1:-1] = (density[1:-1] > density[:-2]) & (density[1:-1] >= density[2:])
    peak &= ~scalogram.cone & (np.nan_to_num(ratio.low) > 1)
    ridges, count = ndimage.label(peak, structure=np.ones((3, 3)))
    places = ndimage.maximum_position(density, ridges, range(1, count + 1)) if count else []
    found = [
        DominantScale(
            scale=float(scalogram.scales[s]),
            lag=int(scalogram.lags[b]),
            period=float(scalogram.periods[s]),
            density=float(density[s, b]),
            ratio=float(ratio.estimate[s, b]),
            low=float(ratio.low[s, b]),
        )
        for s, b in places
    ]
    return sorted(found, key=lambda d: -d.density)


def far_cone(samples: int, scales: Array, reach: float = np.sqrt(2)) -> Array:
    """Bool (scale, lag), True where the far edge lies within ``reach``·a of the lag."""
    return np.arange(samples) > samples - 1 - reach * scales[:, None] + 1e-9


def lag_covariances(field: Field, ahead: bool = False) -> tuple[Array, Array, Array]:
    """Second moments of the rows' lag signals, document by document.

    Returns the mean lag covariance C(τ, τ') of signals whose mean over τ is removed, float64 (lag, lag); the same
    per document, float32 (doc, lag, lag); and the energy ⟨u²(τ)⟩ before the removal, float64 (doc, lag).
    """
    rows = lag_rows(field.pattern, ahead)  # (doc, row, lag), a view
    mean = lag_rows(field.mean[None], ahead)[0]
    documents, _, samples = rows.shape
    total = np.zeros((samples, samples))
    each = np.empty(rows.shape, np.float32)
    energy = np.empty((documents, samples))
    for first in range(0, documents, BLOCK_DOCUMENTS):
        block = slice(first, first + BLOCK_DOCUMENTS)
        signals = rows[block] - mean
        energy[block] = np.einsum("drt,drt->dt", signals, signals) / samples
        signals -= signals.mean(axis=2, keepdims=True)
        covariance = signals.transpose(0, 2, 1) @ signals / samples
        total += covariance.sum(axis=0)
        each[block] = covariance
    if is_rounding(float(energy.mean(axis=0).sum()), float((mean**2).mean(axis=0).sum())):
        return np.zeros_like(total), np.zeros_like(each), np.zeros_like(energy)
    return total / documents, each, energy


def scalogram_with(
    field: Field,
    wavelets: Array,
    energies: Callable[[Array], Array],
    scales: Array,
    periods: Array,
    omega0: float,
    wavelet: str = "Morlet",
) -> Scalogram:
    """The scalogram that a set of folded wavelets (scale, b, τ) gives.

    energies: lag covariances (doc, τ, τ') -> |W|² of these wavelets by document (doc, scale, b).
    The cone is that of the Morlet wavelet of the same Fourier period.
    """
    samples = wavelets.shape[2]
    centred = np.abs(wavelets - wavelets.mean(axis=2, keepdims=True)) ** 2  # |P ψ|²
    directions = []
    for ahead in (False,) if field.causal else (False, True):
        covariance, each, energy = lag_covariances(field, ahead)
        null_by_document = np.einsum("dt,sbt->dsb", energy, centred, optimize=True)
        directions.append(
            {
                "energy": quadratic_forms(wavelets, covariance),
                "lags": np.arange(samples),
                "cone": far_cone(samples, periods * OMEGA0 / (2 * np.pi)),
                "null": null_by_document.mean(axis=0),
                "by_document": energies(each),
                "null_by_document": null_by_document.astype(np.float32),
                "profile": energy.mean(axis=0),
            }
        )
    axes = directions[0] if field.causal else _signed(*directions)
    return Scalogram(scales=scales, periods=periods, omega0=omega0, wavelet=wavelet, **axes)


def quadratic_forms(wavelets: Array, covariance: Array) -> Array:
    """ψᴴ C ψ for every wavelet: (\\*, τ) complex or real and a symmetric (τ, τ) give (\\*)."""
    return sum(np.einsum("...t,...t", part @ covariance, part) for part in (wavelets.real, wavelets.imag))


def _signed(back: dict[str, Array], ahead: dict[str, Array]) -> dict[str, Array]:
    """Both directions on one signed lag axis, the last of each array; lag 0, which both have, is averaged."""
    signed = {}
    for name in back.keys() - {"lags", "cone"}:
        first, second = ahead[name][..., ::-1], back[name]
        middle = (first[..., -1:] + second[..., :1]) / 2
        signed[name] = np.concatenate([first[..., :-1], middle, second[..., 1:]], axis=-1)
    signed["lags"] = np.r_[-ahead["lags"][:0:-1], back["lags"]]
    signed["cone"] = np.concatenate([ahead["cone"][:, :0:-1], back["cone"]], axis=1)
    return signed
