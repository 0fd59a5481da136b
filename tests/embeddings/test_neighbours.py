"""Exact neighbours against scikit-learn, and neighbours that belong to other points."""

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from lib.embeddings import EmbeddingError, nearest, project
from lib.embeddings import neighbours as module


def test_worked_example():
    """Directions 0°, 10°, 90°, 100°: everyone's nearest is its partner, at 1 − cos 10°."""
    angle = np.deg2rad([0, 10, 90, 100])
    found = nearest(np.stack([np.cos(angle), np.sin(angle)], axis=1) * [[1], [7], [2], [9]], 1)
    np.testing.assert_array_equal(found.index.ravel(), [1, 0, 3, 2])
    np.testing.assert_allclose(found.distance, 1 - np.cos(angle[1]), atol=1e-6)


def test_equals_scikit_learn_in_any_blocks(monkeypatch):
    points = np.random.default_rng(0).normal(size=(120, 5))
    distance, index = NearestNeighbors(n_neighbors=8, metric="cosine").fit(points).kneighbors()
    for block in (1 << 22, 700):
        monkeypatch.setattr(module, "BLOCK", block)
        found = nearest(points, 8)
        np.testing.assert_array_equal(found.index, index)
        np.testing.assert_allclose(found.distance, distance, atol=1e-6)
        np.testing.assert_array_equal(nearest(points, 8, rows=np.array([7, 90])).index, index[[7, 90]])


def test_a_point_is_never_its_own_neighbour_even_among_equals():
    found = nearest(np.repeat(np.eye(3), 4, axis=0), 3)
    assert (found.index != np.arange(12)[:, None]).all()
    assert (found.distance == 0).all()
    np.testing.assert_array_equal(found.index[5], [4, 6, 7])  # equal distances by index


def test_points_kept_apart_are_never_neighbours():
    points, apart = np.random.default_rng(1).normal(size=(20, 3)), np.repeat([0, 1], [4, 16])
    found = nearest(points, 5, apart=apart)
    known = np.isfinite(found.distance)
    assert (apart[found.index[known]] != np.repeat(apart, known.sum(axis=1))).all()
    assert known[:4].all()
    assert (known[4:].sum(axis=1) == 4).all()


def test_zero_vectors_are_at_distance_one():
    found = nearest(np.array([[0.0, 0], [1, 0], [1, 0.1]]), 2)
    np.testing.assert_allclose(found.distance[0], 1)
    assert np.isfinite(found.distance).all()


def test_too_many_neighbours_are_refused():
    with pytest.raises(EmbeddingError, match="from 1 to 2"):
        nearest(np.eye(3), 3)


def test_neighbours_of_other_points_are_never_used():
    rng = np.random.default_rng(2)
    points, others = rng.normal(size=(2, 30, 4))
    stale = nearest(others, 15)
    for wrong in (stale, nearest(points, 3), nearest(points, 15, rows=np.arange(9)), nearest(points[:20], 15)):
        with pytest.raises(EmbeddingError, match="Search them again"):
            project(points, "umap", neighbours=wrong)


def test_searching_can_be_cancelled():
    def cancel(done, total, stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        nearest(np.eye(5), 2, progress=cancel)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"k": 0}, "from 1 to 5; got 0"),
        ({"k": 6}, "from 1 to 5; got 6"),
        ({"k": 2.5}, "got 2.5"),
        ({"k": True}, "got True"),
        ({"k": "3"}, "got '3'"),
        ({"points": np.arange(6.0)}, r"got float64 \(6,\)"),
        ({"points": np.array([[0, 1], [np.nan, 1], [2, 2]])}, "NaN or infinity at token 1"),
        ({"points": np.ones((1, 3))}, "at least two points; got 1"),
        ({"rows": np.array([0, 6])}, "from 0 to 5; got int64 .* up to 6"),
        ({"rows": np.array([-1])}, "from 0 to 5"),
        ({"rows": np.array([0.5])}, "from 0 to 5; got float64"),
        ({"apart": np.zeros(4, int)}, r"each of 6 points; got \(4,\)"),
    ],
)
def test_what_has_no_neighbours_is_refused_with_a_way_out(asked, says):
    given = {"points": np.random.default_rng(0).normal(size=(6, 3)), "k": 1} | asked
    with pytest.raises(EmbeddingError, match=says):
        nearest(**given)


@pytest.mark.parametrize("size", [1e-300, 1e-45, 1e-20, 1e20, 1e45])
def test_the_length_of_vectors_does_not_matter_however_small_or_large(size):
    points = np.random.default_rng(1).normal(size=(30, 4))
    one, other = nearest(points, 5), nearest(points * size * np.linspace(1, 9, 30)[:, None], 5)
    np.testing.assert_array_equal(one.index, other.index)
    assert one.source != other.source
