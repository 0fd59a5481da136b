"""L-BFGS for several problems at once that share their arithmetic but nothing else.

scipy would take the sum of the problems for one, with one step length and one memory for all: what one problem's data
say would then move the others. Here every inner product is per problem.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Loss = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
MEMORY = 10  # pairs of steps and gradient changes
HALVINGS = 12  # of a step that does not lower the loss enough


def minimise_apart(loss: Loss, start: np.ndarray, iterations: int, tolerance: float = 1e-7) -> np.ndarray:
    """Minimise every column's own loss.

    loss: from points (parameter, problem) to values (problem,) and gradients (parameter, problem); start: points;
    iterations: at most; tolerance: largest gradient entry at which all problems count as solved.

    **Source** Liu & Nocedal, "On the limited memory BFGS method", Mathematical Programming 45 (1989); step halving by
    Armijo's rule.
    """
    point = start.astype(np.float64)
    value, gradient = loss(point)
    steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # step, change of gradient, 1 / (step · change)
    for _ in range(iterations):
        if np.abs(gradient).max() < tolerance:
            break
        direction = _direction(gradient, steps)
        slope = (direction * gradient).sum(axis=0)
        length = (
            np.ones(len(value)) if steps else np.minimum(1.0, 1 / np.maximum(np.linalg.norm(gradient, axis=0), 1e-12))
        )
        for _ in range(HALVINGS):
            trial = point + length * direction
            new_value, new_gradient = loss(trial)
            worse = ~(new_value <= value + 1e-4 * length * slope)
            if not worse.any():
                break
            length = np.where(worse, length / 2, length)
        better = new_value < value
        trial, new_gradient = np.where(better, trial, point), np.where(better, new_gradient, gradient)
        step, change = trial - point, new_gradient - gradient
        product = (step * change).sum(axis=0)
        usable = product > 1e-12
        inverse = np.where(usable, 1 / np.where(usable, product, 1.0), 0.0)
        steps = [*steps, (step, change, inverse)][-MEMORY:]
        point, value, gradient = trial, np.where(better, new_value, value), new_gradient
    return point


def _direction(gradient: np.ndarray, steps: list[tuple[np.ndarray, np.ndarray, np.ndarray]]) -> np.ndarray:
    """Two-loop recursion, per problem: (parameter, problem)."""
    direction, factors = -gradient, []
    for step, change, inverse in reversed(steps):
        factor = inverse * (step * direction).sum(axis=0)
        direction = direction - factor * change
        factors.append(factor)
    if steps:
        step, change, inverse = steps[-1]
        square = (change**2).sum(axis=0)
        known = (inverse > 0) & (square > 0)
        direction = direction * np.where(known, 1 / np.where(known, inverse * square, 1.0), 1.0)
    for (step, change, inverse), factor in zip(steps, reversed(factors), strict=True):
        direction = direction + step * (factor - inverse * (change * direction).sum(axis=0))
    return direction
