"""Per-head projection matrices, whatever way a family stores them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.errors import HeadlightError


class WeightsUnknown(HeadlightError):
    """The layout of a family's projections is not known."""


@dataclass(frozen=True)
class Weights:
    """Projections of one attention layer, float32 and read-only.

    W_Q, W_K, W_V, W_O: (head, d_head, d_model); b_Q, b_K, b_V: (head, d_head); b_O: (d_model,).
    For head h and its input x (pos, d_model): q = x @ W_Q[h].T + b_Q[h]; result = z @ W_O[h]. Results summed
    over heads plus b_O are the module's output.
    Grouped key/value heads are repeated, so that every query head finds its own.
    """

    W_Q: np.ndarray
    W_K: np.ndarray
    W_V: np.ndarray
    W_O: np.ndarray
    b_Q: np.ndarray
    b_K: np.ndarray
    b_V: np.ndarray
    b_O: np.ndarray


def head_weights(model: Any, layer: int, stream: str, anatomy: Any) -> Weights:
    """Projections of one attention layer."""
    raise WeightsUnknown("a known layout", anatomy.family, "Choose another model.")
