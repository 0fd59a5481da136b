"""Ridge logistic regression over a few tokens of context, without ever building the context.

The score of a row is b + Σ_c x[row + c] · W_c over the offsets c that stay inside the row's window. One matrix product
with all W_c at once, shifted and added, gives all scores; the gradient is the same product backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.special import expit

from .minimise import minimise_apart

CONTEXT = (-1, 0, 1)  # tokens around the token before the gap


@dataclass(frozen=True)
class Linear:
    """Weights of a linear score: weights float32 (context, feature) on raw features, and a bias."""

    weights: np.ndarray
    mean: np.ndarray
    bias: float


def shifted_sum(parts: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Σ_c parts[row + c, c], offsets that leave the window held at its edge.

    parts (row, context, \\*models); window (row,) numbers. Returns (row, \\*models).
    """
    return sum(parts[_rows(window, offset), column] for column, offset in enumerate(CONTEXT))


def _rows(window: np.ndarray, offset: int) -> np.ndarray:
    """For each row the row ``offset`` further on, or itself where that lies in another window: (row,)."""
    here = np.arange(len(window))
    there = np.clip(here + offset, 0, len(window) - 1)
    return np.where(window[there] == window, there, here)


def linear_scores(model: Linear, values: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Scores of raw features (row, feature): (row,), natural logarithm of the odds of a boundary."""
    return scores_of_many([model], values, window)[:, 0]


def scores_of_many(models: Sequence[Linear], values: np.ndarray, window: np.ndarray) -> np.ndarray:
    """Scores of raw features by several readings with the same means, in one pass over the rows: (row, model)."""
    weights = np.stack([model.weights.T for model in models], axis=2)  # (feature, context, model)
    parts = np.empty((len(values), *weights.shape[1:]), dtype=np.float32)
    for first in range(0, len(values), 1024):
        block = values[first : first + 1024].astype(np.float32) - models[0].mean
        parts[first : first + 1024] = (block @ weights.reshape(len(weights), -1)).reshape(-1, *weights.shape[1:])
    return shifted_sum(parts, window) + np.array([model.bias for model in models])


def spread_of(values: np.ndarray, chosen: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of features (row, feature) over each choice of rows: two float64 (choice, feature).

    chosen: bool (row, choice). All choices are told in one pass over the rows.
    """
    mean = np.zeros((chosen.shape[1], values.shape[1]))
    square = np.zeros_like(mean)
    for first in range(0, len(values), 1024):
        block = values[first : first + 1024].astype(np.float64)
        rows = chosen[first : first + 1024].T.astype(np.float64)
        mean += rows @ block
        square += rows @ np.square(block, out=block)
    count = chosen.sum(axis=0)[:, None]
    mean /= count
    return mean, np.sqrt(np.maximum(square / count - mean**2, 1e-12))


def fit_many(
    values: np.ndarray,
    window: np.ndarray,
    target: np.ndarray,
    weights: np.ndarray,
    strength: np.ndarray | float,
    iterations: int = 24,
) -> list[tuple[Linear, np.ndarray]]:
    """Fit several readings of the same rows by maximum penalised likelihood, each with its own weights of rows.

    values (row, feature) raw; window (row,) running numbers, equal in the rows of a window; target bool (row,);
    weights (row, model), 0 where a row is context only; strength: ridge, one for all or per feature, in
    *that model's* standard deviations and in units of its mean loss; iterations: of L-BFGS at most. A model knows
    nothing of rows of weight 0 beyond their being neighbours in a window: the common scale and the preconditioner
    below cancel out of its optimum.
    Returns per model the reading and the standard deviations of its rows (feature,).
    """
    counted = weights > 0
    means, spreads = spread_of(values, np.concatenate([counted.any(axis=1)[:, None], counted], axis=1))
    centre, scale, own = means[0], spreads[0], spreads[1:]  # own: (model, feature)
    scaled = np.empty(values.shape, dtype=np.float32)
    for first in range(0, len(values), 4096):
        scaled[first : first + 4096] = (values[first : first + 4096].astype(np.float32) - centre) / scale
    features, contexts, models = scaled.shape[1], len(CONTEXT), weights.shape[1]
    share = weights / weights.sum(axis=0)
    target = target.astype(np.float64)[:, None]
    strength = np.broadcast_to(strength, features)
    ridge = strength[:, None, None] * (own / scale).T[:, None, :] ** 2  # (feature, 1, model)
    factor = _preconditioner(scaled, strength)
    rows, own_row = [_rows(window, offset) for offset in CONTEXT], np.arange(len(window))

    def matrix_of(theta: np.ndarray) -> np.ndarray:
        flat = theta[:-1].reshape(features, -1).astype(np.float32)
        solved = solve_triangular(factor, flat, lower=True, trans="T", check_finite=False)
        return solved.reshape(features, contexts, models)

    def loss(theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Per model the loss, (model,), and its gradient, (feature · context + 1, model)."""
        matrix = matrix_of(theta)
        parts = (scaled @ matrix.reshape(features, -1)).reshape(-1, contexts, models)
        score = shifted_sum(parts, window) + theta[-1]
        value = (share * (np.logaddexp(0.0, score) - target * score)).sum(axis=0) + (ridge * matrix**2).sum(axis=(0, 1))
        residual = share * expit(score) - share * target
        spread = np.zeros(parts.shape, dtype=np.float32)
        for column, there in enumerate(rows):
            held = there == own_row  # at most one held and one moved row reach the same place
            spread[there[~held], column] = residual[~held]
            spread[own_row[held], column] += residual[held]
        gradient = (scaled.T @ spread.reshape(len(spread), -1)).reshape(matrix.shape) + 2 * ridge * matrix
        gradient = gradient.reshape(features, -1).astype(np.float32)
        gradient = solve_triangular(factor, gradient, lower=True, check_finite=False)
        return value, np.concatenate([gradient.reshape(-1, models), residual.sum(axis=0)[None]]).astype(np.float64)

    base = np.clip((share * target).sum(axis=0), 1e-6, 1 - 1e-6)
    start = np.concatenate([np.zeros((features * contexts, models)), np.log(base / (1 - base))[None]])
    found = minimise_apart(loss, start, iterations)
    matrix = matrix_of(found)
    return [
        (Linear((matrix[..., m] / scale[:, None]).T.astype(np.float32), centre.astype(np.float32), float(bias)), own[m])
        for m, bias in enumerate(found[-1])
    ]


def _preconditioner(scaled: np.ndarray, strength: np.ndarray) -> np.ndarray:
    """Lower Cholesky factor of about the loss's curvature in one context: without it L-BFGS takes hundreds of steps.

    Every third row is enough; 0.04 is about the mean of p (1 − p) where one gap in fifteen is a boundary.
    """
    some = scaled[::3]
    curvature = 0.04 * (some.T @ some) / len(some)
    curvature[np.diag_indices_from(curvature)] += 2 * strength.astype(np.float32)
    return cholesky(curvature, lower=True, overwrite_a=True, check_finite=False)
