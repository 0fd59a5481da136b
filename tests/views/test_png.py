import io

import numpy as np
import pytest
from PIL import Image

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.png import coloured, grid, png


def test_pixels_and_origin_are_inside():
    pixels = np.random.default_rng(0).integers(0, 255, (4, 6, 3), dtype=np.uint8)
    image = Image.open(io.BytesIO(png(pixels, {"model": "東京 </script>", "seed": 3}, enlarge=2)))
    np.testing.assert_array_equal(np.asarray(image)[::2, ::2], pixels)
    assert image.size == (12, 8) and image.text == {"model": "東京 </script>", "seed": "3"}


def test_colours_run_from_end_to_end_and_missing_is_grey():
    picture = coloured(np.array([[0.0, 1.0, np.nan]]))
    table = palette.table("cividis")
    np.testing.assert_array_equal(picture[0], [table[0], table[255], [224] * 3])


def test_zero_is_white_in_a_diverging_picture():
    assert (coloured(np.array([[-4.0, 0.0, 1.0]]), "diverging")[0, 1] >= 244).all()


def test_a_grid_places_every_head():
    tiles = np.arange(6, dtype=np.uint8).reshape(2, 3, 1, 1) + 1
    picture = grid(tiles, gap=1)
    assert picture.shape == (3, 5, 3) and (picture[1] == 255).all()
    np.testing.assert_array_equal(picture[2, 4], palette.table("cividis")[6])


@pytest.mark.parametrize("pixels", [np.zeros((2, 2)), np.zeros((2, 2, 4), np.uint8)])
def test_other_arrays_are_refused(pixels):
    with pytest.raises(HeadlightError):
        png(pixels)
