"""The search for c against a plain loop, and what happens where there is nothing to find."""

import numpy as np
import pytest

from lib.embeddings import EmbeddingError, joint_embedding
from lib.embeddings.joint import KEY, QUERY
from lib.embeddings.scale import GRID, search_scale


def plain_curve(query, key, documents, causal):
    """Weighted Pearson of distance and centred score at every c, from the joint points themselves."""
    curve = []
    for c in GRID:
        joint = joint_embedding(query, key, scale=c)
        a, b = joint.of(QUERY), joint.of(KEY)
        distance, score = [], []
        for start, stop in documents:
            for i in range(start, stop):
                for j in range(start, i + 1 if causal else stop):
                    distance.append(1 - a[i] @ b[j] / np.linalg.norm(a[i]) / np.linalg.norm(b[j]))
                    score.append(query[i] @ (key[j] - key.mean(axis=0)))
        weights = np.maximum(np.median(distance) - distance, 0) ** 2
        cov = np.cov(distance, score, aweights=weights)
        curve.append(cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]))
    return np.array(curve)


@pytest.mark.parametrize("causal", [False, True])
def test_curve_equals_a_plain_loop(causal):
    rng = np.random.default_rng(0)
    query, key = rng.normal(size=(11, 3)) + 0.5, rng.normal(size=(11, 3))
    curve = search_scale(query, key, np.array([0, 4, 11]), np.array([0, 4, 11]), causal)
    np.testing.assert_allclose(curve.correlation, plain_curve(query, key, [(0, 4), (4, 11)], causal), atol=1e-9)
    assert curve.pairs == curve.pairs_allowed == (10 + 28 if causal else 16 + 49)


def test_an_interior_optimum_is_taken():
    rng = np.random.default_rng(2)
    for _ in range(40):
        query, key = rng.normal(size=(30, 3)) + 1, 2 * rng.normal(size=(30, 3))
        joint = joint_embedding(query, key, "search")
        assert joint.curve is not None
        if joint.rule == "search":
            break
    assert 0.2 < joint.scale < 5
    assert np.nanmin(joint.curve.correlation) == joint.curve.correlation[joint.scale == GRID][0]


def test_the_edge_of_the_grid_is_no_optimum():
    rng = np.random.default_rng(5)
    query, key = rng.normal(size=(30, 8)), rng.normal(size=(30, 8))
    query -= query.mean(axis=0)  # without a common centroid smaller c is no different: nothing in between is best
    joint = joint_embedding(query, key, "search")
    assert joint.rule == "variance"
    assert "No interior optimum" in joint.note
    assert joint.scale == joint_embedding(query, key, "variance").scale
    assert joint.curve.best is None


def test_many_pairs_are_sampled_evenly_and_reproducibly():
    rng = np.random.default_rng(1)
    query, key = rng.normal(size=(60, 4)) + 1, rng.normal(size=(60, 4))
    offsets = np.array([0, 20, 60])
    for causal in (False, True):
        full = search_scale(query, key, offsets, offsets, causal)
        part = search_scale(query, key, offsets, offsets, causal, most_pairs=700)
        again = search_scale(query, key, offsets, offsets, causal, most_pairs=700)
        assert part.pairs == 700 < part.pairs_allowed == full.pairs
        np.testing.assert_array_equal(part.correlation, again.correlation)
        assert np.abs(part.correlation - full.correlation).max() < 0.15


def test_sampled_causal_pairs_are_allowed_and_all_equally_likely():
    from lib.embeddings.scale import _pairs

    row, col, total = _pairs(np.array([0, 3, 7]), np.array([0, 3, 7]), True, 12, seed=3)
    assert total == 6 + 10
    row, col, _ = _pairs(np.array([0, 3]), np.array([0, 3]), True, 5, seed=3)
    assert (col <= row).all()
    rows, cols = [], []
    for seed in range(600):
        row, col, _ = _pairs(np.array([0, 3]), np.array([0, 3]), True, 5, seed)
        rows.append(row)
        cols.append(col)
    counts = np.zeros((3, 3))
    np.add.at(counts, (np.concatenate(rows), np.concatenate(cols)), 1)
    assert counts[np.triu_indices(3, 1)].sum() == 0
    assert np.abs(counts[np.tril_indices(3)] - 500).max() < 5 * np.sqrt(500)


def test_nothing_to_search_is_said():
    joint = joint_embedding(np.zeros((6, 3)), np.zeros((6, 3)), "search")
    assert np.isnan(joint.curve.correlation).all()
    assert joint.scale == 1
    assert "No interior optimum" in joint.note


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_a_scale_that_leaves_one_side_only_is_refused(scale):
    rng = np.random.default_rng(0)
    with pytest.raises(EmbeddingError, match=r"between 1e-06 and 1e\+06"):
        joint_embedding(rng.normal(size=(9, 4)), rng.normal(size=(9, 4)), scale=scale)
