"""Strongest keys, hidden tokens, and averages by position."""

import numpy as np
import pytest

from lib.embeddings import EmbeddingError, by_position, strongest_keys, without


def test_worked_example():
    """Scores 0, ln 2, ln 5 give weights 1/8, 2/8, 5/8."""
    query, key = np.array([[1.0, 0]]), np.array([[0, 9.0], [np.log(2), 0], [np.log(5), 0]])
    keys, weights = strongest_keys(query, key, np.array([0, 1]), False, np.array([0, 3]), scaling=1.0)
    np.testing.assert_array_equal(keys, [[2, 1]])
    np.testing.assert_allclose(weights, [[5 / 8, 2 / 8]])


def test_strongest_keys_are_those_of_the_pattern(minilm, articles, minilm_capture):
    from lib.capture import pattern

    found = pattern(minilm, articles[1], layers=[4])[0, 7]
    keys, weights = strongest_keys(
        minilm_capture.query[1, 7], minilm_capture.key[1, 7], minilm_capture.doc_offsets, False, k=3,
        scaling=minilm_capture.scaling,
    )  # fmt: skip
    start, stop = minilm_capture.doc_offsets[1:3]
    np.testing.assert_array_equal(keys[start:stop, 0] - start, found.argmax(axis=1))
    np.testing.assert_allclose(weights[start:stop], -np.sort(-found, axis=1)[:, :3], atol=1e-5)


def test_causal_rows_have_no_later_keys_and_short_ones_fewer():
    rng = np.random.default_rng(0)
    keys, weights = strongest_keys(*rng.normal(size=(2, 6, 3)), np.array([0, 1, 6]), True, k=3)
    assert (keys <= np.arange(6)[:, None]).all()
    np.testing.assert_array_equal(keys[0], [0, -1, -1])
    np.testing.assert_array_equal(weights[0], [1, 0, 0])
    assert keys[1:].min(where=keys[1:] >= 0, initial=9) >= 1


def test_hiding_renormalises_and_says_so():
    pattern = np.array([[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]])
    found = without(pattern, np.array([True, False, False]))
    np.testing.assert_allclose(found.pattern, [[0, 0.6, 0.4], [0, 0, 0]])
    np.testing.assert_allclose(found.share, [0.5, 1])
    assert "special tokens, with 75 % of the attention;" in found.note
    nothing = without(pattern, np.zeros(3, bool))
    assert nothing.note == ""
    np.testing.assert_array_equal(nothing.pattern, pattern)
    with pytest.raises(EmbeddingError, match="one flag per key"):
        without(pattern, np.zeros(2, bool))


def test_mean_by_position_is_that_of_the_documents_which_reach_so_far(minilm, articles):
    from lib.capture import pattern

    short = articles[0]
    both = [short, articles[1]]
    found = by_position(minilm, both, layer=1, most=50)
    each = [pattern(minilm, one, layers=[1])[0] for one in both]
    n = min(one.shape[1] for one in each)
    np.testing.assert_allclose(found.pattern[:, :n, :n], (each[0][:, :n, :n] + each[1][:, :n, :n]) / 2, atol=1e-6)
    assert found.documents[0, 0] == 2
    assert np.isnan(found.pattern[:, -1]).all()
