"""Hue, brightness, spatial frequency and orientation of image patches, as the model sees them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import gaussian_filter

from lib.corpora.tokens import Encoding

Array = np.ndarray
LUMA = np.array([0.299, 0.587, 0.114])
COLOURED = 0.1  # saturation below which a hue is noise
TEXTURED = 1e-4  # variance of brightness below which there is no structure
ORIENTED = 0.3  # coherence below which there is no one direction


@dataclass(frozen=True, eq=False)
class PatchFeatures:
    """Features of every token of one image (token,); special tokens have zeros and nothing known.

    hue         turns: 0 red, 1/3 green, 2/3 blue; coloured: where there is one
    brightness  0–1
    frequency   cycles per patch; textured: where there is structure
    angle       half turns, 0–1: direction of the wave, 0 along a row, ½ along a column; oriented: where there is one
    """

    hue: Array
    coloured: Array
    brightness: Array
    frequency: Array
    textured: Array
    angle: Array
    oriented: Array


def patch_features(encoding: Encoding) -> PatchFeatures:
    """The features of one image.

    Hue and brightness are those of the patch's mean colour. Frequency and angle come from the image's gradient within
    about a patch on each side: frequency = √(⟨|∇I|²⟩/⟨(I − ⟨I⟩)²⟩)/2π, which is a sinusoid's own frequency, and the
    angle is that of the structure tensor.

    **Source** brightness: ITU-R BT.601 luma. Angle: Bigün & Granlund, "Optimal orientation detection of linear
    symmetry", ICCV 1987. Frequency: Parseval's theorem.
    """
    rows, cols = encoding.grid
    height, width = encoding.seen.shape[0] // rows, encoding.seen.shape[1] // cols  # of a patch
    image = encoding.seen[: rows * height, : cols * width].astype(np.float64) / 255

    def mean(field: Array) -> Array:
        return field.reshape(rows, height, cols, width, -1).mean(axis=(1, 3)).squeeze(-1)

    colour = image.reshape(rows, height, cols, width, 3).mean(axis=(1, 3))
    hue, saturation = _hue(colour)
    light = image @ LUMA
    reach = (height, width)

    def around(field: Array) -> Array:
        return mean(gaussian_filter(field, reach, mode="nearest"))

    down, right = np.gradient(light)
    xx, yy, xy = around(right**2), around(down**2), around(right * down)
    centred = light - gaussian_filter(light, [2 * side for side in reach], mode="nearest")
    variance = around(centred**2)
    with np.errstate(invalid="ignore", divide="ignore"):
        frequency = np.sqrt((xx + yy) / variance) / (2 * np.pi) * np.sqrt(height * width)
        coherence = np.hypot(xx - yy, 2 * xy) / (xx + yy)
    textured = variance > TEXTURED
    angle = (np.arctan2(2 * xy, xx - yy) / (2 * np.pi)) % 1
    prefix = len(encoding.table) - rows * cols
    patches = (
        hue, saturation >= COLOURED, colour @ LUMA, np.where(textured, frequency, 0.0), textured,
        angle, textured & (np.nan_to_num(coherence) >= ORIENTED),
    )  # fmt: skip
    return PatchFeatures(*(np.concatenate([np.zeros(prefix, one.dtype), one.ravel()]) for one in patches))


def patch_pictures(encoding: Encoding, side: int = 14) -> Array:
    """Each patch as a small picture: uint8 (token, side, side, 3); special tokens are grey."""
    rows, cols = encoding.grid
    height, width = encoding.seen.shape[0] // rows, encoding.seen.shape[1] // cols
    patches = encoding.seen[: rows * height, : cols * width].reshape(rows, height, cols, width, 3)
    patches = patches.transpose(0, 2, 1, 3, 4).reshape(rows * cols, height, width, 3)
    at = [np.arange(side) * size // side for size in (height, width)]
    grey = np.full((len(encoding.table) - rows * cols, side, side, 3), 128, np.uint8)
    return np.concatenate([grey, patches[:, at[0]][:, :, at[1]]])


def _hue(colour: Array) -> tuple[Array, Array]:
    """Hue in turns and saturation, of colours (…, 3) in 0–1."""
    most, least = colour.max(-1), colour.min(-1)
    chroma = most - least
    red, green, blue = np.moveaxis(colour, -1, 0)
    across = np.arctan2(np.sqrt(3) * (green - blue), 2 * red - green - blue)
    return (across / (2 * np.pi)) % 1, np.divide(chroma, most, out=np.zeros_like(chroma), where=most > 0)
