import numpy as np
import pytest

from lib.capture import capture
from lib.corpora import builtin, encode
from lib.heads import links, overlay, patches_like, strongest
from tests.heads.planted import grid_table


def test_the_strongest_link_of_every_patch_by_hand():
    tokens = grid_table(1, 3, prefix=2)  # CLS, register, three patches
    weights = np.zeros((5, 5))
    weights[0, 3] = 1  # CLS is no patch
    weights[2, [0, 3]] = 0.6, 0.4
    weights[3, [3, 1]] = 0.7, 0.3
    weights[4, [1, 2]] = 0.6, 0.4
    found = strongest(weights, tokens)
    assert found.values.tolist() == [[2, 0, 0.6, "CLS"], [3, 3, 0.7, "itself"], [4, 1, 0.6, "register"]]
    assert links(weights, tokens, 0.4).values.tolist() == [
        [3, 3, 0.7, "itself"], [2, 0, 0.6, "CLS"], [4, 1, 0.6, "register"], [2, 3, 0.4, "patch"], [4, 2, 0.4, "patch"],
    ]  # fmt: skip
    weights[3] = np.nan
    assert strongest(weights, tokens)["query"].tolist() == [2, 4]


def test_without_a_class_token_the_first_patch_is_a_patch():
    tokens = grid_table(2, 2, prefix=0)
    assert strongest(np.eye(4)[[1, 0, 0, 0]], tokens).kind.tolist() == ["patch"] * 4


def test_an_overlay_is_laid_out_as_the_image():
    np.testing.assert_array_equal(overlay(np.arange(7), grid_table(2, 3)), [[1, 2, 3], [4, 5, 6]])


def test_patches_like_one_light_up_in_every_image(dinov2):
    documents = builtin("photographs")
    kept = capture(dinov2, documents, keep=("z", "key"))
    table = encode(documents[0], dinov2).table
    sky = int(np.flatnonzero((table.row == 0) & (table.col == 10))[0])
    likeness = patches_like(kept, 0, sky)
    assert likeness.shape == (12, 6, len(kept.tokens)) and np.isnan(likeness[:, :, kept.tokens.row < 0]).all()
    np.testing.assert_allclose(likeness[:, :, sky], 1, rtol=1e-5)
    last, first_image = likeness[11].mean(0), kept.tokens.doc == 0
    above, below = (kept.tokens.row == 1) & first_image, (kept.tokens.row == kept.tokens.row.max()) & first_image
    assert last[above].mean() > last[below].mean() + 0.1  # the sky is like itself, not like the ground
    by_hand = kept.key[3, 2, sky] @ kept.key[3, 2, 40]
    by_hand /= np.linalg.norm(kept.key[3, 2, sky]) * np.linalg.norm(kept.key[3, 2, 40])
    assert patches_like(kept, 0, sky, by="key")[3, 2, 40] == pytest.approx(by_hand, rel=1e-5)


def test_only_patches_have_their_like(dinov2):
    kept = capture(dinov2, builtin("photographs")[:1], keep=("z",))
    with pytest.raises(ValueError, match="position of a patch"):
        patches_like(kept, 0, 0)
    with pytest.raises(ValueError, match="'key'"):
        patches_like(kept, 0, 5, by="key")
