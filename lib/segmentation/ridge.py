"""Ridge logistic regression over a few tokens of context, without ever building the context.

The score of a row is b + Σ_c x[row + c] · W_c over the offsets c that stay inside the row's window. One matrix product
with all W_c at once, shifted and added, gives all scores; the gradient is the same product backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize

CONTEXT = (-1, 0, 1)  # tokens around the token before the gap


@dataclass(frozen=True)
class Linear:
    """Weights of a linear score: weights float32 (context, feature) on raw features, and a bias."""

    weights: np.ndarray
    mean: np.ndarray
    bias: float


def shifted_sum(parts: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Σ_c parts[row + c, c] over offsets inside the window: (row,). parts (row, context); window (row,) numbers."""
    total = np.zeros(len(parts), dtype=np.float64)
    for column, offset in enumerate(CONTEXT):
        here, there = _overlap(len(parts), offset)
        same = window[here] == window[there]
        total[here] += np.where(same, parts[there, column], 0.0)
    return total


def _overlap(rows: int, offset: int) -> tuple[slice, slice]:
    """Rows r and rows r + offset, where both exist."""
    return slice(max(0, -offset), rows - max(0, offset)), slice(max(0, offset), rows + min(0, offset))


def linear_scores(model: Linear, values: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Scores of raw features (row, feature): (row,), natural logarithm of the odds of a boundary."""
    parts = np.empty((len(values), len(CONTEXT)), dtype=np.float32)
    for first in range(0, len(values), 8192):
        parts[first : first + 8192] = (values[first : first + 8192].astype(np.float32) - model.mean) @ model.weights.T
    return shifted_sum(parts, window) + model.bias


def standardised(values: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Features with mean 0 and standard deviation 1 over the chosen rows, float32; and both, (feature,)."""
    mean, square = np.zeros(values.shape[1]), np.zeros(values.shape[1])
    chosen = np.flatnonzero(rows)
    for part in np.array_split(chosen, max(1, len(chosen) // 4096)):
        block = values[part].astype(np.float64)
        mean += block.sum(axis=0)
        square += (block**2).sum(axis=0)
    mean /= len(chosen)
    deviation = np.sqrt(np.maximum(square / len(chosen) - mean**2, 1e-12))
    scaled = np.empty(values.shape, dtype=np.float32)
    for first in range(0, len(values), 4096):
        scaled[first : first + 4096] = (values[first : first + 4096].astype(np.float32) - mean) / deviation
    return scaled, mean.astype(np.float32), deviation.astype(np.float32)


def fit(
    values: np.ndarray,
    window: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    strength: np.ndarray,
    iterations: int = 60,
) -> Linear:
    """Fit by maximum penalised likelihood.

    values (row, feature) raw; window (row,) running numbers, equal in the rows of a window; target bool (row,);
    weight (row,), 0 where a row is context only; strength (feature,): ridge per standardised feature, in units of the
    mean loss per unit of weight; iterations: of L-BFGS at most.
    """
    scaled, mean, deviation = standardised(values, weight > 0)
    features, share = scaled.shape[1], (weight / weight.sum()).astype(np.float64)
    target = target.astype(np.float64)

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        matrix = theta[:-1].reshape(features, len(CONTEXT)).astype(np.float32)
        score = shifted_sum(scaled @ matrix, window) + theta[-1]
        value = float(share @ (np.logaddexp(0.0, score) - target * score))
        residual = share * (1 / (1 + np.exp(-score)) - target)
        spread = np.zeros((len(scaled), len(CONTEXT)), dtype=np.float32)
        for column, offset in enumerate(CONTEXT):
            here, there = _overlap(len(scaled), offset)
            spread[there, column] = np.where(window[here] == window[there], residual[here], 0.0)
        gradient = (scaled.T @ spread).astype(np.float64) + 2 * strength[:, None] * matrix
        value += float((strength[:, None] * matrix.astype(np.float64) ** 2).sum())
        return value, np.r_[gradient.ravel(), residual.sum()]

    base = float(np.clip(share @ target, 1e-6, 1 - 1e-6))
    start = np.r_[np.zeros(features * len(CONTEXT)), np.log(base / (1 - base))]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": iterations, "maxcor": 20})
    matrix = found.x[:-1].reshape(features, len(CONTEXT))
    return Linear((matrix / deviation[:, None]).T.astype(np.float32), mean, float(found.x[-1]))
