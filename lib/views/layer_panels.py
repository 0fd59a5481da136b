"""All layers side by side, small: a profile above a map on the same axis. One of them is chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.component import Figure, show
from lib.views.packet import pack, quantise

MOST_COLUMNS = 256  # of a map, which is drawn some 200 pixels wide; neighbours beyond are averaged


@dataclass(frozen=True, eq=False)
class Panel:
    """One small picture.

    name     such as "L3"
    note     a few words beside it
    words    the picture in words
    profile  (column,) the curve above the map, ≥ 0
    values   (row, column)
    rules    places on the column axis at which a fine line crosses the profile
    rings    (row axis, column axis) places on the map that are ringed
    """

    name: str
    note: str
    words: str
    profile: np.ndarray
    values: np.ndarray
    rules: Sequence[float] = ()
    rings: Sequence[tuple[float, float]] = ()


def layer_panels_figure(
    panels: Sequence[Panel],
    rows: Sequence[float],
    columns: Sequence[float],
    *,
    veil: np.ndarray | None = None,
    kind: str = "sequential",
    value_name: str = "value",
    row_title: str = "row",
    column_title: str = "column",
    row_ticks: Sequence[float] = (),
    low_name: str = "0",
    high_name: str = "",
    note: str = "",
    chosen: int = 0,
) -> Figure:
    """Panels of one size in as many columns as fit, all on the same colours.

    Args:
        panels: one per layer.
        rows: what the rows stand for, ascending, drawn upward on a logarithmic axis.
        columns: what the columns stand for, evenly spaced.
        veil: (row, column) bool, cells not to be trusted, in every panel.
        kind: "sequential", coloured by the square root, or "diverging" around zero.
        value_name: what the values are, for the read-out.
        row_title: name of the row axis, with its unit.
        column_title: name of the column axis, with its unit.
        row_ticks: where the row axis is labelled.
        low_name: what the lower end of the colours means.
        high_name: what the upper end means.
        note: a line beneath.
        chosen: index of the outlined panel.
    """
    shape = len(rows), len(columns)
    _require_axes(panels, shape)
    step = -(-shape[1] // MOST_COLUMNS)
    values = _joined(np.stack([panel.values for panel in panels]), step)
    profile = _joined(np.stack([panel.profile for panel in panels]), step)
    most = float(np.nanmax(np.abs(values), initial=0.0)) or 1.0
    low = -most if kind == "diverging" else 0.0
    peaks = profile.max(axis=1, keepdims=True)
    arrays = {
        "codes": quantise(values, low, most, 8, kind),
        "profile": np.divide(profile, peaks, out=np.zeros_like(profile), where=peaks > 0).astype(np.float32),
        "veil": (_joined(np.zeros(shape) if veil is None else veil.astype(float), step) > 0.5).astype(np.uint8),
        "table": palette.table("diverging" if kind == "diverging" else "viridis"),
    }
    middle = float(np.mean(columns[:step])), float(np.mean(columns[-step:] if shape[1] % step == 0 else columns[-1:]))
    label = f"{len(panels)} layers; {value_name} by {row_title} and {column_title}."
    meta = {
        "panels": [_told(panel) for panel in panels],
        "rows": [float(row) for row in rows],
        "columns": middle,
        "kind": kind,
        "low": low,
        "high": most,
        "value": value_name,
        "row_title": row_title,
        "column_title": column_title,
        "row_ticks": [float(tick) for tick in row_ticks if rows[0] <= tick <= rows[-1]],
        "low_name": low_name,
        "high_name": high_name,
        "note": note,
        "chosen": int(chosen),
        "label": f"{label} Arrow keys move between layers, Enter chooses one.",
    }
    return Figure("layer_panels", pack(meta, arrays), (len(panels),), label)


def _require_axes(panels: Sequence[Panel], shape: tuple[int, int]) -> None:
    for panel in panels:
        if panel.values.shape != shape or panel.profile.shape != shape[1:]:
            raise HeadlightError(f"panels of shape {shape}", f"{panel.values.shape}", "Use one set of axes.")
    if not panels or 0 in shape:
        raise HeadlightError("at least one panel with cells", f"{len(panels)} of shape {shape}", "Choose other texts.")


def _told(panel: Panel) -> dict[str, object]:
    """What the browser is told of a panel beside its numbers."""
    return {
        "name": panel.name,
        "note": panel.note,
        "words": panel.words,
        "rules": [float(at) for at in panel.rules if np.isfinite(at)],
        "rings": [[float(row), float(column)] for row, column in panel.rings],
    }


def layer_panels(
    panels: Sequence[Panel],
    rows: Sequence[float],
    columns: Sequence[float],
    *,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    **options: object,
) -> None:
    """Show panels; a click or Enter chooses one.

    Args:
        panels: see `layer_panels_figure`, as are `rows`, `columns` and `options`.
        rows: what the rows stand for.
        columns: what the columns stand for.
        key: unique on the page.
        on_choose: called with the panel's index.
    """
    show(layer_panels_figure(panels, rows, columns, **options), key, on_choose)


def _joined(values: np.ndarray, step: int) -> np.ndarray:
    """Means of `step` neighbours along the last axis; undefined ones are left out."""
    if step == 1:
        return values.astype(float)
    starts = np.arange(0, values.shape[-1], step)
    known = np.isfinite(values)
    counts = np.add.reduceat(known.astype(float), starts, axis=-1)
    sums = np.add.reduceat(np.where(known, values, 0.0), starts, axis=-1)
    return np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
