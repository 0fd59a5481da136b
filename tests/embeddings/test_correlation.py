"""Spearman of distance against score: hand-worked, against scipy row by row, and where it must be exactly −1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.embeddings import EmbeddingError, agreement, distance_agreement, distance_score_correlation, strongest_keys
from lib.stats import spearman


def plain(query, key, documents, causal):
    """The definition, row by row."""
    moved = key - key.mean(axis=0) + query.mean(axis=0)
    means = []
    for (start, stop), (first, last) in documents:
        rows = []
        for i in range(start, stop):
            keys = range(first, min(last, i + 1) if causal else last)
            if len(keys) < 5:
                continue
            norms = [np.linalg.norm(query[i]) * np.linalg.norm(moved[j]) for j in keys]
            distance = [1 - query[i] @ moved[j] / n for j, n in zip(keys, norms, strict=True)]
            rows.append(spearman(np.array(distance), np.array([query[i] @ key[j] for j in keys])))
        means.append(np.nanmean(rows) if rows else np.nan)
    return np.nanmean(means)


def test_worked_example():
    """One query (1, 0), five keys of centroid (1, 0): moved by (0, 0), so distances follow angles.

    Scores are the first coordinates 4, 2, 0, −1, 0 (ties share a rank); the angles' cosines are 4/5, 2/√5, 0, −1, 0:
    ranks of distance 2, 1, 3.5, 5, 3.5 against ranks of score 5, 4, 2.5, 1, 2.5 give ρ = −8.5/9.5.
    """
    query = np.array([[1.0, 0.0]])
    key = np.array([[4.0, 3], [2, 1], [0, 1], [-1, 0], [0, -5]])
    np.testing.assert_array_equal(key.mean(axis=0), [1, 0])
    found = distance_score_correlation(query, key, np.array([0, 1]), False, np.array([0, 5]))
    assert found == pytest.approx(-8.5 / 9.5, abs=1e-12)


@pytest.mark.parametrize("causal", [False, True])
def test_equals_the_definition_row_by_row(causal):
    rng = np.random.default_rng(0)
    query, key = rng.normal(size=(30, 4)), rng.normal(size=(30, 4)) + 1
    key[7] = key[6]  # ties
    offsets = np.array([0, 3, 14, 30])
    documents = [((a, b), (a, b)) for a, b in ((0, 3), (3, 14), (14, 30))]
    found = distance_agreement(query, key, offsets, causal)
    assert found.correlation == pytest.approx(plain(query, key, documents, causal), abs=1e-12)
    assert found.rows + found.few + found.constant == 30
    assert found.few == (3 + 4 + 4 if causal else 3)
    assert np.isnan(found.per_document[0])


def test_cross_attention_meets_the_keys_of_its_own_document():
    rng = np.random.default_rng(1)
    query, key = rng.normal(size=(9, 4)), rng.normal(size=(17, 4))
    found = distance_score_correlation(query, key, np.array([0, 4, 9]), False, np.array([0, 10, 17]))
    assert found == pytest.approx(plain(query, key, [((0, 4), (0, 10)), ((4, 9), (10, 17))], False), abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 999), tokens=st.integers(5, 25), width=st.integers(2, 8), causal=st.booleans())
def test_equal_lengths_of_translated_keys_give_exactly_minus_one(seed, tokens, width, causal):
    rng = np.random.default_rng(seed)
    moved = rng.normal(size=(tokens, width))
    moved /= np.linalg.norm(moved, axis=1, keepdims=True)
    query = rng.normal(size=(tokens, width))
    query += moved.mean(axis=0) - query.mean(axis=0)  # so that the keys land where they have one length
    key = moved + rng.normal(size=width)
    found = distance_score_correlation(query, key, np.array([0, tokens]), causal)
    assert found == pytest.approx(-1, abs=1e-9)


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 99), shift=st.floats(-5, 5))
def test_a_constant_added_to_keys_changes_nothing(seed, shift):
    rng = np.random.default_rng(seed)
    query, key = rng.normal(size=(20, 4)), rng.normal(size=(20, 4))
    one = distance_score_correlation(query, key, np.array([0, 20]), False)
    assert distance_score_correlation(query, key + shift, np.array([0, 20]), False) == pytest.approx(one, abs=1e-3)


def test_future_keys_are_not_seen():
    rng = np.random.default_rng(2)
    query, key = rng.normal(size=(40, 4)), rng.normal(size=(40, 4))
    seen = [distance_score_correlation(query, key, np.array([0, 40]), causal) for causal in (False, True)]
    assert seen[0] != pytest.approx(seen[1], abs=1e-4)


def test_few_keys_and_constant_rows_are_left_out_and_counted():
    rng = np.random.default_rng(3)
    query, key = rng.normal(size=(12, 4)), rng.normal(size=(12, 4))
    key[5:] = key[5]  # one document of 5 tokens, one of 7 equal keys
    found = distance_agreement(query, key, np.array([0, 5, 12]), False)
    assert (found.rows, found.few, found.constant) == (5, 0, 7)
    assert np.isnan(found.per_document[1])
    assert np.isnan(distance_score_correlation(query[:4], key[:4], np.array([0, 4]), False))
    assert np.isnan(distance_score_correlation(query, 0 * key, np.array([0, 12]), False))
    assert np.isfinite(distance_score_correlation(np.vstack([0 * query[:1], query[1:]]), key, np.array([0, 12]), False))


def test_recall_is_one_in_agreement_and_chance_in_noise():
    rng = np.random.default_rng(4)
    query, key = rng.normal(size=(80, 6)), rng.normal(size=(80, 6))
    key /= np.linalg.norm(key, axis=1, keepdims=True)
    perfect = agreement(query, key, query, key, np.array([0, 40, 80]), False)
    assert perfect.recall == 1
    assert perfect.recall_chance == pytest.approx(5 / 40)
    noise = [rng.normal(size=(80, 2)) for _ in range(2)]
    lost = agreement(query, key, *noise, np.array([0, 40, 80]), False, metric="euclidean")
    assert lost.recall == pytest.approx(5 / 40, abs=0.06)
    assert abs(lost.correlation) < 0.1


def test_a_picture_is_measured_by_straight_lines():
    query, key = np.array([[1.0, 0]] * 6), np.array([[float(i), 0] for i in range(6)])
    xy = np.stack([np.arange(6.0), np.zeros(6)], axis=1)
    found = agreement(query, key, np.zeros((6, 2)), -xy, np.array([0, 6]), False, metric="euclidean")
    assert found.correlation == pytest.approx(1)  # the keys are drawn the farther the higher they score


def test_long_documents_are_compared_in_blocks(monkeypatch):
    from lib.embeddings import spans

    rng = np.random.default_rng(5)
    query, key = rng.normal(size=(2, 50, 4))
    whole = distance_agreement(query, key, np.array([0, 50]), True)
    monkeypatch.setattr(spans, "CELLS", 170)
    blocks = distance_agreement(query, key, np.array([0, 50]), True)
    assert blocks.correlation == pytest.approx(whole.correlation, abs=1e-12)
    assert (blocks.rows, blocks.few) == (whole.rows, whole.few)


def test_offsets_and_points_that_do_not_fit_are_refused():
    some = np.ones((6, 2))
    with pytest.raises(EmbeddingError, match="as many documents"):
        distance_score_correlation(some, some, np.array([0, 6]), False, np.array([0, 3, 6]))
    with pytest.raises(EmbeddingError, match="same tokens"):
        agreement(some, some, some[:3], some, np.array([0, 6]), False)
    with pytest.raises(EmbeddingError, match="rising"):
        distance_score_correlation(some, some, np.array([0, 4, 3, 6]), False)


@pytest.mark.parametrize("k", [0, -1, 2.5, True, "5", None])
def test_a_number_of_keys_that_cannot_be_is_refused(k):
    points = np.random.default_rng(0).normal(size=(9, 3))
    with pytest.raises(EmbeddingError, match="a whole number of at least 1"):
        distance_agreement(points, points, np.array([0, 9]), False, k=k)
    with pytest.raises(EmbeddingError, match="a whole number of at least 1"):
        strongest_keys(points, points, np.array([0, 9]), False, k=k)
