"""Trust numbers of pictures that are perfect, lost or folded, and of a real head."""

import numpy as np
import pytest

from lib.embeddings import (
    EmbeddingError,
    MapSettings,
    Projection,
    distance_score_correlation,
    distance_table,
    head_map,
    neighbourhoods,
    principal_axes,
    sample_tokens,
    seed_agreement,
    tiles,
    trust,
    trust_table,
)


@pytest.fixture(scope="module")
def flat(made):
    """Queries and keys on a circle in two dimensions: the plane holds everything."""
    rng = np.random.default_rng(0)
    angle = rng.uniform(0, 2 * np.pi, size=(2, 1, 1, 60))
    query, key = (np.stack([np.cos(a), np.sin(a)], axis=-1) for a in angle)
    key -= key.mean(axis=2, keepdims=True)
    query -= query.mean(axis=2, keepdims=True)
    return made(query, key, [30, 30])


def measured(capture, xy_of, **options):
    joint = head_map(capture, capture.layers[0], 0)
    rows = sample_tokens(capture.doc_offsets)
    drawn = Projection(xy_of(joint.points), "pca", {})
    return trust(capture, capture.layers[0], 0, joint, drawn, rows, **options)


def test_a_picture_that_holds_everything(flat):
    found = measured(flat, lambda points: points / np.linalg.norm(points, axis=1, keepdims=True))
    assert found.trustworthiness == pytest.approx(1)
    assert found.continuity == pytest.approx(1)
    assert found.picture_correlation == pytest.approx(found.shown_correlation, abs=1e-3)
    assert found.key_recall == pytest.approx(found.key_recall_full, abs=1e-3)
    assert found.key_recall > 0.8 > found.key_recall_chance == pytest.approx(5 / 30)
    assert found.doubtful == ""


def test_it_can_be_stopped_between_its_parts(flat):
    class Stop(Exception):
        pass

    told = []

    def stop(done, total, stage):
        told.append((done, total))
        if done == 2:
            raise Stop

    with pytest.raises(Stop):
        measured(flat, lambda points: points, progress=stop)
    assert told == [(0, 4), (1, 4), (2, 4)]


def test_a_picture_of_noise_is_marked(flat):
    rng = np.random.default_rng(1)
    found = measured(flat, lambda points: rng.normal(size=(len(points), 2)))
    assert abs(found.picture_correlation) < 0.15
    assert found.trustworthiness < 0.7
    assert found.key_recall == pytest.approx(found.key_recall_chance, abs=0.1)
    assert "hardly follows" in found.doubtful
    assert "often not near" in found.doubtful


def test_a_fold_breaks_trustworthiness_and_a_tear_breaks_continuity():
    turn = np.linspace(0, 2 * np.pi, 120, endpoint=False)
    ring = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    folded, torn = ring[:, :1], np.stack([turn, np.zeros(120)], axis=1)
    near, kept, sampled, k = neighbourhoods(ring, folded)
    assert (sampled, k) == (120, 15)
    assert near < kept
    near, kept, _, _ = neighbourhoods(ring, torn)
    assert kept < near


def test_a_sample_is_stated_and_few_points_are_undefined():
    points = np.random.default_rng(2).normal(size=(200, 3))
    assert neighbourhoods(points, points[:, :2], most=50)[2:] == (50, 15)
    assert neighbourhoods(points[:9], points[:9, :2])[2:] == (9, 4)
    assert np.isnan(neighbourhoods(points[:2], points[:2, :2])[0])


def test_turning_scaling_and_moving_leave_two_seeds_in_agreement():
    xy = np.random.default_rng(3).normal(size=(50, 2))
    turned = 3 * xy @ np.array([[0.6, 0.8], [-0.8, 0.6]]) + 5
    assert seed_agreement(xy, turned) == pytest.approx(1)
    assert seed_agreement(xy, np.random.default_rng(4).normal(size=(50, 2))) < 0.3
    assert np.isnan(seed_agreement(xy, 0 * xy))
    with pytest.raises(EmbeddingError, match="same points"):
        seed_agreement(xy, xy[:4])


def test_the_paper_number_is_that_of_the_sample(flat):
    found = measured(flat, lambda points: points)
    query, key = flat.query[0, 0], flat.key[0, 0]
    assert found.distance_correlation == pytest.approx(
        distance_score_correlation(query, key, flat.doc_offsets, False), abs=1e-9
    )


def test_maps_and_pictures_that_do_not_belong_together_are_refused(flat):
    joint = head_map(flat, 0, 0)
    rows = sample_tokens(flat.doc_offsets)
    drawn = principal_axes(joint.points)
    with pytest.raises(EmbeddingError, match="sample that the map was made of"):
        trust(flat, 0, 0, joint, drawn, sample_tokens(flat.doc_offsets, 10))
    with pytest.raises(EmbeddingError, match="Draw this map"):
        trust(flat, 0, 0, joint, principal_axes(joint.points[:9]), rows)
    only = head_map(flat, 0, 0, roles=("query",))
    with pytest.raises(EmbeddingError, match="Switch both on"):
        trust(flat, 0, 0, only, principal_axes(only.points), rows)


def test_table_of_distances_is_simultaneous_and_names_true_layers(minilm_capture):
    found = distance_table(minilm_capture, [(4, 7), (1, 9)])
    assert found[["layer", "head"]].to_numpy().tolist() == [[4, 7], [1, 9]]
    assert (found.low <= found.correlation).all()
    assert (found.correlation <= found.high).all()
    assert (found.correlation < -0.5).all()
    query = minilm_capture.query[1, 7]
    gap = np.linalg.norm(query, axis=1).mean() - np.linalg.norm(minilm_capture.key[1, 7], axis=1).mean()
    assert found.norm_gap[0] == pytest.approx(gap, rel=1e-5)


def test_every_picture_of_a_real_model_has_its_numbers(minilm_capture):
    settings = MapSettings(most=90)
    drawn = list(tiles(minilm_capture, settings, [(1, 9), (4, 7)]))
    found = trust_table(minilm_capture, drawn, settings, most=100)
    assert len(found) == 2
    numbers = found.drop(columns=["seeds", "doubtful"]).to_numpy(float)
    assert np.isfinite(numbers).all()
    assert (found.points == 180).all()
    assert (found.sampled == 100).all()
    assert (found.distance_correlation < found.picture_correlation).all()


@pytest.mark.parametrize("points", [np.zeros((40, 4)), np.ones((40, 4)), np.outer(np.arange(1, 41), np.ones(4))])
def test_nothing_is_near_where_all_points_lie_in_one_direction(points):
    near, kept, sampled, _ = neighbourhoods(points, np.random.default_rng(0).normal(size=(40, 2)))
    assert np.isnan([near, kept]).all()
    assert sampled == 40
    assert np.isnan(neighbourhoods(np.random.default_rng(0).normal(size=(40, 4)), np.ones((40, 2)))[:2]).all()


def test_a_picture_of_other_points_is_refused():
    points = np.random.default_rng(0).normal(size=(9, 4))
    with pytest.raises(EmbeddingError, match="of these 9 points; got 5"):
        neighbourhoods(points, points[:5, :2])
    with pytest.raises(EmbeddingError, match="got 0"):
        neighbourhoods(points, points[:, :2], most=0)


def test_a_table_of_no_head_is_refused(made):
    points = np.random.default_rng(0).normal(size=(1, 1, 40, 4))
    with pytest.raises(EmbeddingError, match="at least one head"):
        distance_table(made(points, points), heads=[])
