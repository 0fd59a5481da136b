import colorsys

import numpy as np

from lib.corpora import encode
from lib.corpora.document import Document
from lib.heads.colours import hues, patch_colours, patch_means


def test_hues_equal_the_standard_librarys():
    colours = np.random.default_rng(0).random((50, 3))
    got, coloured = hues(colours)
    expected = np.array([colorsys.rgb_to_hsv(*colour) for colour in colours])
    np.testing.assert_allclose(got, expected[:, 0], atol=1e-12)
    np.testing.assert_array_equal(coloured, expected[:, 1] >= 0.1)


def test_grey_and_black_have_no_hue():
    got, coloured = hues(np.array([[0.5, 0.5, 0.5], [0, 0, 0]]))
    assert not coloured.any() and (got == 0).all()


def test_means_of_patches_by_hand():
    image = np.array([[[0], [2], [9]], [[4], [6], [9]]], dtype=np.uint8)  # (2, 3, 1)
    np.testing.assert_array_equal(patch_means(image, 1, 1)[..., 0], [[5]])
    np.testing.assert_array_equal(patch_means(image, 2, 3)[..., 0], image[..., 0])
    np.testing.assert_array_equal(patch_means(image, 1, 2)[..., 0], [[2, 4]])  # the third column is cut off


def test_a_red_and_a_blue_half_seen_by_a_real_processor(dinov2):
    image = np.zeros((224, 448, 3), np.uint8)
    image[:, :224, 0] = 200
    image[:, 224:, 2] = 200
    encoding = encode(Document("halves", image=image), dinov2)
    hue, brightness, coloured = patch_colours(encoding)
    left = (encoding.table.col >= 0) & (encoding.table.col < encoding.grid[1] // 2 - 1)
    right = encoding.table.col > encoding.grid[1] // 2
    assert not coloured[0] and coloured[left].all() and coloured[right].all()
    np.testing.assert_allclose(np.minimum(hue[left], 1 - hue[left]), 0, atol=0.01)
    np.testing.assert_allclose(hue[right], 2 / 3, atol=0.01)
    assert brightness[left].min() > brightness[right].max()
