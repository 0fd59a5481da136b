"""Samples are fair to every document, repeat with a seed, and say what they left out."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.embeddings import EmbeddingError, sample_tokens


def test_worked_example():
    """10 of 40 tokens in documents of 4, 12 and 24: one each, then 7 by their remaining 3, 11 and 23 → 2, 3, 5."""
    found = sample_tokens(np.array([0, 4, 16, 40]), 10)
    np.testing.assert_array_equal(np.diff(found.doc_offsets), [2, 3, 5])
    assert found.note == "10 of 40 tokens, drawn from every document in proportion to its length (seed 0)."
    assert (np.diff(found.rows) > 0).all()


def test_everything_fits_and_nothing_is_said():
    found = sample_tokens(np.array([0, 3, 8]), 8)
    np.testing.assert_array_equal(found.rows, np.arange(8))
    np.testing.assert_array_equal(found.doc_offsets, [0, 3, 8])
    assert found.note == ""


@settings(deadline=None, max_examples=40)
@given(sizes=st.lists(st.integers(0, 40), min_size=1, max_size=12), most=st.integers(1, 60), seed=st.integers(0, 3))
def test_laws(sizes, most, seed):
    if not sum(sizes):
        sizes = [*sizes, 1]
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    found = sample_tokens(offsets, most, seed)
    assert len(found) == min(most, sum(sizes))
    assert len(np.unique(found.rows)) == len(found)
    chosen = np.diff(found.doc_offsets)
    assert (chosen <= sizes).all()
    inside = np.searchsorted(offsets, found.rows, side="right") - 1
    np.testing.assert_array_equal(np.bincount(inside, minlength=len(sizes)), chosen)
    if most >= np.count_nonzero(sizes):
        one = np.minimum(sizes, 1)  # each document has one, and its share of the rest
        rest = np.array(sizes) - one
        share = one + rest * min(1, (most - one.sum()) / max(1, rest.sum()))
        assert np.abs(chosen - share).max() < 1
    np.testing.assert_array_equal(found.rows, sample_tokens(offsets, most, seed).rows)


def test_fifty_thousand_tokens():
    offsets = np.arange(0, 50_001, 500)
    found = sample_tokens(offsets)
    assert len(found) == 5_000
    assert set(np.diff(found.doc_offsets)) == {50}
    assert "5,000 of 50,000 tokens" in found.note
    assert (found.rows != sample_tokens(offsets, seed=1).rows).any()


def test_only_wanted_tokens_are_chosen():
    keep = np.arange(40) % 4 != 0
    found = sample_tokens(np.array([0, 20, 40]), 12, keep=keep)
    assert keep[found.rows].all()
    with pytest.raises(EmbeddingError, match="Include more"):
        sample_tokens(np.array([0, 4]), 3, keep=np.zeros(4, bool))
    assert "3 of 5 documents have none" in sample_tokens(np.arange(0, 51, 10), 2).note


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"most": 0}, "at least 1; got 0"),
        ({"most": 2.5}, "got 2.5"),
        ({"doc_offsets": np.array([], int)}, "rising from 0"),
        ({"doc_offsets": np.array([0, 4.5])}, "rising from 0"),
        ({"doc_offsets": np.array([2, 9])}, "rising from 0"),
        ({"doc_offsets": np.array([0, 0])}, "at least one token to show; got none of 0"),
        ({"keep": np.ones(4, bool)}, r"each of 9 tokens; got \(4,\)"),
        ({"keep": np.zeros(9, bool)}, "got none of 9"),
    ],
)
def test_what_cannot_be_sampled_is_refused_with_a_way_out(asked, says):
    with pytest.raises(EmbeddingError, match=says):
        sample_tokens(**({"doc_offsets": np.array([0, 9]), "most": 3} | asked))
