"""Rollout: attention followed through the layers, the residual stream included."""

from __future__ import annotations

import numpy as np

from lib.errors import HeadlightError


def rollout(pattern: np.ndarray, residual: float = 0.5) -> np.ndarray:
    """R = Ã_L … Ã_1 with Ã_l = (1 − residual)·A_l + residual·I, rows normalised: (query_pos, key_pos).

    pattern: (layer, head, pos, pos) of one document; heads are averaged. Rows of the result sum to 1: how much of each
    input position a position of the last layer holds, if every layer mixed positions only by its mean attention.

    Raises HeadlightError for rectangular patterns (cross-attention, or windows, whose tokens change between layers).

    **Source** Abnar & Zuidema, "Quantifying Attention Flow in Transformers", 2020, §3.
    """
    if pattern.ndim != 4 or pattern.shape[2] != pattern.shape[3] or not len(pattern):
        raise HeadlightError(
            "patterns (layer, head, pos, pos) of one text attending to itself",
            f"shape {pattern.shape}",
            "Rollout is defined for self-attention over one set of tokens: not for cross-attention, nor for windows.",
        )
    mixed = np.eye(pattern.shape[2])
    for layer in pattern:
        step = (1 - residual) * layer.mean(axis=0, dtype=np.float64) + residual * np.eye(len(mixed))
        total = step.sum(axis=1, keepdims=True)
        mixed = (step / np.where(total > 0, total, 1)) @ mixed
    return mixed
