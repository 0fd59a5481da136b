"""The colours of Headlight: one meaning each, the same on every page.

Query green, key pink, value blue, head output amber; one sequential family (cividis, or viridis),
one diverging map centred on zero, and eight categorical colours that colour-blind readers tell apart.
"""

from __future__ import annotations

import numpy as np

QUERY, KEY, VALUE, OUTPUT = "#5FB96C", "#E3378F", "#3B7DD8", "#D98E04"
NEUTRAL = "#8A8F98"
MARKS = {"reproduced": "#009E73", "contradicted": "#D55E00", "undecided": NEUTRAL}  # of verdicts

# Okabe and Ito, "Color Universal Design" (2008), black replaced by grey so that it shows on dark pages.
CATEGORICAL = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#8A8F98", "#C8B900")

ANCHORS = {
    "cividis": "00224e 123570 3b496c 575d6d 707173 8a8678 a59c74 c3b369 e1cc55 fee838",
    "viridis": (
        "440154 481a6c 472f7d 414487 39568c 31688e 2a788e 23888e 1f988b 22a884 35b779 54c568 7ad151 a5db36 "
        "d2e21b fde725"
    ),
    "diverging": "053061 2166ac 4393c3 92c5de d1e5f0 f7f7f7 fddbc7 f4a582 d6604d b2182b 67001f",
}


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of a "#rrggbb" colour, each 0–255."""
    digits = colour.lstrip("#")
    return int(digits[0:2], 16), int(digits[2:4], 16), int(digits[4:6], 16)


def table(name: str) -> np.ndarray:
    """A colour table as a uint8 array (256, 3).

    Args:
        name: "cividis", "viridis", "diverging" (blue–white–red, white in the middle) or "categorical"
            (the eight colours, repeated).

    **Source**: cividis, Nuñez, Anderton and Renslow (2018); viridis, Smith and van der Walt (2015);
    the diverging map, Brewer's RdBu. Sampled anchors, joined linearly in sRGB.
    """
    if name == "categorical":
        return np.array([rgb(CATEGORICAL[i % len(CATEGORICAL)]) for i in range(256)], np.uint8)
    anchors = np.array([rgb(colour) for colour in ANCHORS[name].split()], float)
    at = np.linspace(0, len(anchors) - 1, 256)
    columns = [np.interp(at, np.arange(len(anchors)), anchors[:, channel]) for channel in range(3)]
    return np.rint(np.stack(columns, axis=1)).astype(np.uint8)


def class_colours(count: int) -> list[str]:
    """Colours for `count` unordered classes: the categorical eight, then viridis evenly for more."""
    if count <= len(CATEGORICAL):
        return list(CATEGORICAL[:count])
    ramp = table("viridis")[np.linspace(0, 255, count).astype(int)]
    return ["#{:02X}{:02X}{:02X}".format(*colour) for colour in ramp]
