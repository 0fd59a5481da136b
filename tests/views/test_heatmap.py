import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.heatmap import data_range, heatmap_figure
from lib.views.packet import restore, unpack


def decoded(figure):
    meta, arrays = unpack(figure.packet)
    return meta, restore(arrays["codes"], meta["low"], meta["high"], meta["kind"])


def test_repeated_tokens_stay_separate_rows():
    words = ["the", "cat", "sat", "on", "the", "mat"]
    meta, values = decoded(heatmap_figure(np.eye(6), row_labels=words, column_labels=words))
    assert meta["rows"] == words and values.shape == (6, 6)
    np.testing.assert_allclose(values, np.eye(6), atol=1e-6)


def test_numbered_axes_begin_where_they_are_told():
    assert decoded(heatmap_figure(np.eye(3)))[0]["first"] == [0, 0]
    meta, _ = decoded(heatmap_figure(np.eye(3), first=(np.int64(4), -31)))
    assert meta["first"] == [4, -31] and meta["rows"] is None and meta["columns"] is None


def test_masked_and_undefined_cells_carry_no_value():
    mask = np.triu(np.ones((3, 3), bool), 1)
    matrix = np.full((3, 3), 0.5)
    matrix[2, 0] = np.nan
    _, values = decoded(heatmap_figure(matrix, mask=mask))
    np.testing.assert_array_equal(np.isnan(values), mask | np.isnan(matrix))


def test_small_matrices_keep_four_digits_and_large_ones_fit():
    random = np.random.default_rng(0)
    small, large = random.random((200, 200)), random.random((1024, 1024))
    assert np.abs(decoded(heatmap_figure(small))[1] - small).max() < 2e-5
    figure = heatmap_figure(large)
    assert np.abs(decoded(figure)[1] - large).max() < 1 / 254 and len(figure.packet) < 1_100_000


def test_what_does_not_fit_is_said():
    figure = heatmap_figure(np.zeros((1500, 3)), row_labels=range(1500))
    meta, values = decoded(figure)
    assert values.shape == (1024, 3) and figure.bounds == (1024, 3)
    assert "1,024 of 1,500 rows" in meta["note"]


def test_categories_are_whole_numbers():
    matrix = np.array([[0, 7], [3, 1]])
    _, arrays = unpack(heatmap_figure(matrix, kind="categorical", categories=list("abcdefgh")).packet)
    np.testing.assert_array_equal(arrays["codes"], matrix + 1)


def test_sentence_lines_serve_both_axes_of_a_square_matrix_only():
    square, wide = np.zeros((6, 6)), np.zeros((6, 9))
    assert decoded(heatmap_figure(square, boundaries=[0, 3, 9]))[0]["column_lines"] == [3]
    assert decoded(heatmap_figure(wide, boundaries=[3]))[0]["column_lines"] == []


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        ([[1.0, 4.0]], "sequential", (0, 4)),
        ([[-2.0, -1.0]], "sequential", (-2, 0)),
        ([[-3.0, 1.0]], "diverging", (-3, 3)),
        ([[0.0, 0.0]], "diverging", (-1, 1)),
        ([[np.nan]], "sequential", (0, 1)),
    ],
)
def test_ranges_include_zero(values, kind, expected):
    assert data_range(np.array(values), kind) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"matrix": np.zeros((2, 2, 2))}, "matrix"),
        ({"matrix": np.zeros((0, 4))}, "matrix"),
        ({"matrix": np.zeros((2, 3)), "row_labels": ["a"]}, "2 row labels; got 1"),
        ({"matrix": np.zeros((2, 3)), "column_labels": ["a"] * 4}, "3 column labels; got 4"),
        ({"matrix": np.zeros((2, 3)), "mask": np.zeros((3, 2))}, "mask of shape"),
        ({"matrix": np.zeros((2, 3)), "veil": np.zeros((3, 2))}, "veil of shape"),
    ],
)
def test_parts_that_do_not_fit_are_refused(arguments, message):
    with pytest.raises(HeadlightError, match=message):
        heatmap_figure(**arguments)
