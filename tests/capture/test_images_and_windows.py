"""Images and windowed attention: what is captured lies where it belongs."""

from dataclasses import replace

import numpy as np
import pytest

from lib.capture import (
    WindowedAttention,
    capture,
    observe,
    pattern,
    window_patterns,
)
from lib.capture.check import trusted
from lib.capture.observers import plan
from tests.capture.families import PIXELS
from tests.capture.test_observers import Keep, engine_of, image, texts


def test_images_of_unequal_size_never_share_a_batch():
    engine = engine_of("dinov2")
    documents = [image(engine), image(engine, 16, 64), image(engine, seed=1), image(engine, 64, 16)]
    keep = Keep("pattern")
    observe(engine, documents, keep)
    assert list(plan(documents, trusted(engine))) == [[0, 2], [1], [3]]
    for i, document in enumerate(documents):
        own = next(block for block in keep.blocks if block.document == i)
        np.testing.assert_allclose(own.pattern, pattern(engine, document)[0], atol=1e-5)


@pytest.mark.parametrize("family", PIXELS)
def test_images_alone_equal_images_together(family):
    engine = engine_of(family)
    images = [image(engine, seed=seed) for seed in range(3)]
    keep = Keep("z")
    keep.windows = True
    observe(engine, images, keep)
    for i, one in enumerate(images):
        alone = Keep("z")
        alone.windows = True
        observe(engine, [one], alone)
        own = [block for block in keep.blocks if block.document == i]
        assert [(b.layer, b.window) for b in own] == [(b.layer, b.window) for b in alone.blocks]
        assert all(np.allclose(a.z, b.z, atol=1e-4) for a, b in zip(own, alone.blocks, strict=True))


def test_windowed_attention_is_never_taken_for_the_whole_image():
    engine = engine_of("swin")
    for ask in (lambda e, d: pattern(e, d[0]), capture, lambda e, d: observe(e, d, Keep("z"))):
        with pytest.raises(WindowedAttention, match="window_patterns"):
            ask(engine, [image(engine)])


def test_window_patterns_lie_on_their_grid():
    engine = engine_of("swin")
    found = window_patterns(engine, image(engine))
    grids = [(w.rows, w.cols, w.side, w.shift) for w in found]
    assert grids == [(4, 4, 4, 0), (4, 4, 4, 2), (2, 2, 4, 0), (2, 2, 4, 2), (1, 1, 4, 0)]
    assert [w.pattern.shape for w in found] == [(16, 2, 16, 16)] * 2 + [(4, 4, 16, 16)] * 2 + [(1, 4, 16, 16)]
    assert all(np.allclose(w.pattern.sum(-1), 1, atol=1e-5) for w in found)
    bert = engine_of("bert")
    with pytest.raises(ValueError, match="Use pattern"):
        window_patterns(bert, texts(bert, 5)[0])


def test_windows_lie_where_they_are_said_to():
    """Changing one window's pixels moves that window alone, then the four of the rolled grid that overlap it."""
    engine = engine_of("swin")
    plain, pixels = image(engine), image(engine).pixels.copy()
    pixels[:, 8:16, 16:24] += 1  # tokens of rows 4–7, columns 8–11: window (1, 2)
    before, after = (window_patterns(engine, one, layers=[0, 1]) for one in (plain, replace(plain, pixels=pixels)))
    moved = [np.abs(a.pattern - b.pattern).max((1, 2, 3)) > 1e-6 for a, b in zip(before, after, strict=True)]
    assert np.argwhere(moved[0].reshape(4, 4)).tolist() == [[1, 2]]
    assert np.argwhere(moved[1].reshape(4, 4)).tolist() == [[0, 1], [0, 2], [1, 1], [1, 2]]  # rolled by 2
