"""What travels to the browser: a small header and quantised arrays, in one buffer.

Layout: the header's length (uint32, little-endian), the header as JSON padded with spaces to a multiple of
eight bytes, then the arrays one after another, each padded to eight bytes. The header is
`{"meta": {…}, "arrays": {name: [dtype, shape, offset]}}`, offsets counted from the end of the header.
Code 0 of a quantised array means "no value" (masked, or not a number) and is never a small value.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from lib.errors import HeadlightError

MAX_BYTES = 1_500_000
DTYPES = ("uint8", "uint16", "int32", "uint32", "float32")


class PayloadTooLarge(HeadlightError):
    """A picture that would not fit the bound on what is sent to the browser."""


def pack(meta: Mapping[str, Any], arrays: Mapping[str, np.ndarray], limit: int = MAX_BYTES) -> bytes:
    """One buffer from a JSON-ready mapping and named arrays (uint8, uint16, int32, uint32 or float32).

    Raises:
        PayloadTooLarge: the buffer would be larger than `limit` bytes.
    """
    places, blocks, offset = {}, [], 0
    for name, array in arrays.items():
        if array.dtype.name not in DTYPES:
            raise TypeError(f"{name}: expected one of {DTYPES}, got {array.dtype.name}")
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        block = np.ascontiguousarray(little).tobytes()
        places[name] = [array.dtype.name, list(array.shape), offset]
        blocks.append(block + b"\0" * (-len(block) % 8))
        offset += len(blocks[-1])
    header = json.dumps({"meta": meta, "arrays": places}, allow_nan=False).encode("ascii")
    header += b" " * (-(len(header) + 4) % 8)
    packet = b"".join([len(header).to_bytes(4, "little"), header, *blocks])
    if len(packet) > limit:
        raise PayloadTooLarge(
            f"a picture of at most {limit:,} bytes",
            f"{len(packet):,} bytes",
            "Show fewer tokens, points or layers.",
        )
    return packet


def unpack(packet: bytes) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """The mapping and the arrays of a buffer made by `pack`."""
    length = int.from_bytes(packet[:4], "little")
    header = json.loads(packet[4 : 4 + length])
    arrays = {}
    for name, (dtype, shape, offset) in header["arrays"].items():
        flat = np.frombuffer(packet, np.dtype(dtype).newbyteorder("<"), int(np.prod(shape)), 4 + length + offset)
        arrays[name] = flat.reshape(shape)
    return header["meta"], arrays


def amend(packet: bytes, **meta: Any) -> bytes:
    """The same buffer with further entries in its mapping; the arrays are untouched."""
    length = int.from_bytes(packet[:4], "little")
    header = json.loads(packet[4 : 4 + length])
    header["meta"] |= meta
    text = json.dumps(header, allow_nan=False).encode("ascii")
    text += b" " * (-(len(text) + 4) % 8)
    return len(text).to_bytes(4, "little") + text + packet[4 + length :]


def quantise(values: np.ndarray, low: float, high: float, bits: int = 8, kind: str = "sequential") -> np.ndarray:
    """Values as codes 1 … 2^bits − 1, spaced by the square root so that small values keep their digits.

    Sequential values are measured from `low`; diverging ones from zero, whose code is exact. With
    n = 2^bits − 2 steps and t the place of a value in its range (0–1), the restored value is off by at most
    (high − low) · (√t / n + 1 / 4n²); diverging: m · (2√t / n + 1 / n²), t = |value| / m.

    Args:
        values: float array of any shape; what is not finite becomes code 0.
        low: the smallest value told apart.
        high: the largest; values outside are clipped.
        bits: 8 or 16.
        kind: "sequential" or "diverging" (symmetric: ± the larger of |low| and |high|).
    """
    steps = 2**bits - 2
    values = np.asarray(values)
    known = np.isfinite(values)
    filled = np.where(known, values, low)
    if kind == "diverging":
        most = max(abs(low), abs(high)) or 1.0
        root = np.sign(filled) * np.sqrt(np.minimum(np.abs(filled) / most, 1))
        place = (root + 1) / 2
    else:
        place = np.sqrt(np.clip((filled - low) / ((high - low) or 1.0), 0, 1))
    codes = 1 + np.rint(place * steps)
    return np.where(known, codes, 0).astype(np.uint8 if bits == 8 else np.uint16)


def restore(codes: np.ndarray, low: float, high: float, kind: str = "sequential") -> np.ndarray:
    """The values behind codes of `quantise`, NaN where there was none; the browser does the same."""
    steps = 2.0 ** (8 * codes.dtype.itemsize) - 2
    place = (codes.astype(float) - 1) / steps
    if kind == "diverging":
        signed = 2 * place - 1
        values = max(abs(low), abs(high)) * signed * np.abs(signed)
    else:
        values = low + (high - low) * place**2
    return np.where(codes == 0, np.nan, values)
