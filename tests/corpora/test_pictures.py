"""Uploaded pictures: converted, bounded, turned upright, or refused with a message."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from lib.corpora import read_file
from lib.corpora.pictures import MAX_SIDE
from lib.errors import HeadlightError


def ramp(height=40, width=60):
    y, x = np.mgrid[0:height, 0:width]
    return np.stack([x * 255 // width, y * 255 // height, np.full_like(x, 90)], axis=-1).astype(np.uint8)


def saved(image, format="PNG", **options):
    if isinstance(image, np.ndarray):
        image = Image.fromarray(image)
    buffer = io.BytesIO()
    image.save(buffer, format, **options)
    return buffer.getvalue()


def read(data, name="picture.png"):
    reading = read_file(data, name)
    (document,) = reading.documents
    return document.image, reading.notes


@pytest.mark.parametrize(("format", "options"), [("PNG", {}), ("WEBP", {"lossless": True})])
def test_ordinary_pictures_come_back_exactly(format, options):
    image, notes = read(saved(ramp(), format, **options))
    assert (image == ramp()).all() and notes == ()


def test_jpeg_and_a_wrong_ending():
    image, notes = read(saved(ramp(), "JPEG", quality=95), "picture.txt")
    assert image.shape == (40, 60, 3) and abs(image.astype(int) - ramp()).max() < 24 and notes == ()


def test_cmyk():
    image, notes = read(saved(Image.fromarray(ramp()).convert("CMYK"), "JPEG", quality=95), "print.jpg")
    assert abs(image.astype(int) - ramp()).mean() < 6 and notes == ("Converted from CMYK to RGB.",)


def test_16_bits():
    values = (np.arange(60 * 40).reshape(40, 60) * 27).astype(np.uint16)
    image, notes = read(saved(Image.fromarray(values)))
    assert (image[:, :, 0] == np.round(values / 257)).all() and "16 bits" in notes[0]


def test_grey_palette_and_transparency():
    grey, notes = read(saved(ramp()[:, :, 0]))
    assert (grey == ramp()[:, :, :1]).all() and notes == ()
    _, notes = read(saved(Image.fromarray(ramp()).quantize(16)))
    assert notes == ("Converted from P to RGB.",)
    clear = np.dstack([ramp(), np.zeros((40, 60), np.uint8)])
    image, notes = read(saved(clear))
    assert (image == 255).all() and "over white" in notes[0]
    image, notes = read(saved(Image.fromarray(ramp()).convert("RGBA")))
    assert (image == ramp()).all() and notes == ()


@pytest.mark.parametrize("format", ["PNG", "WEBP"])
def test_the_first_frame_of_an_animation(format):
    frames = [Image.fromarray(np.full((20, 20, 3), value, np.uint8)) for value in (10, 200)]
    image, notes = read(saved(frames[0], format, save_all=True, append_images=frames[1:], lossless=True))
    assert (image == 10).all() and notes == ("Took the first of 2 frames.",)


def test_exif_rotation():
    exif = Image.Exif()
    exif[0x0112] = 6  # stored lying on its side
    image, notes = read(saved(ramp(), "PNG", exif=exif))
    assert (image == np.rot90(ramp(), -1)).all() and "upright" in notes[0]


def test_thin_pictures_are_cropped_and_it_is_said():
    image, notes = read(saved(ramp(40, 6000)))
    assert image.shape == (40, 320, 3)
    assert notes == ("6000 × 40 is over 8:1; took the middle 320 × 40.",)
    assert (image == ramp(40, 6000)[:, 2840:3160]).all()
    tall, _ = read(saved(ramp(6000, 40)))
    assert tall.shape == (320, 40, 3)


def test_large_pictures_are_scaled_down():
    image, notes = read(saved(ramp(1500, 3000)))
    assert image.shape == (MAX_SIDE // 2, MAX_SIDE, 3)
    assert notes == ("Scaled down from 3000 × 1500 to 2048 × 1024.",)


@pytest.mark.parametrize("shape", [(1, 1), (15, 600), (600, 15)])
def test_pictures_below_the_smallest_side_are_refused(shape):
    with pytest.raises(HeadlightError, match=f"at least 16 × 16 pixels; got {shape[1]} × {shape[0]}"):
        read(saved(ramp(*shape)))


def bomb(side):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [7000, 12_000, 60_000])
def test_decompression_bombs_are_refused_before_decoding(side):
    with pytest.raises(HeadlightError, match="at most 40 megapixels"):
        read(bomb(side))


@pytest.mark.parametrize(
    "data",
    [
        saved(ramp())[:60],
        saved(ramp(), "JPEG")[:200],
        b"RIFF....WAVE and so on",
        b"words",
        saved(ramp(), "GIF"),
        bomb(20),
    ],
)
def test_damaged_and_other_files_are_refused(data):
    with pytest.raises(HeadlightError, match=r"cannot be decoded.*Choose a png"):
        read(data)


@pytest.mark.parametrize("chunk", [b"II", b"\x00\x01garbage", b"MM\x00\x2a\x00\x00\x00\x08\xff\xff"])
def test_damaged_exif_data_are_noted_and_the_picture_is_shown(chunk):
    data = io.BytesIO()
    Image.new("RGB", (40, 30), "red").save(data, "PNG", exif=b"Exif\x00\x00" + chunk)
    reading = read_file(data.getvalue(), name="bad.png")
    assert reading.documents[0].image.shape == (30, 40, 3)
