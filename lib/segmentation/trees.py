"""Boosted trees as plain numbers: fitted with scikit-learn, kept as JSON, evaluated with NumPy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

_ARRAYS = ("feature", "threshold", "left", "right", "value")


@dataclass(frozen=True)
class Trees:
    """Trees whose values add up to a score, the natural logarithm of odds.

    base   score before any tree
    trees  per tree: feature (−1 in a leaf), threshold (left where x ≤ threshold), left, right, value per node
    """

    base: float
    trees: tuple[Mapping[str, Sequence[float]], ...]

    def scores(self, values: np.ndarray) -> np.ndarray:
        """Score of each row of values (row, feature): (row,)."""
        total = np.full(len(values), self.base)
        for tree in self.trees:
            feature, threshold, left, right, value = (np.asarray(tree[name]) for name in _ARRAYS)
            node = np.zeros(len(values), dtype=np.int64)
            while (inner := np.flatnonzero(feature[node] >= 0)).size:
                at = node[inner]
                goes_left = values[inner, feature[at]] <= threshold[at]
                node[inner] = np.where(goes_left, left[at], right[at])
            total += value[node]
        return total

    def as_json(self) -> dict[str, object]:
        """Plain lists."""
        return {"base": self.base, "trees": [dict(tree) for tree in self.trees]}

    @staticmethod
    def from_json(data: Mapping[str, object]) -> Trees:
        """The value that `as_json` told."""
        return Trees(float(data["base"]), tuple(data["trees"]))


def fit_trees(
    values: np.ndarray,
    target: np.ndarray,
    count: int = 80,
    depth: int = 3,
    rate: float = 0.12,
    smallest: int = 20,
    seed: int = 0,
) -> Trees:
    """Fit trees by gradient boosting of the logistic loss.

    values (row, feature); target bool (row,); count: trees; depth: questions per tree; rate: what each tree adds;
    smallest: rows of a leaf at least. Thresholds and values are rounded to 5 significant digits.

    **Source** Friedman, "Greedy function approximation", Annals of Statistics 29 (2001), through scikit-learn.
    """
    from sklearn.ensemble import GradientBoostingClassifier

    share = float(np.clip(target.mean(), 1e-6, 1 - 1e-6))
    base = float(np.log(share / (1 - share)))
    if not 0 < target.sum() < len(target):
        return Trees(base, ())
    model = GradientBoostingClassifier(
        n_estimators=count,
        max_depth=depth,
        learning_rate=rate,
        min_samples_leaf=smallest,
        subsample=0.7,
        max_features=0.5,
        random_state=seed,
    ).fit(np.asarray(values, dtype=np.float32), target)
    return Trees(base, tuple(_plain(stage[0].tree_, rate) for stage in model.estimators_))


def _plain(tree: object, rate: float) -> dict[str, list[float]]:
    leaf = tree.children_left < 0
    return {
        "feature": np.where(leaf, -1, tree.feature).tolist(),
        "threshold": [float(f"{x:.5g}") for x in np.where(leaf, 0.0, tree.threshold)],
        "left": np.maximum(tree.children_left, 0).tolist(),
        "right": np.maximum(tree.children_right, 0).tolist(),
        "value": [float(f"{x:.5g}") for x in np.where(leaf, rate * tree.value[:, 0, 0], 0.0)],
    }
