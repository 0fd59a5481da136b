"""Hue and brightness of image patches, as the model sees them."""

from __future__ import annotations

import numpy as np

from lib.corpora.tokens import Encoding

COLOURED = 0.1  # of full saturation: below, a hue is noise
LUMA = np.array([0.299, 0.587, 0.114])


def patch_colours(encoding: Encoding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Hue (turns, 0–1), brightness (0–1) and whether there is colour at all, of every token (token,).

    Of the patch's mean colour; special tokens have hue and brightness 0 and no colour.

    **Source** brightness: ITU-R BT.601 luma; hue: Smith, "Color gamut transform pairs", SIGGRAPH 1978.
    """
    rows, cols = encoding.grid
    mean = patch_means(encoding.seen, rows, cols).reshape(-1, 3) / 255  # (patch, channel)
    hue, coloured = hues(mean)
    prefix = len(encoding.table) - rows * cols
    return (
        np.r_[np.zeros(prefix), hue],
        np.r_[np.zeros(prefix), mean @ LUMA],
        np.r_[np.zeros(prefix, dtype=bool), coloured],
    )


def patch_means(image: np.ndarray, rows: int, cols: int) -> np.ndarray:
    """Mean colour of each patch: (row, col, channel) from (height, width, channel); a remainder is cut off."""
    height, width = image.shape[0] // rows, image.shape[1] // cols
    cut = image[: rows * height, : cols * width].astype(np.float64)
    return cut.reshape(rows, height, cols, width, -1).mean(axis=(1, 3))


def hues(colours: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Hue in turns (0 red, 1/3 green, 2/3 blue) and whether saturation allows one; colours (…, 3) in 0–1."""
    most, least = colours.max(-1), colours.min(-1)
    chroma = most - least
    red, green, blue = np.moveaxis(colours, -1, 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        sextant = np.select(
            [most == red, most == green],
            [((green - blue) / chroma) % 6, (blue - red) / chroma + 2],
            (red - green) / chroma + 4,
        )
        saturation = np.where(most > 0, chroma / most, 0.0)
    return np.where(chroma > 0, sextant / 6, 0.0), saturation >= COLOURED
