import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.component import script, style
from lib.views.head_grid import head_grid_figure, thumbnails
from lib.views.packet import unpack


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return (weights / weights.sum(-1, keepdims=True)).astype(np.float32)


@pytest.fixture
def random():
    return np.random.default_rng(0)


def test_a_thumbnail_keeps_the_strongest_weight_of_every_head(random):
    pattern = softmax(random.normal(size=(2, 3, 301, 301)))
    for layer in range(2):
        for head in range(3):
            pattern[layer, head, 17 * head + 3, 290 - layer] = 3.0
    tiles = thumbnails(pattern, size=48)
    assert tiles.shape == (2, 3, 48, 48) and tiles.dtype == np.uint8
    for layer in range(2):
        for head in range(3):
            row, column = np.argwhere(tiles[layer, head] == 255)[0]
            assert row * 301 // 48 <= 17 * head + 3 < (row + 1) * 301 // 48
            assert column * 301 // 48 <= 290 - layer < (column + 1) * 301 // 48


def test_by_hand():
    pattern = np.array([[[[1.0, 0.0], [0.25, 0.75]]]])
    # √0.25 · 254 + 1 = 128; √0.75 · 254 + 1 = 220.97
    np.testing.assert_array_equal(thumbnails(pattern)[0, 0], [[255, 1], [128, 221]])


def test_masked_is_not_zero_and_a_silent_head_stays_silent(random):
    pattern = softmax(random.normal(size=(1, 2, 96, 96)))
    pattern[0, 1] = 0
    tiles = thumbnails(pattern, masked=np.triu(np.ones((96, 96), bool), 1))
    assert (tiles[0, 1][np.tril_indices(48)] == 1).all(), "no signal must not be normalised into noise"
    assert (tiles[0, :, 0, 1:] == 0).all() and (tiles[0, 0][np.tril_indices(48)] >= 1).all()


def test_every_layer_has_its_own_mask():
    pattern = np.zeros((2, 1, 4, 4))  # zero where a key is allowed and not looked at: only the mask tells
    masks = np.stack([np.triu(np.ones((4, 4), bool), 1), np.zeros((4, 4), bool)])
    tiles = thumbnails(pattern, masked=masks)
    np.testing.assert_array_equal(tiles[:, 0] == 0, masks)


def test_rows_without_numbers_are_masked(random):
    pattern = softmax(random.normal(size=(1, 1, 4, 4)))
    pattern[0, 0, 2] = np.nan
    assert (thumbnails(pattern)[0, 0, 2] == 0).all()


def test_a_shared_scale_compares_heads():
    pattern = np.stack([np.full((4, 4), 0.25), np.eye(4)])[None]
    own, shared = thumbnails(pattern), thumbnails(pattern, scale="shared")
    assert own[0, 0].max() == 255 and shared[0, 0].max() == 128 and shared[0, 1].max() == 255


@pytest.mark.parametrize("shape", [(1, 1), (6, 12), (12, 12), (24, 16), (30, 9)])
def test_the_picture_and_its_code_stay_below_half_a_megabyte(shape, random):
    pattern = softmax(random.normal(size=(*shape, 64, 64)))
    figure = head_grid_figure(thumbnails(pattern), names=[["previous token"] * shape[1]] * shape[0])
    assert len(figure.packet) + len(script("head_grid")) + len(style()) < 500_000
    assert figure.bounds == shape


def test_true_layer_numbers_and_scores_travel():
    scores = np.array([[0.5, np.nan], [1.0, -0.25]])
    meta, arrays = unpack(head_grid_figure(scores, [3, 7], kind="diverging", value_name="gap").packet)
    assert meta["layers"] == [3, 7] and (meta["low"], meta["high"]) == (-1.0, 1.0)
    assert arrays["codes"][0, 1] == 0 and np.isnan(arrays["scores"][0, 1])


@pytest.mark.parametrize("chosen", [(6, 0), (-1, 2), (0, 12)])
def test_a_choice_that_is_not_there_is_not_outlined(chosen):
    assert unpack(head_grid_figure(np.zeros((6, 12)), chosen=chosen).packet)[0]["chosen"] is None


@pytest.mark.parametrize("values", [np.zeros(3), np.zeros((0, 12)), np.zeros((2, 2, 2))])
def test_shapes_that_are_no_heads_are_refused(values):
    with pytest.raises(HeadlightError, match="layer, head"):
        head_grid_figure(values)


def test_a_missing_layer_number_is_refused():
    with pytest.raises(HeadlightError, match="2 layer numbers; got 1"):
        head_grid_figure(np.zeros((2, 2)), [0])


def test_a_small_map_without_scores_has_plain_cells():
    meta, arrays = unpack(head_grid_figure(np.zeros((6, 12)), small=True).packet)
    assert meta["plain"] and (arrays["codes"] == 0).all()
    meta, arrays = unpack(head_grid_figure(np.zeros((6, 12))).packet)
    assert not meta["plain"] and (arrays["codes"] == 1).all()
