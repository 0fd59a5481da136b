"""PCA equals the SVD; UMAP and t-SNE keep planted clusters, repeat with a seed, and survive bad input."""

import threading

import numpy as np
import pytest
from sklearn.metrics import silhouette_score

from lib.embeddings import (
    EmbeddingError,
    joint_embedding,
    nearest,
    neighbours_kept,
    principal_axes,
    project,
    wanted_neighbours,
)

ARRANGED = ("umap", "tsne")


def clusters(count=4, each=30, seed=0):
    rng = np.random.default_rng(seed)
    return np.repeat(8 * rng.normal(size=(count, 6)), each, axis=0) + rng.normal(size=(count * each, 6))


def test_worked_example():
    """(±2, 0, 0) and (0, ±1, 0): the axes are the coordinates and hold all the variance."""
    points = np.array([[2.0, 0, 0], [-2, 0, 0], [0, 1, 0], [0, -1, 0]])
    drawn = project(points, "pca")
    np.testing.assert_allclose(drawn.xy, points[:, :2], atol=1e-6)
    assert drawn.fidelity["variance"] == pytest.approx(1)


@pytest.mark.parametrize("dimensions", [2, 3])
def test_principal_axes_are_those_of_the_svd(dimensions):
    points = np.random.default_rng(1).normal(size=(50, 7)) * np.arange(1, 8) + 3
    drawn = principal_axes(points, dimensions)
    _, values, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    scores = (points - points.mean(axis=0)) @ axes[:dimensions].T
    signs = np.sign((scores * drawn.xy).sum(axis=0))
    np.testing.assert_allclose(drawn.xy, scores * signs, atol=1e-4)
    assert drawn.fidelity["variance"] == pytest.approx((values[:dimensions] ** 2).sum() / (values**2).sum())
    largest = axes[:dimensions] * signs[:, None]
    assert (np.take_along_axis(largest, np.abs(largest).argmax(axis=1)[:, None], 1) > 0).all()


@pytest.mark.parametrize("method", ARRANGED)
def test_planted_clusters_are_drawn_apart_and_the_seed_decides(method):
    points, labels = clusters(), np.repeat(np.arange(4), 30)
    one, again, other = (project(points, method, seed=seed) for seed in (0, 0, 1))
    assert silhouette_score(one.xy, labels) > 0.5
    np.testing.assert_array_equal(one.xy, again.xy)
    assert np.abs(one.xy - other.xy).max() > 1e-3
    assert one.fidelity["neighbours_kept"] > 0.5
    assert one.parameters["seed"] == 0
    assert one.xy.dtype == np.float32
    assert not one.xy.flags.writeable


@pytest.mark.parametrize("method", ARRANGED)
def test_given_neighbours_are_those_that_would_be_searched(method):
    points = clusters()
    found = nearest(points, wanted_neighbours(method, len(points)))
    np.testing.assert_array_equal(project(points, method, neighbours=found).xy, project(points, method).xy)


@pytest.mark.parametrize("method", ARRANGED)
def test_queries_equal_to_keys_are_drawn_together(method):
    points = joint_embedding(clusters(seed=2), clusters(seed=2), scale=1).points
    xy = project(points, method).xy
    half = len(points) // 2
    apart = np.linalg.norm(xy[:half] - xy[half:], axis=1)
    assert np.median(apart) < 0.05 * np.ptp(xy, axis=0).max()


@pytest.mark.parametrize("method", ARRANGED)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_five_tokens_are_drawn_with_clamped_settings_and_say_so(method, dimensions):
    points = np.random.default_rng(3).normal(size=(10, 8))
    drawn = project(points, method, dimensions)
    assert drawn.xy.shape == (10, dimensions)
    assert np.isfinite(drawn.xy).all()
    assert drawn.method == method
    assert "only 10 points" in drawn.notes[0]
    assert drawn.parameters["neighbours" if method == "umap" else "perplexity"] < 10


@pytest.mark.parametrize("method", ARRANGED)
@pytest.mark.parametrize(
    ("points", "says"),
    [
        (np.ones((40, 5)), "one direction"),
        (np.zeros((40, 5)), "one direction"),
        (np.outer(np.arange(1, 41), np.ones(5)), "one direction"),
        (np.eye(4), "too few"),
        (np.ones((1, 1)), "too few"),
    ],
)
def test_points_that_cannot_be_arranged_fall_back_to_principal_axes(method, points, says):
    drawn = project(points, method)
    assert drawn.method == "pca"
    assert says in " ".join(drawn.notes)
    assert np.isfinite(drawn.xy).all()


@pytest.mark.parametrize("method", ARRANGED)
def test_zero_vectors_and_very_different_lengths_are_drawn(method):
    points = clusters(3, 12)
    points[:4] = 0
    points[4:8] *= 1e6
    points[8:12] *= 1e-6
    drawn = project(points, method)
    assert np.isfinite(drawn.xy).all()
    assert "4 points have length zero" in " ".join(drawn.notes)


def test_one_dimension_is_padded_and_said():
    drawn = principal_axes(np.arange(9.0)[:, None], 3)
    np.testing.assert_array_equal(drawn.xy[:, 1:], 0)
    assert "Only 1 of 3 axes" in drawn.notes[0]


def test_two_threads_may_ask_for_umap_at_once():
    points, results, waited = clusters(), {}, threading.Event()

    def ask(name):
        def progress(done, total, stage):
            if "waiting" in stage:
                waited.set()

        results[name] = project(points, "umap", progress=progress, epochs=400).xy

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(results) == 3
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])


class Cancelled(Exception):
    pass


@pytest.mark.parametrize(("method", "when"), [("umap", "finding"), ("umap", "arranging"), ("tsne", "arranging")])
def test_cancelling_leaves_the_next_map_free(method, when):
    points, seen = clusters(2, 20), []

    def cancel(done, total, stage):
        seen.append((done, total))
        if when in stage and (method == "umap" or done >= 300):
            raise Cancelled

    with pytest.raises(Cancelled):
        project(points, method, progress=cancel)
    if method == "tsne":
        assert [done for done, _ in seen if done] == sorted(done for done, _ in seen if done)
        assert seen[-1] == (300, 750)
    assert np.isfinite(project(points, method).xy).all()


def test_a_waiting_map_can_be_cancelled():
    from lib.embeddings.projection import _ONE

    def cancel(done, total, stage):
        if stage == "waiting for another map":
            raise Cancelled

    with _ONE, pytest.raises(Cancelled):
        project(clusters(2, 20), "umap", progress=cancel)
    assert _ONE.acquire(blocking=False)
    _ONE.release()


def test_kept_neighbours_of_a_copy_and_of_noise():
    points = np.random.default_rng(4).normal(size=(200, 2))
    points /= np.linalg.norm(points, axis=1, keepdims=True)  # on a circle near means near in angle
    found = nearest(points, 15)
    assert neighbours_kept(points, found) > 0.95
    assert neighbours_kept(np.random.default_rng(5).normal(size=(200, 2)), found) == pytest.approx(15 / 199, abs=0.03)


@pytest.mark.parametrize(
    ("change", "says"),
    [({"method": "mds"}, "method of"), ({"dimensions": 4}, "2 or 3"), ({"points": np.full((9, 2), np.inf)}, "finite")],
)
def test_bad_input_is_refused(change, says):
    given = {"points": np.ones((9, 2)), "method": "pca", "dimensions": 2} | change
    with pytest.raises(EmbeddingError, match=says):
        project(**given)


def test_a_graphics_card_is_asked_for_in_words():
    from lib.embeddings.gpu import installed, project_on

    if installed():
        drawn = project_on("cpu", clusters(4, 60), "umap")
        assert silhouette_score(drawn.xy, np.repeat(np.arange(4), 60)) > 0.3
        assert "TorchDR" in drawn.parameters["computed_by"]
    with pytest.raises(EmbeddingError, match="needs no graphics card"):
        project_on("cpu", np.eye(9), "umap")


@pytest.mark.parametrize("method", ["pca", "umap", "tsne"])
def test_numbers_too_large_to_square_are_refused(method):
    points = np.random.default_rng(0).normal(size=(40, 6)) * 1e200
    with pytest.raises(EmbeddingError, match=r"of size 1e\+50 at most"):
        project(points, method)
