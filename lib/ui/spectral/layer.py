"""The chosen layer's scalogram with its read-out, and the numbers of all layers beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import streamlit as st

from lib.numerals import with_interval
from lib.spectral import Scalogram, null_interval, spectrum_numbers
from lib.stats import Interval
from lib.ui.spectral.measures import Shown
from lib.ui.spectral.scalograms import dominant_words, values
from lib.ui.tables import measured_table
from lib.views import Figure, heatmap_figure, show

MEASURES = {"t_spec": "T_spec", "entropy_rank": "entropy rank", "participation_ratio": "participation"}
COLUMNS = {  # column of the table -> plain words, the term, an explanation
    "layer": ("layer", "", ""),
    "centroid": ("mean lag", "centroid", "Mean distance, in tokens, at which the fluctuation has its energy."),
    "T_spec": ("how evenly", "T_spec", "1/β of the fitted spectrum. Small: a few patterns carry most of the energy."),
    "entropy rank": ("patterns", "by entropy", "exp of the entropy: as many equal patterns would share it alike."),
    "participation": ("patterns", "by squares", "(Σλ)²/Σλ²: as many equal patterns would share it alike."),
    "H*(0.1)": ("for 90 %", "H*(0.1)", "Patterns that hold 90 % of the energy."),
    "energy ×": (
        "energy",
        "second ÷ first",
        "All of the scalogram but its pale edge, not normalised; 1: the same.",
    ),
    "heads needed": ("heads", "needed", "Heads that hold 90 % of the energy between a layer's heads, per window."),
}
IN_WORDS = (
    "In words: **mean lag**, the centroid of the energy, in tokens. **How evenly** the patterns share the energy, "
    "T_spec: small means that a few carry most, large that many share it. **Patterns**: how many equally strong ones "
    "would share it alike, by entropy and by squares (participation). **For 90 %**, H\\*(0.1): how many patterns hold "
    "that much of the energy."
)


def one_layer(layer: Shown, colouring: str) -> Figure:
    """The scalogram of one layer, large, with every number under the pointer; returned for download."""
    scalogram = layer.analysis.scalogram
    nearest = [(int(np.abs(scalogram.scales - d.scale).argmin()), d) for d in layer.analysis.dominant[:4]]
    figure = scalogram_figure(
        scalogram,
        values(layer, colouring),
        colouring,
        title=f"Layer {layer.analysis.layer}: energy{' ÷ chance' if colouring == 'ratio' else ''} by scale and lag",
        marks=[(row, f"{d.scale:.1f}") for row, d in nearest],
    )
    show(figure, "spectral-scalogram")
    st.caption(f"Dominant: {dominant_words(layer)}.")
    return figure


def scalogram_figure(
    scalogram: Scalogram,
    shown: np.ndarray,
    colouring: str,
    title: str,
    marks: Sequence[tuple[int, str]] = (),
    height: int = 250,
) -> Figure:
    """A scalogram (scale, lag) as a picture. colouring: "density" or "ratio" (log₂ of energy over chance)."""
    ratio = colouring == "ratio"
    return heatmap_figure(
        shown,
        row_labels=[f"{a:.1f}" for a in scalogram.scales],
        first=(0, int(scalogram.lags[0])),
        row_title="scale, tokens",
        column_title="lag, tokens",
        title=title,
        note="Colours: log₂; 1 is twice chance, −1 half of it." if ratio else "",
        veil=scalogram.cone,
        kind="diverging" if ratio else "sequential",
        colours="viridis",
        value_name="log₂ of energy ÷ chance" if ratio else "|W|² ÷ scale, ÷ the layer's mean energy",
        row_marks=marks,
        lag=False,
        upward=True,
        square=False,
        height=height,
    )


def layer_numbers(shown: Sequence[Shown], measures: Mapping[str, Interval]) -> pd.DataFrame:
    """One row per layer: centroid, T_spec, ranks and H*, each with its interval, and what white noise gives."""
    rows = []
    for i, layer in enumerate(shown):
        centroid = layer.centroid
        row = {"layer": layer.analysis.layer, "centroid": with_interval(centroid.estimate, centroid.low, centroid.high)}
        for key, name in MEASURES.items():
            found = measures[key]
            row[name] = with_interval(found.estimate[i], found.low[i], found.high[i])
        growth = layer.analysis.growth
        row["H*(0.1)"] = f"{growth.rank[-1]:.0f}{' [unresolved]' if growth.unresolved else ''}"
        rows.append(row)
    return pd.DataFrame(rows)


def by_layer(table: pd.DataFrame) -> str:
    """A table of layers as HTML, its columns named in plain words."""
    return measured_table([COLUMNS[column] for column in table], table.astype(str).to_numpy().tolist())


def noise_sentence(layer: Shown) -> str:
    """What white noise in as many documents and cells gives for the same numbers."""
    white = np.array([spectrum_numbers(spectrum) for spectrum in layer.analysis.white]).T
    parts = []
    for name, drawn in zip(MEASURES.values(), white, strict=False):
        low, high = null_interval(drawn)
        parts.append(f"{name} n/a" if np.isnan(low) else f"{name} {low:.3g} … {high:.3g}")
    low, high = layer.analysis.growth.noise
    ranks = between(low, high)
    return (
        f"White noise in as many cells: {', '.join(parts)}, H\\* {ranks}. Unresolved: white noise needs "
        "as many patterns, or the number still grows with the windows."
    )


def between(low: float, high: float) -> str:
    """A null's interval in whole numbers: 94 … 133; one number where both ends round to it."""
    return f"{low:.0f}" if round(low) == round(high) else f"{low:.0f} … {high:.0f}"
