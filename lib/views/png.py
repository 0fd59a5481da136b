"""Arrays as PNG files, with what made them written inside as text."""

from __future__ import annotations

import io
from collections.abc import Mapping

import numpy as np
from PIL import Image, PngImagePlugin

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.heatmap import data_range


def coloured(
    values: np.ndarray,
    kind: str = "sequential",
    value_range: tuple[float, float] | None = None,
    colours: str = "cividis",
) -> np.ndarray:
    """A matrix as uint8 RGB (row, column, 3); what is not finite is light grey.

    Args:
        values: float (row, column).
        kind: "sequential", or "diverging" around zero.
        value_range: the two ends of the colours; the values' own, zero included, if None.
        colours: "cividis" or "viridis", for kind "sequential".
    """
    values = np.asarray(values, float)
    known = np.isfinite(values)
    low, high = value_range or data_range(values, kind)
    if kind == "diverging":
        high = max(abs(low), abs(high))
        low = -high
    place = np.clip((np.where(known, values, low) - low) / ((high - low) or 1.0), 0, 1)
    table = palette.table("diverging" if kind == "diverging" else colours)
    picture = table[np.rint(255 * place).astype(int)]
    return np.where(known[..., None], picture, np.uint8(224)).astype(np.uint8)


def png(pixels: np.ndarray, metadata: Mapping[str, object] | None = None, enlarge: int = 1) -> bytes:
    """A PNG file; every metadata entry becomes a text chunk.

    Args:
        pixels: uint8 (row, column) grey or (row, column, 3) RGB.
        metadata: model, revision, dtype, seed, settings …
        enlarge: pixels per cell, each way.
    """
    pixels = np.asarray(pixels)
    if pixels.dtype != np.uint8 or not (pixels.ndim == 2 or (pixels.ndim == 3 and pixels.shape[2] == 3)):
        raise HeadlightError(
            "uint8 (row, column) or (row, column, 3)", f"{pixels.dtype} {pixels.shape}", "Use `coloured` first."
        )
    if enlarge > 1:
        pixels = pixels.repeat(enlarge, axis=0).repeat(enlarge, axis=1)
    notes = PngImagePlugin.PngInfo()
    for name, value in (metadata or {}).items():
        notes.add_itxt(str(name)[:79] or "note", str(value))
    out = io.BytesIO()
    Image.fromarray(np.ascontiguousarray(pixels)).save(out, "PNG", pnginfo=notes, optimize=True)
    return out.getvalue()


def grid(tiles: np.ndarray, gap: int = 2) -> np.ndarray:
    """Thumbnails (layer, head, row, column) of `head_grid.thumbnails` as one RGB picture on white."""
    tiles = np.asarray(tiles)
    layers, heads, rows, columns = tiles.shape
    picture = np.full((layers * (rows + gap) - gap, heads * (columns + gap) - gap, 3), 255, np.uint8)
    table = palette.table("cividis")
    table[0] = 236  # masked
    for layer in range(layers):
        for head in range(heads):
            top, left = layer * (rows + gap), head * (columns + gap)
            picture[top : top + rows, left : left + columns] = table[tiles[layer, head]]
    return picture
