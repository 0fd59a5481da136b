"""The linear reading and the trees against scikit-learn, and what they must not know."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression

from lib.segmentation.ridge import CONTEXT, Linear, fit_many, linear_scores, shifted_sum
from lib.segmentation.trees import Trees, fit_trees


@pytest.fixture
def planted():
    """Rows in windows of 10; a boundary where feature 0 of the next row less feature 1 of this row is large."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1200, 6)).astype(np.float16)
    window = np.repeat(np.arange(120), 10)
    following = np.where(np.arange(1200) % 10 < 9, np.r_[values[1:, 0], 0], values[:, 0])
    target = following - values[:, 1] + 0.5 * rng.normal(size=1200) > 1.0
    return values, window, target


def with_context(values, window):
    """The context written out: (row, context · feature)."""
    parts = []
    for offset in CONTEXT:
        there = np.clip(np.arange(len(values)) + offset, 0, len(values) - 1)
        there = np.where(window[there] == window, there, np.arange(len(values)))
        parts.append(values[there])
    return np.concatenate(parts, axis=1).astype(np.float64)


def test_the_optimum_is_that_of_logistic_regression_on_written_out_context(planted):
    values, window, target = planted
    strength = 0.01
    ((model, deviation),) = fit_many(values, window, target, np.ones((1200, 1)), strength, iterations=200)
    wide = with_context(values.astype(np.float32) / deviation, window)
    oracle = LogisticRegression(C=1 / (2 * strength * 1200), tol=1e-8, max_iter=1000).fit(wide, target)
    assert linear_scores(model, values, window) == pytest.approx(oracle.decision_function(wide), abs=0.02)


def test_context_stops_at_the_edges_of_a_window():
    parts = np.array([[10.0, 1.0, 100.0], [20.0, 2.0, 200.0], [30.0, 3.0, 300.0]])  # columns: before, at, after
    # row 0: its own "before", 1, "after" of row 1; row 1 (window 0): 10 + 2 + own after; row 2 alone: all its own
    assert shifted_sum(parts, np.array([0, 0, 1])).tolist() == [10 + 1 + 200, 10 + 2 + 200, 30 + 3 + 300]


def test_rows_without_weight_teach_nothing(planted):
    values, window, target = planted
    unseen = window >= 90
    weights = np.stack([np.ones(1200), 1.0 * ~unseen], axis=1)
    changed_target = np.where(unseen, ~target, target)
    changed_values = np.where(unseen[:, None], np.float16(3.0) - values, values)
    before = fit_many(values, window, target, weights, 0.01, iterations=200)
    after = fit_many(changed_values, window, changed_target, weights, 0.01, iterations=200)
    scores = [linear_scores(fits[1][0], values, window) for fits in (before, after)]
    assert scores[0] == pytest.approx(scores[1], abs=0.02)
    assert np.abs(before[0][0].weights - after[0][0].weights).max() > 0.1  # the other one did see them


def test_a_linear_score_by_hand():
    model = Linear(np.array([[0.0], [2.0], [1.0]], np.float32), np.array([1.0], np.float32), -1.0)
    # row 0: 2·(3 − 1) + 1·(5 − 1) − 1 = 7; row 1: 2·4 + its own 1·4 − 1 = 11
    assert linear_scores(model, np.array([[3.0], [5.0]]), np.array([0, 0])).tolist() == [7.0, 11.0]


def test_trees_are_those_of_scikit_learn(planted):
    values, _, target = planted
    values = values.astype(np.float32)
    trees = fit_trees(values, target, count=20, depth=3, rate=0.1, smallest=20, seed=3)
    oracle = GradientBoostingClassifier(
        n_estimators=20,
        max_depth=3,
        learning_rate=0.1,
        min_samples_leaf=20,
        subsample=0.7,
        max_features=0.5,
        random_state=3,
    ).fit(values, target)
    assert trees.scores(values) == pytest.approx(oracle.decision_function(values), abs=1e-3)
    again = Trees.from_json(trees.as_json())
    assert (again.scores(values) == trees.scores(values)).all()


def test_a_tree_by_hand():
    tree = {
        "feature": [0, -1, -1],
        "threshold": [0.5, 0, 0],
        "left": [1, 0, 0],
        "right": [2, 0, 0],
        "value": [0, -1, 2],
    }
    assert Trees(0.25, (tree,)).scores(np.array([[0.5], [0.6]])).tolist() == [-0.75, 2.25]


def test_trees_of_one_class_only_know_its_share():
    trees = fit_trees(np.zeros((50, 2), np.float32), np.zeros(50, dtype=bool))
    assert not trees.trees
    assert trees.scores(np.zeros((1, 2)))[0] < -10
