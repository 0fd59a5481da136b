"""From an image to what a vision model reads: pixels, the patch grid, and the picture that was really fed."""

from __future__ import annotations

from typing import Any

import numpy as np
from PIL import Image

from lib.errors import HeadlightError

from .document import Document
from .table import TokenTable

# Families that stretch their positions to any grid by themselves, and those that do so when asked.
ANY_GRID = frozenset({"dinov2", "dinov2_with_registers", "dinov3_vit"})
ASKED_GRID = frozenset({"vit", "deit", "vit_msn", "ijepa"})


def patches(document: Document, engine: Any) -> tuple[np.ndarray, np.ndarray, tuple[int, int], bool]:
    """Pixels (channel, height, width), the image as seen (height, width, 3), grid (rows, cols), interpolate.

    Where the model can stretch its positions, the whole image is scaled to about the area the processor asks for,
    both sides a multiple of the patch; nothing is cropped and a 640×320 image keeps a 2:1 grid. Elsewhere the
    processor resizes and crops as it was made to, and `seen` shows the result.

    Raises HeadlightError where the model has no image processor or its patches are not known.
    """
    if engine.processor is None or not engine.patch_size:
        raise HeadlightError(
            f"an image processor and a patch size for {engine.name}",
            "neither" if engine.processor is None else "no patch size",
            "Choose a vision transformer with patches, such as DINOv2.",
        )
    image, options, patch = Image.fromarray(document.image), {}, engine.patch_size
    side = native_side(engine.processor)
    stretches = engine.family in ANY_GRID or engine.family in ASKED_GRID
    if stretches and side:
        rows, cols = fitted_grid(image.height, image.width, side // patch)
        image = image.resize((cols * patch, rows * patch), Image.Resampling.BICUBIC)
        options = {"do_resize": False, "do_center_crop": False}
    pixels = np.asarray(engine.processor(image, return_tensors="np", **options)["pixel_values"][0], dtype=np.float32)
    grid = (pixels.shape[1] // patch, pixels.shape[2] // patch)
    interpolate = engine.family in ASKED_GRID and grid != (side // patch,) * 2
    return pixels, _seen(pixels, engine.processor), grid, interpolate


def fitted_grid(height: int, width: int, side: int) -> tuple[int, int]:
    """(rows, cols) with about side² patches in the proportions of a height × width image.

    >>> fitted_grid(320, 640, 16), fitted_grid(427, 640, 16), fitted_grid(500, 500, 16)
    ((11, 23), (13, 20), (16, 16))
    """
    ratio = (height / width) ** 0.5
    return max(1, round(side * ratio)), max(1, round(side / ratio))


def native_side(processor: Any) -> int:
    """Side in pixels of the square that a processor makes; 0 where it makes none."""
    crop = getattr(processor, "crop_size", None) if getattr(processor, "do_center_crop", False) else None
    size = crop or getattr(processor, "size", None)
    size = dict(size) if size else {}
    return int(size.get("height") or size.get("shortest_edge") or 0)


def patch_table(grid: tuple[int, int], n_prefix: int) -> TokenTable:
    """Rows for CLS and register tokens, then the patches in row-major order."""
    rows, cols = grid
    special = np.r_[np.ones(n_prefix, bool), np.zeros(rows * cols, bool)]
    row, col = (np.r_[np.full(n_prefix, -1), index.ravel()] for index in np.indices(grid))
    n, patch = n_prefix + rows * cols, np.r_[np.full(n_prefix, -1), np.arange(rows * cols)]
    prefix = ["CLS", *(f"REG{i}" for i in range(1, n_prefix))][:n_prefix]
    blank = np.full(n, -1)
    return TokenTable(
        doc=np.zeros(n),
        pos=np.arange(n),
        text=(*prefix, *(f"r{r} c{c}" for r in range(rows) for c in range(cols))),
        start=blank,
        end=blank,
        word=patch,
        sentence=np.where(special, -1, 0),
        is_special=special,
        token_id=blank,
        part_of_speech=("",) * n,
        segment=np.zeros(n),
        row=row,
        col=col,
    )


def _seen(pixels: np.ndarray, processor: Any) -> np.ndarray:
    """The pixels as colours again: normalisation undone, uint8 (height, width, 3)."""
    image = pixels.transpose(1, 2, 0)
    if getattr(processor, "do_normalize", False):
        image = image * np.asarray(processor.image_std) + np.asarray(processor.image_mean)
    if getattr(processor, "do_rescale", True):
        image = image * 255
    return np.clip(np.round(image), 0, 255).astype(np.uint8)
