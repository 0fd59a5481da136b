"""Uploaded pictures: to 8-bit RGB of a bounded size, upright, with a note on everything that was changed."""

from __future__ import annotations

import io
import re
import warnings

import numpy as np
from PIL import Image, ImageOps

from lib.errors import HeadlightError

from .document import Document

MAX_PIXELS = 40_000_000  # before decoding: a small file can unfold to gigabytes
MAX_SIDE = 2048
MIN_SIDE = 16
MAX_RATIO = 8

_MAGIC = re.compile(rb"\x89PNG\r\n\x1a\n|\xff\xd8\xff|RIFF.{4}WEBP", re.DOTALL)
_ADVICE = "Choose a png, jpg or webp picture of ordinary proportions."


def is_picture(data: bytes) -> bool:
    """Whether these are the first bytes of a png, jpg or webp file."""
    return _MAGIC.match(data) is not None


def picture(data: bytes, name: str) -> tuple[Document, tuple[str, ...]]:
    """An image document of a png, jpg or webp file, and notes.

    Turned upright by its EXIF tag; the first frame of an animation; CMYK, 16-bit and palette colours to 8-bit RGB,
    transparency over white; longer than 8:1 cropped to the middle; scaled down to at most 2048 pixels.

    Raises HeadlightError for what is no such picture, damaged, below 16 pixels on a side or above 40 megapixels.
    """
    notes: list[str] = []
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # refused below, at a lower limit
            image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP"))
            _check_size(image, name)
            if getattr(image, "n_frames", 1) > 1:
                notes.append(f"Took the first of {image.n_frames} frames.")
                image.seek(0)
            image.load()
    except HeadlightError:
        raise
    except Image.DecompressionBombError as error:
        raise HeadlightError(f"at most {MAX_PIXELS // 10**6} megapixels", f"more in {name!r}", _ADVICE) from error
    except (OSError, SyntaxError, ValueError, EOFError, MemoryError) as error:
        raise HeadlightError("a png, jpg or webp picture", f"{name!r}, which cannot be decoded", _ADVICE) from error
    image = _rgb(_upright(image, notes), notes)
    return Document(name, image=np.asarray(_bounded(image, notes))), tuple(notes)


def _upright(image: Image.Image, notes: list[str]) -> Image.Image:
    try:
        upright = ImageOps.exif_transpose(image)
        turned = upright.size != image.size or image.getexif().get(0x0112, 1) != 1
    except Exception:  # a damaged EXIF chunk raises whatever its bytes happen to break
        notes.append("Its EXIF data are damaged; shown as it is stored.")
        return image
    if turned:
        notes.append("Turned upright as its EXIF tag says.")
    return upright


def _check_size(image: Image.Image, name: str) -> None:
    width, height = image.size
    if min(image.size) < MIN_SIDE:
        raise HeadlightError(
            f"a picture of at least {MIN_SIDE} × {MIN_SIDE} pixels", f"{width} × {height} in {name!r}", _ADVICE
        )
    if width * height > MAX_PIXELS:
        raise HeadlightError(
            f"at most {MAX_PIXELS // 10**6} megapixels", f"{width} × {height} in {name!r}", "Scale it down first."
        )


def _rgb(image: Image.Image, notes: list[str]) -> Image.Image:
    if image.mode == "RGB":
        return image
    if image.mode.startswith("I") or image.mode == "F":
        values = np.asarray(image, dtype=np.float64)
        notes.append("Converted from 16 bits to 8 bits per colour.")
        return Image.fromarray(np.clip(np.round(values / 257), 0, 255).astype(np.uint8)).convert("RGB")
    if image.has_transparency_data:
        image = image.convert("RGBA")
        if image.getchannel("A").getextrema()[0] < 255:
            notes.append("Laid its transparent parts over white.")
        return Image.alpha_composite(Image.new("RGBA", image.size, "white"), image).convert("RGB")
    if image.mode != "L":
        notes.append(f"Converted from {image.mode} to RGB.")
    return image.convert("RGB")


def _bounded(image: Image.Image, notes: list[str]) -> Image.Image:
    width, height = image.size
    long, short = max(image.size), min(image.size)
    if long > MAX_RATIO * short:
        half = MAX_RATIO * short // 2
        if width > height:
            image = image.crop((width // 2 - half, 0, width // 2 + half, height))
        else:
            image = image.crop((0, height // 2 - half, width, height // 2 + half))
        notes.append(f"{width} × {height} is over {MAX_RATIO}:1; took the middle {image.width} × {image.height}.")
    if max(image.size) > MAX_SIDE:
        before = f"{image.width} × {image.height}"
        image.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
        notes.append(f"Scaled down from {before} to {image.width} × {image.height}.")
    return image
