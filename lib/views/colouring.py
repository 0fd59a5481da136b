"""What colour a point has and why: by class, or by a value, the same in every scatter on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lib.errors import HeadlightError
from lib.numerals import written
from lib.views import palette

SHADES = 32  # steps of a ramp; 8 roles of 32 shades fit one byte


@dataclass(frozen=True)
class Colouring:
    """Colours of points.

    Args:
        classes: uint8 (point,), an index into `colours`.
        colours: at most 256 "#rrggbb".
        legend: entries {"name", "colours"} of one colour, or of a ramp with "low" and "high" as text.
        title: what the colours tell, e.g. "position".
    """

    classes: np.ndarray
    colours: tuple[str, ...]
    legend: tuple[dict[str, object], ...]
    title: str = ""


def by_class(
    classes: np.ndarray, names: Sequence[str], colours: Sequence[str] | None = None, title: str = ""
) -> Colouring:
    """One colour per class.

    Args:
        classes: int (point,), an index into `names`.
        names: of the classes, at most 256; past 12 the legend says how many more there are.
        colours: "#rrggbb" per class; colour-blind safe ones up to 8 classes if None.
        title: what the classes are.
    """
    classes = np.asarray(classes)
    if len(names) > 256 or (classes.size and not 0 <= classes.min() <= classes.max() < len(names)):
        raise HeadlightError(
            "classes from 0 to the number of names, at most 256", f"{len(names)} names", "Group the classes."
        )
    colours = tuple(colours or palette.class_colours(len(names)))
    legend = [{"name": str(name)[:40], "colours": [c]} for name, c in zip(names, colours, strict=True)]
    if len(legend) > 12:
        legend = [*legend[:11], {"name": f"… {len(legend) - 11} more", "colours": [legend[11]["colours"][0]]}]
    return Colouring(classes.astype(np.uint8), colours, tuple(legend), title)


def by_value(
    values: np.ndarray,
    roles: np.ndarray | None = None,
    role_names: Sequence[str] = ("query", "key"),
    role_colours: Sequence[str] = (palette.QUERY, palette.KEY),
    title: str = "",
    unit: str = "",
    value_range: tuple[float, float] | None = None,
) -> Colouring:
    """A ramp over values: cividis, or light to dark in each role's own colour.

    Args:
        values: float (point,); what is not finite takes the lowest shade.
        roles: int (point,), e.g. 0 query, 1 key; None for one ramp.
        role_names: of the roles, at most 8.
        role_colours: "#rrggbb" per role.
        title: what the values are.
        unit: their unit.
        value_range: the ends of the ramp; the finite values' own if None.
    """
    values = np.asarray(values, float)
    known = values[np.isfinite(values)]
    low, high = value_range or ((known.min(), known.max()) if known.size else (0.0, 1.0))
    place = np.clip((np.nan_to_num(values, nan=low) - low) / ((high - low) or 1.0), 0, 1)
    shade = np.minimum((place * SHADES).astype(int), SHADES - 1)
    ends = {"low": written(low, ".3g"), "high": f"{written(high, '.3g')} {unit}".strip()}
    if roles is None:
        ramp = [_hex(c) for c in palette.table("cividis")[np.linspace(0, 255, SHADES).astype(int)]]
        return Colouring(shade.astype(np.uint8), tuple(ramp), ({"name": "", "colours": ramp, **ends},), title)
    ramps = [_ramp(colour) for colour in role_colours[: len(role_names)]]
    legend = tuple({"name": name, "colours": ramp, **ends} for name, ramp in zip(role_names, ramps, strict=True))
    classes = np.asarray(roles, int) * SHADES + shade
    return Colouring(classes.astype(np.uint8), tuple(c for ramp in ramps for c in ramp), legend, title)


def _ramp(colour: str) -> list[str]:
    base = np.array(palette.rgb(colour), float)
    light, dark = base + 0.62 * (255 - base), base * 0.5
    ends = np.stack([light, base, dark])
    at = np.linspace(0, 2, SHADES)
    return [_hex([np.interp(a, [0, 1, 2], ends[:, channel]) for channel in range(3)]) for a in at]


def _hex(colour: Sequence[float]) -> str:
    return "#{:02X}{:02X}{:02X}".format(*(round(float(part)) for part in colour))
