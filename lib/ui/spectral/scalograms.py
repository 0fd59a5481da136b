"""All layers in one row: the lag-energy profile with its centroid, and beneath it the scalogram, on the same lags."""

from __future__ import annotations

import base64
import html
from collections.abc import Sequence

import numpy as np
import streamlit as st

from lib.spectral import Scalogram
from lib.ui.spectral.measures import Shown
from lib.views import coloured, palette, png

WIDTH, LEFT, RIGHT = 200, 22, 4
TOP, PROFILE, MIDDLE, MAP = 20, 44, 8, 104  # heights: title, profile, gap, scalogram
BASE = TOP + PROFILE + MIDDLE + MAP
SCALES = (3, 5, 10, 20, 40, 80)
MARKED = 3  # dominant scales drawn per layer
INK, CHOSEN = ("#262A30", "#E6E8EB"), ("#2F5D8C", "#7FB2E5")  # on light and dark pages


def scalogram_row(shown: Sequence[Shown], colouring: str, chosen: int) -> None:
    """The main picture. colouring: "density" or "ratio"; chosen: row of the layer that is outlined."""
    colours = [values(layer, colouring) for layer in shown]
    top = max(float(np.nanmax(np.abs(v), initial=0.0)) for v in colours) or 1.0
    dark = st.context.theme.type == "dark"
    panels = "".join(
        panel(layer, v, colouring, top, i == chosen, dark)
        for i, (layer, v) in enumerate(zip(shown, colours, strict=True))
    )
    style = "display:grid;grid-template-columns:repeat(auto-fill,minmax(134px,1fr));gap:10px 8px"
    st.html(f'<div style="{style}">{panels}</div>{legend(colouring, top)}')


def values(layer: Shown, colouring: str) -> np.ndarray:
    """What is coloured, (scale, lag): the density as a share of the layer's own, or log₂ of energy over its null."""
    if colouring == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.log2(layer.ratio.estimate)
    scalogram = layer.analysis.scalogram
    return scalogram.density / (float(scalogram.profile.mean()) or 1.0)


def picture(values: np.ndarray, cone: np.ndarray, colouring: str, top: float) -> str:
    """The scalogram as a data address, scales upward, the cone veiled."""
    if colouring == "ratio":
        pixels = coloured(values, "diverging", (-top, top))
    else:  # the square root, so that layers with less energy are seen on the same colours
        pixels = coloured(np.sqrt(values), "sequential", (0.0, top**0.5), "viridis")
    veiled = (0.35 * pixels + 0.65 * 205).astype(np.uint8)
    pixels = np.where(cone[..., None], veiled, pixels)[::-1]
    return "data:image/png;base64," + base64.b64encode(png(pixels)).decode()


def panel(layer: Shown, values: np.ndarray, colouring: str, top: float, chosen: bool, dark: bool = False) -> str:
    """One layer as a picture: title, profile, scalogram, marks, axes."""
    drawing = base64.b64encode(svg(layer, values, colouring, top, chosen, dark).encode()).decode()
    words = html.escape(f"{heading(layer)[0]}, {heading(layer)[1]} tokens; {dominant_words(layer)}")
    return f'<img src="data:image/svg+xml;base64,{drawing}" alt="{words}" title="{words}" style="width:100%">'


def heading(layer: Shown) -> tuple[str, str]:
    """The layer's name, and the centroid of its profile with interval."""
    centroid = layer.analysis.profile.centroid_interval(draws=200)
    if not np.isfinite(centroid.estimate):
        return f"L{layer.analysis.layer}", "no fluctuation"
    ends = f"[{float(centroid.low):.1f}, {float(centroid.high):.1f}]"
    return f"L{layer.analysis.layer}", f"centroid {float(centroid.estimate):.1f} {ends}"


def svg(layer: Shown, values: np.ndarray, colouring: str, top: float, chosen: bool, dark: bool) -> str:
    """The drawing itself, complete: it knows nothing of the page round it but whether that is dark."""
    scalogram = layer.analysis.scalogram
    title, numbers = heading(layer)
    place = f'x="{LEFT}" y="{TOP + PROFILE + MIDDLE}" width="{WIDTH - LEFT - RIGHT}" height="{MAP}"'
    outline = f'stroke="{CHOSEN[dark]}" stroke-width="3"' if chosen else f'stroke="{palette.NEUTRAL}" stroke-width=".6"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {BASE + 30}" font-family="sans-serif" '
        f'fill="{INK[dark]}">'
        f'<text x="{LEFT}" y="13" font-size="12.5" font-weight="600">{title}</text>'
        f'<text x="{WIDTH - RIGHT}" y="13" font-size="10.5" opacity=".75" text-anchor="end">{numbers}</text>'
        + profile(layer)
        + f'<image {place} preserveAspectRatio="none" style="image-rendering:pixelated" '
        + f'href="{picture(values, scalogram.cone, colouring, top)}"/><rect {place} fill="none" {outline}/>'
        + marks(layer)
        + axes(scalogram)
        + "</svg>"
    )


def across(scalogram: Scalogram, lag: float) -> float:
    """Where a lag lies; cells are centred on whole lags."""
    first, last = scalogram.lags[0] - 0.5, scalogram.lags[-1] + 0.5
    return LEFT + (lag - first) / (last - first) * (WIDTH - LEFT - RIGHT)


def up(scalogram: Scalogram, scale: float) -> float:
    """Where a scale lies on the logarithmic axis; cells are centred on the scales."""
    logs = np.log(scalogram.scales)
    step = (logs[-1] - logs[0]) / (len(logs) - 1)
    place = (np.log(scale) - logs[0] + step / 2) / (logs[-1] - logs[0] + step)
    return float(BASE - place * MAP)


def profile(layer: Shown) -> str:
    """E(τ) over the scalogram's lags as a filled curve, its centroid as a fine line."""
    scalogram, centroid = layer.analysis.scalogram, layer.analysis.profile.centroid
    energy = scalogram.profile / (scalogram.profile.max() or 1.0)
    floor = TOP + PROFILE
    points = " ".join(
        f"{across(scalogram, lag):.1f},{floor - e * (PROFILE - 4):.1f}"
        for lag, e in zip(scalogram.lags, energy, strict=True)
    )
    first, last = (across(scalogram, scalogram.lags[end]) for end in (0, -1))
    ends = f"{first:.1f},{floor} {points} {last:.1f},{floor}"
    sides = (centroid,) if layer.analysis.causal else (-centroid, centroid)
    lines = "".join(
        f'<line x1="{across(scalogram, at):.1f}" x2="{across(scalogram, at):.1f}" y1="{TOP}" y2="{floor}" '
        f'stroke="{palette.OUTPUT}" stroke-width="1.2" stroke-dasharray="3 2"/>'
        for at in sides
        if np.isfinite(at)
    )
    return f'<polygon points="{ends}" fill="{palette.VALUE}" fill-opacity=".45" stroke="{palette.VALUE}"/>{lines}'


def marks(layer: Shown) -> str:
    """Rings at the strongest dominant scales."""
    scalogram = layer.analysis.scalogram
    rings = []
    for found in layer.analysis.dominant[:MARKED]:
        x, y = across(scalogram, found.lag), up(scalogram, found.scale)
        rings.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="#111" stroke-width="3"/>')
        rings.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="#fff" stroke-width="1.4"/>')
    return "".join(rings)


def axes(scalogram: Scalogram) -> str:
    """Ticks of both axes, in tokens."""
    first, last = int(scalogram.lags[0]), int(scalogram.lags[-1])
    step = next(s for s in (5, 10, 20, 30, 60, 120, 240, 480) if (last - first) / s <= 6.5)
    lags = [lag for lag in range(-960, 961, step) if first <= lag <= last]
    ticks = [
        f'<text x="{across(scalogram, lag):.1f}" y="{BASE + 12}" font-size="9.5" opacity=".75" text-anchor="middle">'
        f"{str(lag).replace('-', '−')}</text>"
        for lag in lags
    ]
    for scale in SCALES:
        if scalogram.scales[0] <= scale <= scalogram.scales[-1]:
            ticks.append(
                f'<text x="{LEFT - 4}" y="{up(scalogram, scale) + 3:.1f}" font-size="9.5" opacity=".75" '
                f'text-anchor="end">{scale}</text>'
            )
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    height = TOP + PROFILE + MIDDLE + MAP / 2
    ticks.append(
        f'<text x="{middle}" y="{BASE + 25}" font-size="9.5" opacity=".75" text-anchor="middle">lag, tokens</text>'
        f'<text transform="translate(7 {height}) rotate(-90)" font-size="9.5" opacity=".75" text-anchor="middle">'
        "scale, tokens</text>"
    )
    return "".join(ticks)


def legend(colouring: str, top: float) -> str:
    """The colours of all panels, once."""
    name = "diverging" if colouring == "ratio" else "viridis"
    stops = palette.table(name)[np.linspace(0, 255, 12).astype(int)]
    ramp = ",".join(f"rgb({r},{g},{b})" for r, g, b in stops.tolist())
    if colouring == "ratio":
        low, high = f"{2**-top:.2g} ×", f"{2**top:.2g} × what independent lags of the same energies give; white: 1 ×"
    else:
        low, high = "0", f"{top:.2g} |W|² ÷ scale, ÷ the layer's mean energy per lag; colours by its square root"
    return (
        '<div style="display:flex;flex-wrap:wrap;align-items:center;gap:4px 8px;font-size:.8rem;opacity:.85">'
        f'<span>{low}</span><span style="width:120px;height:9px;background:linear-gradient(90deg,{ramp})"></span>'
        f"<span>{high}</span><span>· greyed: the edge of the window is felt · "
        "ring: dominant scale · dashed: centroid of |lag|</span></div>"
    )


def dominant_words(layer: Shown) -> str:
    """The dominant scales of one layer in words."""
    found = layer.analysis.dominant
    if not found:
        return "no scale stands out from independent lags"
    parts = [
        f"scale {d.scale:.1f} (period {d.period:.1f}) at lag {d.lag:+d}, {d.ratio:.2f} × chance (at least {d.low:.2f})"
        for d in found[:MARKED]
    ]
    more = len(found) - MARKED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
