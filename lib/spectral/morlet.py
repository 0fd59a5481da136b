"""The Morlet wavelet: the transform by FFT, its scales, and the wavelet folded about lag 0.

Scales are in samples (tokens) throughout. It does not know about attention; see scalogram.py.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from lib.errors import HeadlightError

from .given import real_numbers

Array = np.ndarray
OMEGA0 = 6.0
SMALLEST_OMEGA0 = 5  # below it the constant e^{−ω₀²/2} that is left out is no longer small
PER_OCTAVE = 6  # scales per factor of two in the default grid; the wavelet itself is 0.6 octaves wide


def scale_limits(samples: int, omega0: float = OMEGA0) -> tuple[float, float]:
    """Smallest and largest usable scale, in samples, of a signal of ``samples`` samples seen from its start.

    Below (ω₀ + 3)/π the wavelet's spectrum crosses the Nyquist frequency; above samples/(2√2) the far edge is
    felt (at distance √2·a) at half of all positions. Raises HeadlightError for ω₀ below 5.

    **Source**: Torrence & Compo (1998), *Bull. Amer. Meteor. Soc.* 79, table 1 (e-folding time √2·a).
    """
    if not SMALLEST_OMEGA0 <= omega0 < math.inf:
        raise HeadlightError(f"ω₀ of at least {SMALLEST_OMEGA0}", f"{omega0}", "Use 6: below 5 it is no wavelet.")
    return (omega0 + 3) / math.pi, samples / (2 * math.sqrt(2))


def default_scales(samples: int, omega0: float = OMEGA0) -> Array:
    """Geometric grid of scales between the limits, six to the octave, both ends included.

    Raises HeadlightError where the signal is too short for any scale.
    """
    low, high = scale_limits(samples, omega0)
    if high <= low:
        fewest = math.floor(low * 2 * math.sqrt(2)) + 1
        raise HeadlightError(
            f"at least {fewest} lags, so that one scale fits: windows of {2 * fewest} tokens or more",
            f"{samples} lags",
            "Use longer windows.",
        )
    return np.geomspace(low, high, max(2, math.ceil(PER_OCTAVE * math.log2(high / low)) + 1))


def check_scales(scales: Array, largest: float = math.inf, omega0: float = OMEGA0) -> Array:
    """Scales as float64 (scale,), or a HeadlightError naming the one out of range."""
    scales = np.atleast_1d(real_numbers(scales, "scales (scale,)").astype(np.float64))
    smallest, _ = scale_limits(0, omega0)
    slack = 1e-9 * smallest
    fits = np.isfinite(scales) & (scales >= smallest - slack) & (scales <= largest * (1 + 1e-9))
    if scales.ndim != 1 or not scales.size or not fits.all():
        bad = scales.ravel()[np.argmin(fits.ravel())] if scales.size else "none"
        upper = "" if math.isinf(largest) else f" and at most {largest:.2f}, where the edge is felt everywhere"
        raise HeadlightError(
            f"scales of at least {smallest:.2f} samples, below which the wavelet crosses Nyquist{upper}",
            f"{bad}" if isinstance(bad, str) else f"{bad:.4g}",
            "Leave scales out for the whole usable range.",
        )
    return scales


def fourier_period(scale: Array | float, omega0: float = OMEGA0) -> Array | float:
    """Period, in samples, of the oscillation whose |W|²/a peaks at ``scale``: 2πa/ω₀, 1.047 a at ω₀ = 6."""
    return 2 * math.pi * scale / omega0


def morlet_cwt(signal: Array, scales: Array, omega0: float = OMEGA0) -> Array:
    """Continuous Morlet transform W(a, b) = a^{-1/2} Σ_t f(t) ψ*((t − b)/a), ψ(t) = π^{-1/4} e^{iω₀t} e^{−t²/2}.

    signal: real (\\*, pos); zero beyond both ends (nothing is subtracted, extended or detrended).
    scales: (scale,) in samples. Returns complex128 (\\*, scale, pos), b running over the positions of the signal.

    Computed in the frequency domain, √a·ψ̂(aω) on ω > 0 with ψ̂(ω) = π^{-1/4}√(2π) e^{−(ω−ω₀)²/2}, padded with
    zeros so that nothing wraps round. Raises HeadlightError for NaN, complex numbers, an empty signal, ω₀ below 5 and
    a scale below (ω₀ + 3)/π.

    **Source**: Torrence & Compo (1998), *Bull. Amer. Meteor. Soc.* 79, eq. 4; deviation: the weight is a^{-1/2}
    rather than unit energy per discrete scale, and the wavelet's small constant e^{−ω₀²/2} is left out.
    """
    signal = real_numbers(signal, "a signal (…, pos)").astype(np.float64)
    scales = check_scales(scales, omega0=omega0)
    if signal.ndim < 1 or not signal.shape[-1] or not np.isfinite(signal).all():
        raise HeadlightError(
            "a real signal (…, pos) of finite numbers",
            f"shape {signal.shape}" if np.isfinite(signal).all() else "NaN or infinity in it",
            "Leave those samples out, or say what they should be.",
        )
    n = signal.shape[-1]
    size = _padded(n, scales.max())
    spectrum = np.fft.fft(signal, size)[..., None, :]  # (*, 1, frequency)
    return np.fft.ifft(spectrum * _spectral_wavelets(scales, size, omega0))[..., :n]


def _padded(n: int, largest_scale: float) -> int:
    """FFT length for which the wavelet (nine standard deviations) cannot reach round to the other end."""
    return 1 << math.ceil(math.log2(n + 9 * largest_scale + 1))


def _spectral_wavelets(scales: Array, size: int, omega0: float) -> Array:
    omega = 2 * math.pi * np.fft.fftfreq(size)  # (frequency,)
    shape = np.exp(-0.5 * (scales[:, None] * omega - omega0) ** 2) * (omega > 0)
    return math.pi**-0.25 * math.sqrt(2 * math.pi) * np.sqrt(scales)[:, None] * shape


@lru_cache(maxsize=2)
def folded_wavelets(samples: int, scales: tuple[float, ...], omega0: float = OMEGA0) -> Array:
    """The wavelet at every scale and lag, folded so that it meets the signal f(τ), τ ≥ 0, extended evenly.

    ψ_ab(τ) = a^{-1/2} [ψ((τ − b)/a) + 1_{τ>0} ψ((−τ − b)/a)], complex128 (scale, b, τ), b and τ in 0…samples − 1,
    so that Σ_τ f(τ) ψ*_ab(τ) is the transform of t ↦ f(|t|) at (a, b). The wavelets are those of
    ``morlet_cwt``, taken back from the frequency domain, so both routes agree to rounding.
    """
    grid = np.asarray(scales)
    size = _padded(2 * samples, grid.max())
    kernel = np.fft.ifft(_spectral_wavelets(grid, size, omega0))  # (scale, b − t), negative distances at the end
    b, tau = np.arange(samples)[:, None], np.arange(samples)[None, :]
    folded = kernel[:, b - tau] + np.where(tau > 0, kernel[:, b + tau], 0)
    folded = folded.conj()
    folded.setflags(write=False)
    return folded
