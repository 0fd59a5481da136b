"""Attention fields whose lags, modes and spectra are known: what the spectral tests plant and look for."""

import numpy as np

from lib.spectral import Field


def softmax_rows(scores, causal):
    """Patterns (doc, query_pos, key_pos) from scores, as attention makes them."""
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape[-2:], bool)), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def noise_field(documents=24, length=64, causal=True, seed=0, strength=1.0):
    """Softmax of independent scores: a field without structure along the lag."""
    scores = strength * np.random.default_rng(seed).standard_normal((documents, length, length))
    return Field(softmax_rows(scores, causal).astype(np.float32))


def lag_of(length):
    return np.subtract.outer(np.arange(length), np.arange(length))


def planted(profile, documents=24, length=64, causal=True, seed=0, noise=0.0, phases=False):
    """A field whose fluctuation is amplitude(doc) × profile(lag), plus white noise of a given deviation.

    profile: function of lag (an array) and of a phase (doc-wise, zero without ``phases``).
    """
    rng = np.random.default_rng(seed)
    lag = lag_of(length)
    amplitude = rng.standard_normal(documents)
    phase = rng.uniform(0, 2 * np.pi, documents) if phases else np.zeros(documents)
    field = np.stack([a * profile(lag, p) for a, p in zip(amplitude, phase, strict=True)])
    field += noise * rng.standard_normal(field.shape)
    return Field(np.where(lag >= 0, field, 0) if causal else field, causal=causal)


def planted_modes(count, energies, documents=40, length=32, seed=0):
    """A causal ensemble with known orthonormal modes, row sums zero, and their energies.

    Returns the pattern, float64 (doc, query_pos, key_pos), the modes and the mean field.
    """
    rng = np.random.default_rng(seed)
    mean = softmax_rows(rng.standard_normal((length, length)), causal=True)
    raw = np.tril(rng.standard_normal((count, length, length)))
    raw -= np.tril(np.ones((length, length))) * raw.sum(-1, keepdims=True) / np.arange(1, length + 1)[:, None]
    modes = np.linalg.qr(raw.reshape(count, -1).T)[0].T.reshape(count, length, length)
    scores = rng.standard_normal((documents, count))
    scores = np.linalg.qr(scores - scores.mean(axis=0))[0] * np.sqrt(documents * np.asarray(energies))
    return mean + np.tensordot(scores, modes, axes=1), modes, mean
