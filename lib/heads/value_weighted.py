"""Norm-based analysis: how much of what is read really arrives.

A large weight on a short value moves little. ‖A_ij · v_j W_O‖ is the length of what key j contributes to the output of
query i through one head; its vectors, summed over keys, heads and the bias, are the attention module's output.
"""

from __future__ import annotations

import numpy as np


def value_weighted(pattern: np.ndarray, value: np.ndarray, W_O: np.ndarray | None = None) -> np.ndarray:
    """‖A_ij · v_j W_O‖ per head: (head, query_pos, key_pos).

    pattern: (head, query_pos, key_pos); value: (head, key_pos, d_head); W_O: (head, d_head, d_model), or None where it
    is not known: then ‖A_ij · v_j‖, which compares keys within one head but not heads with one another.

    **Source** Kobayashi et al., "Attention is Not Only a Weight", 2020, eq. 4; biases of W_V belong to v.
    """
    return pattern * value_lengths(value, W_O)[:, None, :]


def value_lengths(value: np.ndarray, W_O: np.ndarray | None = None) -> np.ndarray:
    """‖v_j W_O‖ per head and key: (head, key_pos); the Gram matrix of W_O saves the d_model-dimensional vectors."""
    if W_O is None:
        return np.linalg.norm(value, axis=2)
    gram = np.matmul(W_O.astype(np.float64), W_O.astype(np.float64).transpose(0, 2, 1))  # (head, d_head, d_head)
    squared = np.einsum("hkd,hde,hke->hk", value.astype(np.float64), gram, value.astype(np.float64), optimize=True)
    return np.sqrt(np.maximum(squared, 0)).astype(np.float32)


def results(pattern: np.ndarray, value: np.ndarray, W_O: np.ndarray) -> np.ndarray:
    """What each head writes, Σ_j A_ij · v_j W_O: (head, query_pos, d_model); with b_O they add up to the whole."""
    return np.matmul(np.matmul(pattern, value), W_O)
