import io

import numpy as np
import pytest
from PIL import Image

from lib.errors import HeadlightError
from lib.views.packet import restore, unpack
from lib.views.patch_attention import patch_attention_figure, picture, strongest

SEEN = np.random.default_rng(0).integers(0, 255, (32, 64, 3), dtype=np.uint8)


def dirichlet(n):
    return np.random.default_rng(1).dirichlet(np.ones(n), n)


def test_a_wide_image_with_cls_and_registers():
    pattern = dirichlet(2 * 4 + 5)
    figure = patch_attention_figure(SEEN, (2, 4), pattern)
    meta, arrays = unpack(figure.packet)
    assert meta["prefix"] == ["CLS", "R1", "R2", "R3", "R4"] and figure.bounds == (13,)
    assert (meta["rows"], meta["columns"], meta["height"], meta["width"]) == (2, 4, 32, 64)
    assert meta["chosen"] == 5 + 1 * 4 + 2
    np.testing.assert_allclose(restore(arrays["codes"], meta["low"], meta["high"]), pattern, atol=2e-5)


def test_a_model_without_cls():
    assert unpack(patch_attention_figure(SEEN, (2, 4), dirichlet(8)).packet)[0]["prefix"] == []


def test_small_images_arrive_unchanged_and_large_ones_small():
    back = np.asarray(Image.open(io.BytesIO(picture(SEEN).tobytes())))
    np.testing.assert_array_equal(back, SEEN)
    noise = np.random.default_rng(0).integers(0, 255, (900, 900, 3), dtype=np.uint8)
    assert picture(noise).nbytes < noise.nbytes / 2


def test_many_patches_send_the_strongest_keys_and_say_so():
    pattern = dirichlet(37 * 37 + 5)
    figure = patch_attention_figure(SEEN, (37, 37), pattern)
    meta, arrays = unpack(figure.packet)
    assert len(figure.packet) < 1_500_000 and arrays["partners"].shape == (1374, 256)
    assert "256 strongest keys" in meta["note"]
    best = pattern.argmax(1)
    assert all(best[i] in arrays["partners"][i] for i in range(1374))


def test_the_share_that_is_shown_is_measured():
    pattern = np.zeros((300, 300))
    pattern[:, 10] = 1
    share, codes, partners = strongest(pattern, 0, 1)
    assert share == 1 and (partners[codes > 1] == 10).all()


def test_signed_values_come_back_with_their_signs():
    z = np.random.default_rng(2).normal(size=(8, 3))
    meta, arrays = unpack(patch_attention_figure(SEEN, (2, 4), z @ z.T, kind="diverging", threshold=-0.5).packet)
    back = restore(arrays["codes"], meta["low"], meta["high"], "diverging")
    np.testing.assert_allclose(back, z @ z.T, atol=1e-3)
    assert (back < 0).any() and meta["low"] == -meta["high"] and meta["threshold"] == -0.5
    assert meta["symmetric"] and meta["kind"] == "diverging"
    assert not unpack(patch_attention_figure(SEEN, (2, 4), z @ z[::-1].T, kind="diverging").packet)[0]["symmetric"]


def test_negative_values_are_refused_as_attention():
    pattern = dirichlet(8)
    pattern[1, 2] = -0.25
    with pytest.raises(HeadlightError, match=r"-0\.25.*diverging"):
        patch_attention_figure(SEEN, (2, 4), pattern)


def test_the_strongest_signed_values_are_the_largest_in_magnitude():
    pattern = np.full((300, 300), 0.01)
    pattern[:, 7] = -1
    share, codes, partners = strongest(pattern, -1, 1, "diverging")
    row = list(partners[0]).index(7)
    assert restore(codes, -1, 1, "diverging")[0, row] == -1
    assert share == pytest.approx((1 + 255 * 0.01) / (1 + 299 * 0.01))


@pytest.mark.parametrize(
    ("seen", "grid", "pattern"),
    [
        (SEEN, (3, 4), dirichlet(8)),
        (SEEN, (2, 4), np.ones((8, 9))),
        (SEEN[..., :2], (2, 4), dirichlet(8)),
        (SEEN.astype(float), (2, 4), dirichlet(8)),
    ],
)
def test_parts_that_do_not_fit_are_refused(seen, grid, pattern):
    with pytest.raises(HeadlightError):
        patch_attention_figure(seen, grid, pattern)


@pytest.mark.parametrize("direction", ["query", "key"])
def test_what_is_lit_at_first_is_the_callers_choice(direction):
    figure = patch_attention_figure(SEEN, (2, 4), dirichlet(8), direction=direction)
    assert unpack(figure.packet)[0]["direction"] == direction


def test_links_begin_at_half_of_what_lies_between_patches_not_of_what_rests_on_cls_or_itself():
    pattern = np.full((9, 9), 0.01)
    pattern[:, 0] = 0.9
    np.fill_diagonal(pattern, 0.8)
    pattern[3, 5] = 0.2
    meta, _ = unpack(patch_attention_figure(SEEN, (2, 4), pattern).packet)
    assert meta["threshold"] == pytest.approx(0.1)
    meta, _ = unpack(patch_attention_figure(SEEN, (2, 4), np.eye(9)).packet)
    assert meta["threshold"] == 0.5
