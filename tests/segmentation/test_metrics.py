"""Metrics against nltk, against cases worked by hand, and their laws."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.metrics import segmentation as nltk_metrics

from lib.segmentation import boundary_scores, boundary_similarity, pk, window_diff, window_of
from lib.segmentation.errors import SegmentationError


def positions(marks):
    """nltk writes the gaps of a text as 0 and 1; gap i has i + 1 units before it."""
    return [i + 1 for i, mark in enumerate(marks) if mark == "1"]


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        ("000100000010", "000100000010", 0.0),
        ("000100000010", "000010000100", 0.3),
        ("000010000100", "100000010000", 0.8),
    ],
)
def test_window_diff_gives_the_values_of_nltks_documentation(reference, hypothesis, expected):
    assert window_diff(positions(reference), positions(hypothesis), 13, k=3) == pytest.approx(expected)


marks = st.integers(4, 60).flatmap(
    lambda n: st.tuples(*[st.text("01", min_size=n, max_size=n)] * 2, st.integers(1, n - 1))
)


@settings(deadline=None, max_examples=50)
@given(marks)
def test_pk_and_window_diff_agree_with_nltk(case):
    reference, hypothesis, k = case
    ours, theirs, length = positions(reference), positions(hypothesis), len(reference) + 1
    assert window_diff(ours, theirs, length, k=k) == pytest.approx(nltk_metrics.windowdiff(reference, hypothesis, k))
    assert pk(ours, theirs, length, k=k) == pytest.approx(nltk_metrics.pk(reference, hypothesis, k))


@settings(deadline=None, max_examples=50)
@given(marks)
def test_a_reference_scores_perfectly_against_itself(case):
    own, length = positions(case[0]), len(case[0]) + 1
    assert pk(own, own, length) == window_diff(own, own, length) == 0.0
    assert boundary_similarity(own, own, length) == boundary_scores(own, own).f1 == 1.0


def test_pk_by_hand():
    # units 0…5, reference | after 3, hypothesis after 2; k = 6/2/2 rounded half up = 2; windows (0,2) (1,3) (2,4) (3,5)
    # reference apart:  no yes yes no;  hypothesis apart: yes yes no no
    assert window_of([3], 6) == 2
    assert pk([3], [2], 6) == 0.5
    assert window_diff([3], [2], 6) == 0.5


def test_window_diff_counts_where_pk_only_asks_whether():
    assert pk([3], [3, 4], 8, k=4) < window_diff([3], [3, 4], 8, k=4)


def test_without_boundaries_the_cases_are_as_stated():
    assert window_of([], 10) == 5
    assert pk([], [], 10) == window_diff([], [], 10) == 0.0
    assert pk([], [5], 10) == 1.0  # each of the five windows reaches over the false boundary
    assert boundary_scores([], []).f1 == 1.0
    assert boundary_scores([], [4]).f1 == boundary_scores([4], []).f1 == 0.0
    assert boundary_similarity([], [], 10) == 1.0
    assert boundary_similarity([4], [], 10) == 0.0


@pytest.mark.parametrize("length", [0, 1])
def test_texts_too_short_for_a_boundary_are_perfect(length):
    assert pk([], [], length) == window_diff([], [], length) == 0.0


def test_boundary_scores_by_hand():
    scores = boundary_scores([4, 9, 15], [4, 10])
    assert (scores.matched, scores.precision, scores.recall) == (1, 0.5, pytest.approx(1 / 3))
    near = boundary_scores([4, 9, 15], [4, 10], tolerance=1)
    assert (near.matched, near.precision, near.recall, near.f1) == (2, 1.0, pytest.approx(2 / 3), pytest.approx(0.8))


@settings(deadline=None, max_examples=50)
@given(st.sets(st.integers(1, 30)), st.sets(st.integers(1, 30)), st.integers(0, 3))
def test_matching_is_one_to_one_and_as_large_as_possible(reference, hypothesis, tolerance):
    from scipy.optimize import linear_sum_assignment

    found = boundary_scores(reference, hypothesis, tolerance=tolerance).matched
    near = np.array([[abs(a - b) <= tolerance for b in sorted(hypothesis)] for a in sorted(reference)])
    near = near.reshape(len(reference), len(hypothesis))
    rows, columns = linear_sum_assignment(near, maximize=True)
    assert found == near[rows, columns].sum()


def test_boundary_similarity_by_hand():
    # exact 3; near miss 7~8 costs 1/2; 12 alone costs 1: 1 − 1.5/3
    assert boundary_similarity([3, 7, 12], [3, 8], 20) == pytest.approx(0.5)
    assert boundary_similarity([3], [5], 20) == 0.0  # two apart is out of reach


@pytest.mark.parametrize("wrong", [[0], [10], [-1], [4, 99]])
def test_positions_outside_the_text_are_refused(wrong):
    with pytest.raises(SegmentationError, match="between 1 and 9"):
        pk([5], wrong, 10)


def test_a_window_longer_than_the_text_is_refused():
    with pytest.raises(SegmentationError, match="k = 10"):
        pk([5], [5], 10, k=10)


@pytest.mark.parametrize("wrong", [[1.5], ["a"], [float("nan")], [[1], [2]]])
def test_positions_that_are_no_whole_numbers_are_refused_and_never_rounded(wrong):
    for score in (pk, window_diff, boundary_similarity):
        with pytest.raises(SegmentationError, match="whole numbers"):
            score([5], wrong, 10)
    with pytest.raises(SegmentationError, match="whole numbers"):
        boundary_scores(wrong, [5])


def test_a_negative_tolerance_is_refused():
    with pytest.raises(SegmentationError, match="0 units or more"):
        boundary_scores([5], [5], tolerance=-1)
