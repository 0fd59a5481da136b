"""Translation and scaling leave the attention alone; translating queries does not."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.embeddings import (
    EmbeddingError,
    distance_score_correlation,
    head_map,
    joint_embedding,
    output_embedding,
    with_outputs,
)
from lib.embeddings.joint import KEY, QUERY, VALUE, Z


def softmax(scores):
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def cosine_distance(a, b):
    return 1 - (a @ b.T) / np.linalg.norm(a, axis=1)[:, None] / np.linalg.norm(b, axis=1)


@pytest.fixture
def head():
    rng = np.random.default_rng(1)
    return rng.normal(size=(14, 6)) + 1, 3 * rng.normal(size=(14, 6)) - 2


def test_worked_example():
    """Centroids (1, 0) and (0, 2): at c = 2 queries double, keys are halved about their mean and land on (2, 0)."""
    joint = joint_embedding(np.array([[0.0, 0], [2, 0]]), np.array([[0.0, 1], [0, 3]]), scale=2)
    np.testing.assert_allclose(joint.points, [[0, 0], [4, 0], [2, -0.5], [2, 0.5]])
    np.testing.assert_array_equal(joint.role, [QUERY, QUERY, KEY, KEY])
    np.testing.assert_allclose(joint.shift, [4, -2])


@settings(deadline=None, max_examples=40)
@given(c=st.floats(0.05, 20), seed=st.integers(0, 99))
def test_softmax_does_not_see_translation_and_scaling(c, seed):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(9, 5)), rng.normal(size=(7, 5)) + rng.normal(size=5)
    joint = joint_embedding(query, key, scale=c)
    moved = softmax(joint.of(QUERY) @ joint.of(KEY).T)
    np.testing.assert_allclose(moved, softmax(query @ key.T), atol=1e-6)
    np.testing.assert_allclose(joint.of(KEY), (key + joint.shift) / c, atol=1e-9)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 99))
def test_translating_queries_changes_the_attention(seed):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(9, 5)), rng.normal(size=(7, 5))
    assert np.abs(softmax((query + 1) @ key.T) - softmax(query @ key.T)).max() > 1e-3


@settings(deadline=None, max_examples=20)
@given(c=st.floats(0.1, 10))
def test_scaling_alone_leaves_cosine_distance_alone_but_after_translation_it_matters(c):
    rng = np.random.default_rng(3)
    query, key = rng.normal(size=(9, 5)), rng.normal(size=(7, 5)) + 1
    np.testing.assert_allclose(cosine_distance(c * query, key / c), cosine_distance(query, key), atol=1e-12)
    one, other = (joint_embedding(query, key, scale=scale) for scale in (1.0, 1.0 + c))
    distances = [cosine_distance(joint.of(QUERY), joint.of(KEY)) for joint in (one, other)]
    assert np.abs(distances[0] - distances[1]).max() > 1e-3


def test_limits_of_c(head):
    query, key = head
    small, large = (joint_embedding(query, key, scale=c) for c in (1e-5, 1e5))
    np.testing.assert_allclose(
        cosine_distance(small.of(QUERY), small.of(KEY)), cosine_distance(query, key - key.mean(axis=0)), atol=1e-6
    )
    far = cosine_distance(large.of(QUERY), large.of(KEY))
    np.testing.assert_allclose(far, np.broadcast_to(far[:, :1], far.shape), atol=1e-6)
    np.testing.assert_allclose(far[:, 0], cosine_distance(query, query.mean(axis=0)[None])[:, 0], atol=1e-6)


@pytest.mark.parametrize("rule", ["variance", "norm"])
def test_rules_of_c_do_what_they_say(head, rule):
    query, key = head
    joint = joint_embedding(query, key, scale=rule)
    spread = [
        np.sqrt(((side - side.mean(axis=0)) ** 2).sum(axis=1).mean()) for side in (joint.of(QUERY), joint.of(KEY))
    ]
    if rule == "variance":
        assert spread[0] == pytest.approx(spread[1])
    else:
        lengths = [np.linalg.norm(query * joint.scale, axis=1).mean(), np.linalg.norm(key / joint.scale, axis=1).mean()]
        assert lengths[0] == pytest.approx(lengths[1])
        assert spread[0] != pytest.approx(spread[1], rel=0.05)
    np.testing.assert_allclose(joint.of(QUERY).mean(axis=0), joint.of(KEY).mean(axis=0), atol=1e-12)


def test_equal_queries_and_keys_coincide_at_c_1(head):
    query, _ = head
    joint = joint_embedding(query, query, scale=1)
    np.testing.assert_allclose(joint.of(QUERY), joint.of(KEY), atol=1e-12)
    assert joint_embedding(query, query).scale == 1


def test_float32_input_is_computed_in_float64(head):
    query, key = (side.astype(np.float32) for side in head)
    exact = joint_embedding(query.astype(np.float64), key.astype(np.float64))
    joint = joint_embedding(query, key)
    assert joint.points.dtype == np.float64
    np.testing.assert_array_equal(joint.points, exact.points)
    assert not joint.points.flags.writeable


def test_cross_attention_has_sides_of_different_size(head):
    query, key = head
    joint = joint_embedding(query[:5], key, doc_offsets=np.array([0, 2, 5]), key_doc_offsets=np.array([0, 9, 14]))
    assert (joint.role == QUERY).sum() == 5
    assert (joint.role == KEY).sum() == 14


def test_degenerate_clouds_take_c_1_and_say_so():
    same = np.ones((6, 3))
    for query, key, rule in ((same, same, "variance"), (0 * same, same, "norm"), (same, 0 * same, "norm")):
        joint = joint_embedding(query, key, rule)
        assert joint.scale == 1
        assert "c is 1" in joint.note
        assert np.isfinite(joint.points).all()
    assert len(joint_embedding(np.ones((1, 2)), np.ones((1, 2))).points) == 2


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"scale": 0.0}, "between"),
        ({"scale": -1}, "between"),
        ({"scale": float("nan")}, "between"),
        ({"scale": "widest"}, "variance"),
        ({"scale": True}, "between"),
        ({"query": np.ones((3, 2))}, "one d_head"),
        ({"query": np.ones(6)}, "token, d_head"),
        ({"query": np.ones((0, 6))}, "at least one token"),
        ({"key": np.full((14, 6), np.nan)}, "finite"),
        ({"doc_offsets": np.array([0, 5])}, "rising from 0 to 14"),
        ({"key": np.ones((3, 6)), "causal": True}, "causal=False"),
    ],
)
def test_bad_input_is_refused_in_words(head, change, says):
    given = {"query": head[0], "key": head[1]} | change
    with pytest.raises(EmbeddingError, match=says):
        joint_embedding(given.pop("query"), given.pop("key"), **given)


def test_outputs_stay_among_the_values_they_average(head):
    rng = np.random.default_rng(2)
    value, weights = rng.normal(size=(14, 6)), softmax(rng.normal(size=(14, 14)))
    joint = with_outputs(joint_embedding(*head), value, weights @ value)
    np.testing.assert_allclose(joint.of(Z), weights @ joint.of(VALUE), atol=1e-10)
    assert "nothing to the model" in joint.note
    own = output_embedding(value, weights @ value)
    np.testing.assert_array_equal(own.of(VALUE), value)


def test_values_of_another_width_are_refused_with_a_way_out(head):
    with pytest.raises(EmbeddingError, match="output_embedding"):
        with_outputs(joint_embedding(*head), np.ones((14, 4)))


def test_a_map_of_a_sample_uses_the_centroids_of_all_tokens(made):
    rng = np.random.default_rng(4)
    query, key, value = rng.normal(size=(3, 2, 3, 20, 4))
    capture = made(query, key, [8, 12], value=value, z=value, layers=(2, 5))
    rows = np.array([1, 7, 15])
    whole, part = head_map(capture, 5, 1), head_map(capture, 5, 1, rows=rows)
    np.testing.assert_array_equal(part.of(KEY), whole.of(KEY)[rows])
    both = head_map(capture, 5, 1, roles=("z", "query", "value", "key"), rows=rows)
    np.testing.assert_array_equal(both.role, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3])
    assert set(head_map(capture, 5, 1, roles=("value", "z")).role) == {VALUE, Z}
    assert len(head_map(capture, 5, 1, roles=("z",)).points) == 20
    with pytest.raises(EmbeddingError, match="Switch on"):
        head_map(capture, 5, 1, roles=())
    with pytest.raises(EmbeddingError, match="a head below 3"):
        head_map(capture, 5, 3)
    with pytest.raises(EmbeddingError, match="kept value"):
        head_map(made(query, key), 0, 0, roles=("value",))


def test_real_heads_keep_their_attention(minilm, articles, minilm_capture):
    from lib.capture import pattern

    found = pattern(minilm, articles[0], layers=[4])[0, 7]
    one = minilm_capture.of(0)
    joint = joint_embedding(one.query[1, 7], one.key[1, 7])
    np.testing.assert_allclose(softmax(one.scaling * joint.of(QUERY) @ joint.of(KEY).T), found, atol=1e-5)
    assert distance_score_correlation(one.query[1, 7], one.key[1, 7], one.doc_offsets, False) < -0.5


def test_roles_and_rows_that_are_not_there_are_refused(made):
    points = np.random.default_rng(0).normal(size=(1, 1, 9, 4))
    taken = made(points, points)
    with pytest.raises(EmbeddingError, match=r"got \['queries'\]"):
        head_map(taken, 0, 0, roles=("queries", "key"))
    with pytest.raises(EmbeddingError, match=r"from 0 to 8; got int64 .* up to 9"):
        head_map(taken, 0, 0, rows=np.array([3, 9]))
