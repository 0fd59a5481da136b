"""What points are coloured by: the same meaning in all heads and in the large picture of one."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass

import numpy as np

from lib.capture import Capture
from lib.corpora import TokenTable
from lib.embeddings import Attribute, image_attributes, norm_attribute, patch_pictures, text_attributes
from lib.ui import cached
from lib.ui.embeddings.measures import Points, Reading
from lib.views import Colouring, by_class, by_value, palette

ROLE_NAMES = ("query", "key", "value", "output z")
ROLE_COLOURS = (palette.QUERY, palette.KEY, palette.VALUE, palette.OUTPUT)
TYPE, NORM, PATCH = "type", "norm", "patch"
TEXTS = {
    TYPE: "query or key",
    "position": "position",
    "position_mod_5": "position mod 5",
    NORM: "length of the vector",
    "frequency": "frequency here",
    "length": "length in characters",
    "punctuation": "punctuation",
    "part_of_speech": "part of speech",
    "sentence": "sentence",
    "document": "document",
    "special": "special token",
}
IMAGES = {
    TYPE: "query or key",
    PATCH: "the patch itself",
    "hue": "hue",
    "brightness": "brightness",
    "row": "row",
    "column": "column",
    "frequency": "spatial frequency",
    "angle": "orientation",
    NORM: "length of the vector",
    "document": "image",
    "special": "special token",
}
WHEEL = 32  # colours of a full turn
SHADES = 6  # of red, green and blue, for mean colours of patches
CYCLE = 8  # colours that sentences and documents take in turn


@dataclass(frozen=True, eq=False)
class Known:
    """What is known of the tokens of both sides; the same where queries and keys are of one text."""

    own: dict[str, Attribute]
    theirs: dict[str, Attribute]
    patches: np.ndarray | None = None  # uint8 (token, side, side, 3)


def known(taken: Capture, read: Reading, key: str) -> Known:
    """The attributes of all tokens read."""

    def build() -> Known:
        if read.encodings[0].grid is not None:
            found = image_attributes(taken.tokens, read.encodings)
            return Known(found, found, np.concatenate([patch_pictures(one) for one in read.encodings]))
        own = text_attributes(taken.tokens)
        return Known(own, own if taken.key_tokens is taken.tokens else text_attributes(taken.key_tokens))

    return cached.kept("embeddings: attributes", f"{key} {taken.stream}", build)


def colouring(name: str, known: Known, points: Points, tables: tuple[TokenTable, TokenTable], image: bool) -> Colouring:
    """The colours of points by anything but the length of their vectors, which differs from head to head."""
    title = (IMAGES if image else TEXTS)[name]
    if name == TYPE:
        return _only(by_class(points.role, ROLE_NAMES, ROLE_COLOURS), points.role)
    if name == PATCH:
        return _patches(known.patches[points.token])
    own, theirs = known.own[name], known.theirs[name]
    values = np.where(points.key_side, _at(theirs.values, points), _at(own.values, points))
    clear = np.where(points.key_side, _at(theirs.known, points), _at(own.known, points))
    if own.kind == "circle":
        return _turns(values, clear, title, grey="no one hue" if name == "hue" else "no one direction")
    if own.kind == "number":
        ramped = by_value(np.where(clear, values, np.nan), points.role, ROLE_NAMES, ROLE_COLOURS, title)
        return _only(ramped, points.role)
    if name in ("sentence", "document"):
        if name == "sentence":
            values = np.where(points.key_side, _at(tables[1].sentence, points), _at(tables[0].sentence, points))
        return _cycled(values, clear, f"{title}, {CYCLE} colours in turn")
    return _classes(own, theirs, points, clear, title)


def norms(taken: Capture, layer: int, head: int, points: Points) -> np.ndarray:
    """Lengths of the vectors of one head as captured, of every point."""
    index = taken.layer_index(layer)
    found = np.empty(len(points.role))
    for role, name in enumerate(("query", "key", "value", "z")):
        mine = points.role == role
        if mine.any():
            table = taken.tokens if role in (0, 3) else taken.key_tokens
            vectors = np.asarray(getattr(taken, name)[index, head])
            found[mine] = norm_attribute(vectors, table).values[points.token[mine]]
    return found


def norm_colouring(lengths: np.ndarray, points: Points) -> Colouring:
    """Light to dark in each role's colour by the length of its vectors, over one head's own range."""
    return _only(by_value(lengths, points.role, ROLE_NAMES, ROLE_COLOURS, TEXTS[NORM]), points.role)


def _at(values: np.ndarray, points: Points) -> np.ndarray:
    """Values at the tokens of points; a side that is shorter than the other is never read there."""
    return np.asarray(values)[np.minimum(points.token, len(values) - 1)]


def _only(colours: Colouring, role: np.ndarray) -> Colouring:
    """The same without legend entries of roles that are not drawn."""
    there = {ROLE_NAMES[code] for code in np.unique(role)}
    return Colouring(
        colours.classes, colours.colours, tuple(e for e in colours.legend if e["name"] in there), colours.title
    )


def _turns(values: np.ndarray, clear: np.ndarray, title: str, grey: str) -> Colouring:
    """A colour wheel; grey where nothing is known."""
    wheel = [_hex(colorsys.hls_to_rgb(turn / WHEEL, 0.52, 0.72)) for turn in range(WHEEL)]
    classes = np.where(clear, (np.asarray(values, float) * WHEEL).astype(int) % WHEEL, WHEEL)
    ends = ("red", "red again") if grey.endswith("hue") else ("along a row", "and round again")
    legend = (
        {"name": "", "colours": wheel, "low": ends[0], "high": ends[1]},
        {"name": grey, "colours": [palette.NEUTRAL]},
    )
    return Colouring(classes.astype(np.uint8), (*wheel, palette.NEUTRAL), legend, title)


def _patches(pictures: np.ndarray) -> Colouring:
    """The mean colour of each patch."""
    mean = pictures.reshape(len(pictures), -1, 3).mean(axis=1) / 255
    steps = np.rint(mean * (SHADES - 1)).astype(int)
    classes = steps @ np.array([SHADES * SHADES, SHADES, 1])
    cube = np.stack(np.unravel_index(np.arange(SHADES**3), (SHADES,) * 3), axis=1) / (SHADES - 1)
    return Colouring(classes.astype(np.uint8), tuple(_hex(colour) for colour in cube), (), "the patch's mean colour")


def _cycled(values: np.ndarray, clear: np.ndarray, title: str) -> Colouring:
    classes = np.where(clear & (values >= 0), np.maximum(values, 0) % CYCLE, CYCLE)
    colours = [*(c for c in palette.CATEGORICAL if c != palette.NEUTRAL), "#7D4FB8"]
    names = [f"{i + 1}" for i in range(CYCLE)]
    return by_class(classes, [*names, "none"], [*colours, palette.NEUTRAL], title)


def _classes(own: Attribute, theirs: Attribute, points: Points, clear: np.ndarray, title: str) -> Colouring:
    """Named classes, counted over both sides; what is not known is grey."""
    names = list(dict.fromkeys((*own.labels, *theirs.labels)))
    names = [name for name in names if name != "unknown"]
    sides = [np.array([names.index(n) if n in names else len(names) for n in one.labels]) for one in (own, theirs)]
    values = np.where(
        points.key_side, sides[1][_at(theirs.values, points)], sides[0][_at(own.values, points)]
    )  # places of both sides' classes in one list
    values = np.where(clear, values, len(names))
    grey = "other words" if own.name == "part_of_speech" else "special or unknown"
    if not (values == len(names)).any():
        return by_class(values, names, title=title)
    return by_class(values, [*names, grey], [*_distinct(len(names)), palette.NEUTRAL], title)


def _distinct(count: int) -> list[str]:
    """Colours for named classes: the colour-blind safe ones first, further hues after them."""
    first = [colour for colour in palette.CATEGORICAL if colour != palette.NEUTRAL]
    more = [_hex(colorsys.hls_to_rgb((0.06 + 0.61 * i) % 1, 0.42 + 0.14 * (i % 3), 0.55)) for i in range(count)]
    return [*first, *more][:count]


def _hex(colour: object) -> str:
    return "#{:02X}{:02X}{:02X}".format(*(round(255 * float(part)) for part in colour))
