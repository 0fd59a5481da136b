"""What is known about tokens and patches."""

import numpy as np
import pytest

from lib.corpora.gratings import grating, gratings
from lib.corpora.patches import patch_table
from lib.corpora.tokens import Encoding
from lib.embeddings import (
    EmbeddingError,
    image_attributes,
    norm_attribute,
    patch_features,
    patch_pictures,
    text_attributes,
)


def seen(image, side=16, prefix=1):
    grid = (image.shape[0] // side, image.shape[1] // side)
    return Encoding(table=patch_table(grid, prefix), seen=image, grid=grid)


def test_worked_example(table):
    tokens = table(
        [4, 3],
        ids=[101, 7, 8, 7, 101, 8, 9],
        text=["[CLS]", "a", "cat", "a", "[CLS]", "cat", "."],
        sentence=[-1, 0, 0, 1, -1, 0, 0],
        special=[True, False, False, False, True, False, False],
        tags=["", "DET", "", "DET", "", "", "PUNCT"],
    )
    found = text_attributes(tokens)
    np.testing.assert_array_equal(found["position"].values, [0, 1, 2, 3, 0, 1, 2])
    np.testing.assert_array_equal(found["position"].known, ~tokens.is_special)
    np.testing.assert_allclose(np.exp(found["frequency"].values[[1, 2, 6]]), [2, 2, 1])
    identity = found["identity"]
    assert identity.labels[identity.values[5]] == "cat"
    assert len(set(found["sentence"].values[[1, 3, 5]])) == 3
    np.testing.assert_array_equal(found["part_of_speech"].known, [False, True, False, True, False, False, True])
    np.testing.assert_array_equal(found["punctuation"].values, [0, 0, 0, 0, 0, 0, 1])
    np.testing.assert_array_equal(found["length"].values, [5, 1, 3, 1, 5, 3, 1])
    np.testing.assert_array_equal(found["document"].values, tokens.doc)
    assert not found["document"].orders
    assert found["position_mod_5"].at(np.array([3])).values.tolist() == [3]


def test_norms_are_those_of_the_vectors_given(table):
    found = norm_attribute(np.array([[3.0, 4], [0, 0]], np.float32), table([2]))
    np.testing.assert_array_equal(found.values, [5, 0])


@pytest.mark.parametrize("angle", [0, 45, 90, 135])
@pytest.mark.parametrize("cycles", [8, 16])
def test_gratings_have_their_frequency_and_angle(cycles, angle):
    found = patch_features(seen(grating(cycles, angle)))
    inner = np.r_[False, np.pad(np.ones((12, 12), bool), 1).ravel()]
    assert found.textured[inner].all()
    assert found.oriented[inner].all()
    turn = np.abs((found.angle[inner] - angle / 180 + 0.5) % 1 - 0.5)
    assert turn.max() < 0.02
    assert np.median(found.frequency[inner]) == pytest.approx(cycles * 16 / 224, rel=0.1)


def test_hue_and_brightness_of_flat_colours():
    colours = {(255, 0, 0): 0, (0, 255, 0): 1 / 3, (0, 0, 255): 2 / 3, (255, 255, 0): 1 / 6}
    for colour, hue in colours.items():
        found = patch_features(seen(np.full((32, 32, 3), colour, np.uint8)))
        np.testing.assert_allclose(found.hue[1:], hue, atol=1e-9)
        assert found.coloured[1:].all()
        assert not found.coloured[0]
        assert not found.textured.any()
    grey = patch_features(seen(np.full((32, 32, 3), 51, np.uint8)))
    assert not grey.coloured.any()
    np.testing.assert_allclose(grey.brightness[1:], 0.2)


def test_patches_know_their_place_and_cls_nothing(table):
    images = [document.image for document in gratings()[:2]]
    encodings = [seen(image) for image in images]
    tokens = type(encodings[0].table).join([one.table for one in encodings])
    found = image_attributes(tokens, encodings)
    assert found["row"].values[1 + 14] == 1
    assert found["column"].values[1 + 14] == 0
    assert not found["hue"].known[0]
    across = found["hue"].values[1 : 1 + 14]  # hue from left to right, then from top to bottom
    assert (np.diff(across) > 0).all()
    down = found["hue"].values[198::14][:14]
    assert np.ptp(across) == pytest.approx(np.ptp(down), abs=0.02)
    with pytest.raises(EmbeddingError, match="Pass those captured"):
        image_attributes(tokens, encodings[:1])


def test_pictures_of_patches_are_cut_where_the_patches_are():
    image = np.random.default_rng(0).integers(0, 256, size=(32, 48, 3), dtype=np.uint8)
    found = patch_pictures(seen(image, prefix=2), side=16)
    assert found.shape == (2 + 6, 16, 16, 3)
    np.testing.assert_array_equal(found[2 + 4], image[16:, 16:32])
    assert (found[:2] == 128).all()
    assert patch_pictures(seen(image), side=8).shape == (7, 8, 8, 3)
