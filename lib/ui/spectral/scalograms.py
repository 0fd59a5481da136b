"""All layers in one row: the lag-energy profile with its centroid, and beneath it the scalogram, on the same lags."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lib.numerals import written
from lib.ui.spectral.measures import Shown
from lib.views import Figure, Panel, layer_panels_figure, show

SCALES = (3, 5, 10, 20, 40, 80, 160)
MARKED = 3  # dominant scales drawn per layer


def scalogram_row(shown: Sequence[Shown], colouring: str, chosen: int, on_choose: Callable[[int], None]) -> None:
    """The main picture. colouring: "density" or "ratio"; chosen: row of the layer that is outlined."""
    show(row_figure(shown, colouring, chosen), "spectral-layers", on_choose)


def row_figure(shown: Sequence[Shown], colouring: str, chosen: int) -> Figure:
    """All layers as small panels."""
    first = shown[0].analysis.scalogram
    pictures = [values(layer, colouring) for layer in shown]
    top = max(float(np.nanmax(np.abs(picture), initial=0.0)) for picture in pictures) or 1.0
    ratio = colouring == "ratio"
    ends = {"low_name": f"{2**-top:.2g} ×", "high_name": f"{2**top:.2g} × what independent lags give, white: 1 ×"}
    if not ratio:
        ends = {"low_name": "0", "high_name": f"{top:.2g} × the layer's mean energy per lag (|W|² ÷ scale)"}
    return layer_panels_figure(
        [panel(layer, picture) for layer, picture in zip(shown, pictures, strict=True)],
        first.scales,
        first.lags,
        veil=first.cone,
        kind="diverging" if ratio else "sequential",
        value_name="log₂ of energy ÷ chance (1: twice chance)" if ratio else "energy",
        row_title="scale",
        column_title="lag",
        row_ticks=SCALES,
        note="Curve: where the energy lies along the lag, each layer's own height; dashed: its centroid. Ring: "
        "dominant scale. Pale: the wavelet feels the end of the lags. Lags and scales in tokens.",
        chosen=chosen,
        **ends,
    )


def values(layer: Shown, colouring: str) -> np.ndarray:
    """What is coloured, (scale, lag): the density as a share of the layer's own, or log₂ of energy over its null."""
    if colouring == "ratio":
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log2(layer.ratio.estimate)
        return np.where(np.isfinite(logs), logs, np.nan)
    scalogram = layer.analysis.scalogram
    return scalogram.density / (float(scalogram.profile.mean()) or 1.0)


def panel(layer: Shown, picture: np.ndarray) -> Panel:
    """One layer as a small picture."""
    analysis = layer.analysis
    name, note = heading(layer)
    short = note.partition(" [")[0]  # a small panel has no room for the interval, which stands in the table
    centroid = float(layer.centroid.estimate)
    return Panel(
        name=name,
        note=short,
        words=f"{note}; {dominant_words(layer)}",
        profile=analysis.scalogram.profile,
        values=picture,
        rules=(centroid,) if analysis.causal else (-centroid, centroid),
        rings=[(d.scale, d.lag) for d in analysis.dominant[:MARKED]],
    )


def heading(layer: Shown) -> tuple[str, str]:
    """The layer's name, and the centroid of its profile with interval."""
    centroid = layer.centroid
    if not np.isfinite(centroid.estimate):
        return f"L{layer.analysis.layer}", "no fluctuation"
    ends = f"[{float(centroid.low):.1f}, {float(centroid.high):.1f}]"
    return f"L{layer.analysis.layer}", f"centroid {float(centroid.estimate):.1f} {ends}"


def dominant_words(layer: Shown) -> str:
    """The dominant scales of one layer in words."""
    found = layer.analysis.dominant
    if not found:
        return "no scale stands out from independent lags"
    parts = [
        f"scale {d.scale:.1f} (period {d.period:.1f}) at lag {written(d.lag, '+d')}, {d.ratio:.2f} × chance "
        f"(at least {d.low:.2f})"
        for d in found[:MARKED]
    ]
    more = len(found) - MARKED
    return "; ".join(parts) + (f"; and {more} more" if more > 0 else "")
