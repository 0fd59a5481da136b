"""Scalograms with the wavelets of PyWavelets, for comparison with the Morlet transform of morlet.py.

PyWavelets integrates the wavelet over each sample, which takes energy from fine scales (× 0.71 at scale 3, × 0.94
at 7 for the Morlet wavelet): compare shapes at scales of 16 and more, not the fine end.
"""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pywt

from lib.errors import HeadlightError

from .document_energies import projected_energies, wavelet_factors
from .fields import Field, as_field, require_documents
from .given import real_numbers
from .morlet import default_scales, fourier_period
from .scalogram import Scalogram, scalogram_with

Array = np.ndarray
MORLET = "cmor2.0-0.95493"  # ω₀ = 6; its energies are those of morlet.py divided by 2√π
CHOICES = {
    MORLET: "Morlet, as PyWavelets computes it",
    "mexh": "Mexican hat (second derivative of a Gaussian)",
    "gaus1": "first derivative of a Gaussian (edges)",
    "cgau4": "complex fourth derivative of a Gaussian",
    "shan1.0-1.0": "Shannon (sharp in frequency)",
    "fbsp2-1.0-1.0": "B-spline in frequency",
}


def comparison_scalogram(field: Field | Array, wavelet: str = MORLET, periods: Array | None = None) -> Scalogram:
    """Scalogram along the lag with another wavelet: the same signals, the same Fourier periods, its own null.

    wavelet: one of ``CHOICES``. periods: (scale,) in tokens, None for those of the default Morlet scales;
    ``Scalogram.scales`` are PyWavelets' own, period × central frequency.

    Raises HeadlightError for fewer than three documents, an unknown wavelet and periods below two tokens.

    **Source**: Lee et al. (2019), *J. Open Source Software* 4, 1237 (PyWavelets); its cwt is linear, so its
    transform of unit impulses gives every energy.
    """
    field = as_field(field)
    require_documents(field)
    samples = field.length // 2
    if wavelet not in CHOICES:
        raise HeadlightError(f"a wavelet among {', '.join(CHOICES)}", f"{wavelet!r}", "Choose one of them.")
    periods = fourier_period(default_scales(samples)) if periods is None else real_numbers(periods, "periods (scale,)")
    if periods.ndim != 1 or not periods.size or not (periods >= 2).all():
        raise HeadlightError("Fourier periods (scale,) of at least 2 tokens", f"{periods}", "Leave them out.")
    scales = periods * _central_frequency(wavelet)
    wavelets = _impulse_responses(samples, scales, wavelet)
    energies = partial(projected_energies, factors=wavelet_factors(wavelets))
    return scalogram_with(field, wavelets, energies, scales, periods, float("nan"), wavelet)


def _central_frequency(wavelet: str) -> float:
    """Frequency, per unit of scale, at which the wavelet's spectrum peaks.

    ``pywt.central_frequency`` takes it from a transform too short to place the peak better than a few per cent.
    """
    named = pywt.ContinuousWavelet(wavelet)
    if named.center_frequency is not None:
        return float(named.center_frequency)
    psi, x = named.wavefun(10)
    size = 64 * len(x)
    peak = int(np.abs(np.fft.fft(psi, size)).argmax())  # some complex wavelets turn the other way
    return min(peak, size - peak) / (size * float(x[1] - x[0]))


def _impulse_responses(samples: int, scales: Array, wavelet: str) -> Array:
    """PyWavelets' transform of even pairs of impulses at ±τ, (scale, b, τ), complex128."""
    pairs = np.zeros((samples, 2 * samples - 1))  # (τ, position), lag 0 in the middle
    tau = np.arange(samples)
    pairs[tau, samples - 1 + tau] = pairs[tau, samples - 1 - tau] = 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # wavelets given without their parameters
        transform, _ = pywt.cwt(pairs, scales, wavelet, method="fft", axis=-1)
    return np.ascontiguousarray(transform[..., samples - 1 :].transpose(0, 2, 1), dtype=np.complex128)
