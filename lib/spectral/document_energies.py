"""Energies |W(a, b)|² of every document at once, from its lag covariance.

Two routes. The Morlet wavelet has a formula in the frequency domain, so all documents and scales share one cosine
basis and a few large matrix products do the work. Any other wavelet is projected on a basis of its own, scale by scale.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.linalg import eigh

Array = np.ndarray
REACH = 6.0  # standard deviations at which the wavelet has fallen to 2e-8
BLOCK_BYTES = 32_000_000  # of spectra worked on at a time
PROJECTED_DOCUMENTS = 150  # whose covariances are projected on a wavelet's own basis at a time


def morlet_energies(covariances: Array, scales: Array, omega0: float) -> Array:
    """|W|² by document, float32 (doc, scale, b), of signals whose lag covariances are float32 (doc, τ, τ').

    The signals are extended evenly, so their spectra f̂(ω) = f(0) + 2Σ f(τ) cos ωτ are real, and
    ⟨|W(a, b)|²⟩ = Σ_kk' g_k g_k' ⟨f̂_k f̂_k'⟩ cos((ω_k − ω_k')b) with g_k = √a·ψ̂(aω_k)/P: the spectra's covariance is
    summed along its diagonals, one per frequency difference. P is so long that no wavelet reaches round. The narrowest
    wavelet, which is cut at Nyquist, has ripples that depend on P: 1e-4 of its energy, 1e-3 in windows of 48 tokens.
    """
    samples = covariances.shape[1]
    size = 2 * samples + math.ceil(REACH * scales.max())
    count = min((size - 1) // 2, int(size / (2 * math.pi) * (omega0 + REACH) / scales.min()))
    frequencies = 2 * math.pi * np.arange(1, count + 1) / size
    basis = _cosines(frequencies, samples)  # (frequency, τ)
    weights = np.exp(-0.5 * (scales[:, None] * frequencies - omega0) ** 2)
    weights = (np.sqrt(2 * math.sqrt(math.pi) * scales)[:, None] / size * weights).astype(np.float32)
    turns = _cosines(np.arange(samples), count, 2 * math.pi / size)  # cos(ω_δ b), (b, δ)
    energies = np.empty((len(covariances), len(scales), samples), np.float32)
    step = max(4, BLOCK_BYTES // (4 * count**2))
    for first in range(0, len(covariances), step):
        block = np.ascontiguousarray(covariances[first : first + step].transpose(1, 2, 0))  # (τ, τ', doc)
        spectra = _spectral_covariances(block, basis).reshape(count**2, -1)
        along = np.empty((count, len(scales), spectra.shape[1]), np.float32)  # (difference, scale, doc)
        for d in range(count):
            pairs = weights[:, : count - d] * weights[:, d:]
            np.matmul(pairs, spectra[d :: count + 1][: count - d], out=along[d])
        turned = (turns @ along.reshape(count, -1)).reshape(samples, len(scales), -1)
        energies[first : first + step] = turned.transpose(2, 1, 0)
    return np.maximum(energies, 0, out=energies)


def _cosines(angles: Array, count: int, unit: float = 1.0) -> Array:
    """1, 2cos(α·unit), 2cos(2α·unit) … for every angle, float32 (angle, count)."""
    cosines = 2 * np.cos(np.outer(angles, np.arange(count)) * unit)
    cosines[:, 0] = 1
    return cosines.astype(np.float32)


def _spectral_covariances(block: Array, basis: Array) -> Array:
    """⟨f̂_k f̂_k'⟩ for k' ≥ k, float32 (k, k', doc), from covariances (τ, τ', doc); the other half is left unset."""
    samples, _, documents = block.shape
    once = (basis @ block.reshape(samples, -1)).reshape(len(basis), samples, documents)
    twice = np.empty((len(basis), len(basis), documents), np.float32)
    for k, row in enumerate(once):
        np.matmul(basis[k:], row, out=twice[k, k:])
    return twice


def projected_energies(covariances: Array, factors: Sequence[tuple[Array, Array]]) -> Array:
    """|W|² by document, float32 (doc, scale, b), with the ``wavelet_factors`` of any set of wavelets."""
    return np.stack([_energies(covariances, *factor) for factor in factors], axis=1)


def wavelet_factors(wavelets: Array) -> list[tuple[Array, Array]]:
    """Per scale of (scale, b, τ), an orthonormal basis (τ, rank) of its wavelets, and their parts in it, (rank, 2·b).

    Real parts come first. The wavelets of one scale fill a band of frequencies, so few directions span them all.
    """
    factors = []
    for one in wavelets:  # (b, τ)
        strength, basis = eigh((one.conj().T @ one).real)
        basis = basis[:, strength > 1e-12 * strength[-1]]
        parts = np.concatenate([one.real, one.imag]) @ basis
        factors.append((basis.astype(np.float32), parts.T.astype(np.float32)))
    return factors


def _energies(covariances: Array, basis: Array, parts: Array) -> Array:
    """|W|² of one scale, float32 (doc, b)."""
    rank, samples = len(parts), parts.shape[1] // 2
    first, second = np.triu_indices(rank)
    real, imaginary = parts[:, :samples], parts[:, samples:]
    forms = real[first] * real[second] + imaginary[first] * imaginary[second]  # (pair, b)
    forms[first != second] *= 2
    energies = np.empty((len(covariances), samples), np.float32)
    for start in range(0, len(covariances), PROJECTED_DOCUMENTS):
        block = covariances[start : start + PROJECTED_DOCUMENTS]
        half = (block.reshape(-1, samples) @ basis).reshape(len(block), samples, rank)
        inner = half.transpose(0, 2, 1) @ basis  # (doc, rank, rank)
        energies[start : start + PROJECTED_DOCUMENTS] = inner[:, first, second] @ forms
    return np.maximum(energies, 0)
