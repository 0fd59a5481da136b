"""What the weights say about a head: whether it asks with the directions it answers with, and whether it writes."""

from __future__ import annotations

from typing import Any

import numpy as np


def projection_agreement(engine: Any, layers: tuple[int, ...], stream: str = "self") -> np.ndarray:
    """Pearson correlation between the entries of W_Q and W_K of each head: (layer, head).

    Raises WeightsUnknown where the family's layout is not known.

    **Source** Yeh et al., AttentionViz, 2023, arXiv 2305.03210: 0.94 in heads that look at themselves.
    """
    weights = [engine.weights(layer, stream) for layer in layers]
    return np.array([head_correlations(one.W_Q, one.W_K) for one in weights])


def head_correlations(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Pearson correlation between the entries of two (head, d_head, d_model) arrays, per head; NaN where constant."""
    a, b = (array.reshape(len(array), -1).astype(np.float64) for array in (a, b))
    a, b = (array - array.mean(axis=1, keepdims=True) for array in (a, b))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (a * b).sum(axis=1) / np.sqrt((a**2).sum(axis=1) * (b**2).sum(axis=1))


def unwritten(engine: Any, layers: tuple[int, ...], stream: str = "self") -> np.ndarray:
    """Heads whose W_O is exactly zero, so that nothing they compute is written: bool (layer, head).

    Raises WeightsUnknown where the family's layout is not known.
    """
    return np.array([~engine.weights(layer, stream).W_O.any(axis=(1, 2)) for layer in layers])
