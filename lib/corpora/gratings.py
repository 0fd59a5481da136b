"""Images made by rule, whose hue, brightness, frequency and orientation are known at every pixel."""

from __future__ import annotations

import numpy as np

from .document import Document

SIDE = 224  # pixels
CYCLES = (4, 8, 16, 32)  # per image
ANGLES = (0, 45, 90, 135)  # degrees; 0: stripes stand upright, the wave runs along a row
SQUARES = (4, 8, 16)  # checkerboard fields per side


def gratings() -> list[Document]:
    """Gradients of hue and brightness, a wheel of hues, sinusoidal gratings and checkerboards, always the same."""
    y, x = np.mgrid[0:SIDE, 0:SIDE] / (SIDE - 1)
    full = np.ones_like(x)
    images = {
        "hue from left to right": _hsv(x * 5 / 6, full, full),
        "hue from top to bottom": _hsv(y * 5 / 6, full, full),
        "brightness from left to right": _hsv(full, 0 * full, x),
        "brightness from top to bottom": _hsv(full, 0 * full, y),
        "hue by brightness": _hsv(x * 5 / 6, full, 1 - 0.9 * y),
        "wheel of hues": _hsv(np.arctan2(y - 0.5, x - 0.5) / (2 * np.pi) % 1, full, full),
        "plain grey": _hsv(full, 0 * full, 0.5 * full),
    }
    for cycles in CYCLES:
        for angle in ANGLES:
            images[f"grating of {cycles} cycles at {angle}°"] = grating(cycles, angle)
    for squares in SQUARES:
        fields = (np.floor(x * squares * 0.9999) + np.floor(y * squares * 0.9999)) % 2
        images[f"checkerboard of {squares} × {squares}"] = _hsv(full, 0 * full, fields)
    return [Document(name, image=image, subject="generated image") for name, image in images.items()]


def grating(cycles: float, angle: float, side: int = SIDE) -> np.ndarray:
    """A grey sinusoidal grating, uint8 (side, side, 3).

    cycles  per image side, along the direction of the wave
    angle   of that direction in degrees, 0 along a row, 90 along a column (downwards)
    """
    y, x = np.mgrid[0:side, 0:side] / side
    along = x * np.cos(np.deg2rad(angle)) + y * np.sin(np.deg2rad(angle))
    wave = 0.5 + 0.5 * np.cos(2 * np.pi * cycles * along)
    return np.repeat(np.round(wave * 255).astype(np.uint8)[:, :, None], 3, axis=2)


def _hsv(hue: np.ndarray, saturation: np.ndarray, value: np.ndarray) -> np.ndarray:
    """uint8 (height, width, 3) of hue, saturation and value in 0 … 1, each (height, width)."""
    sector = (np.array([5, 3, 1]) + 6 * hue[..., None]) % 6  # of red, green, blue on the hue circle
    lack = np.clip(np.minimum(sector, 4 - sector), 0, 1)
    return np.round(255 * value[..., None] * (1 - saturation[..., None] * lack)).astype(np.uint8)
