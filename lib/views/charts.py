"""Small Altair charts in one quiet style: lines with bands, bars with chance, spectra, distributions.

Colours of text, grid and background come from the page's theme, so dark pages work; nothing here sets them.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import altair as alt
import pandas as pd

from lib.errors import HeadlightError
from lib.views import palette

HEIGHT = 240
NULL = palette.NEUTRAL
_ROUND = [first * 10.0**power for power in range(-6, 7) for first in (1, 3)]  # ticks of a logarithmic axis
_LOG_Y = {"scale": alt.Scale(type="log", nice=False), "axis": alt.Axis(format="~g", values=_ROUND)}


def line(
    frame: pd.DataFrame,
    x: str,
    y: str,
    *,
    low: str | None = None,
    high: str | None = None,
    null: str | None = None,
    null_low: str | None = None,
    null_high: str | None = None,
    series: str | None = None,
    colours: Sequence[str] = palette.CATEGORICAL,
    x_title: str = "",
    y_title: str = "",
    marks: Sequence[float] = (),
    log_x: bool = False,
    log_y: bool = False,
    dots: bool = True,
    height: int = HEIGHT,
) -> alt.LayerChart:
    """Lines with their interval as a band, and what chance gives as a grey band with a dashed line.

    Args:
        frame: one row per x (and series).
        x: column of the horizontal axis.
        y: column of the estimate.
        low: column of the interval's lower end, with `high`.
        high: column of its upper end.
        null: column of the value expected by chance.
        null_low: column of the chance band's lower end, with `null_high`.
        null_high: column of its upper end.
        series: column that tells lines apart; one line if None.
        colours: one per series, in order of appearance.
        x_title: axis title with its unit; the column's name if "".
        y_title: the same for the vertical axis.
        marks: values of x at which a fine vertical line stands.
        log_x: logarithmic horizontal axis.
        log_y: logarithmic vertical axis, for ratios; values, ends and chance must be above zero.
        dots: mark every x; where there are too many to be told apart they are only felt by the pointer.
        height: pixels.
    """
    _need(frame, [x, y, low, high, null, null_low, null_high, series])
    base = alt.Chart(frame).encode(x=_x(frame, x, x_title, log_x))
    up = partial(alt.Y, title=y_title or y, **(_LOG_Y if log_y else {}))
    layers: list[alt.Chart] = []
    if null_low and null_high:
        band = base.mark_area(color=NULL, opacity=0.18)
        layers.append(band.encode(y=up(f"{_safe(null_low)}:Q"), y2=f"{_safe(null_high)}:Q"))
    if null:
        dashed = base.mark_line(color=NULL, strokeDash=[4, 3], strokeWidth=1.2)
        layers.append(dashed.encode(y=up(f"{_safe(null)}:Q")))
    colour = _colour(frame, series, colours)
    if low and high:
        band = base.mark_area(opacity=0.18)
        layers.append(band.encode(y=up(f"{_safe(low)}:Q"), y2=f"{_safe(high)}:Q", color=colour))
    tips = [_tip(name) for name in (series, x, y, low, high, null) if name]
    drawn = base.mark_line(strokeWidth=2, point=alt.OverlayMarkDef(size=24, opacity=1 if dots else 0))
    layers.append(drawn.encode(y=up(f"{_safe(y)}:Q"), color=colour, tooltip=tips))
    if marks:
        rules = alt.Chart(pd.DataFrame({x: list(marks)})).mark_rule(color=NULL, strokeWidth=1, opacity=0.7)
        layers.append(rules.encode(x=alt.X(f"{_safe(x)}:Q")))
    return _finished(alt.layer(*layers), height)


def bars(
    frame: pd.DataFrame,
    x: str,
    y: str,
    *,
    chance: str | None = None,
    low: str | None = None,
    high: str | None = None,
    colour: str = palette.CATEGORICAL[0],
    x_title: str = "",
    y_title: str = "",
    height: int = HEIGHT,
) -> alt.LayerChart:
    """Bars with their interval as a whisker and a tick at what chance gives.

    Args:
        frame: one row per bar, drawn in this order.
        x: column of the bars' names.
        y: column of their heights.
        chance: column of the value expected by chance.
        low: column of the interval's lower end, with `high`.
        high: column of its upper end.
        colour: "#rrggbb".
        x_title: axis title.
        y_title: axis title with its unit; the column's name if "".
        height: pixels.
    """
    _need(frame, [x, y, chance, low, high])
    names = alt.X(f"{_safe(x)}:N", sort=None, title=x_title or None, axis=alt.Axis(labelAngle=0, labelLimit=140))
    base = alt.Chart(frame).encode(x=names)
    title = y_title or y
    tips = [_tip(name) for name in (x, y, low, high, chance) if name]
    bar = base.mark_bar(color=colour, opacity=0.85, size=22)
    layers = [bar.encode(y=alt.Y(f"{_safe(y)}:Q", title=title), tooltip=tips)]
    if low and high:
        whisker = base.mark_rule(strokeWidth=1.2, color=NULL)
        layers.append(whisker.encode(y=alt.Y(f"{_safe(low)}:Q", title=title), y2=f"{_safe(high)}:Q"))
    if chance:
        tick = base.mark_tick(color=palette.CATEGORICAL[5], thickness=2, size=30)
        layers.append(tick.encode(y=alt.Y(f"{_safe(chance)}:Q", title=title), tooltip=tips))
    return _finished(alt.layer(*layers), height)


def spectrum(
    frame: pd.DataFrame,
    x: str,
    y: str,
    *,
    series: str | None = None,
    fit: pd.DataFrame | None = None,
    colours: Sequence[str] = palette.CATEGORICAL,
    x_title: str = "",
    y_title: str = "",
    height: int = 320,
) -> alt.LayerChart:
    """Values on two logarithmic axes, with fitted straight lines; rows that are not positive are left out.

    Args:
        frame: one row per point, e.g. mode number and eigenvalue.
        x: column of the horizontal axis, > 0.
        y: column of the vertical axis, > 0.
        series: column that tells spectra apart, e.g. measured and null.
        fit: the fitted lines, same columns as `frame`, two rows or more per line.
        colours: one per series.
        x_title: axis title with its unit.
        y_title: axis title with its unit.
        height: pixels.
    """
    _need(frame, [x, y, series])
    positive = frame[(frame[x] > 0) & (frame[y] > 0)]
    logarithmic = alt.Scale(type="log", nice=False)
    across = alt.X(f"{_safe(x)}:Q", scale=logarithmic, title=x_title or x)
    up = alt.Y(f"{_safe(y)}:Q", scale=logarithmic, title=y_title or y, axis=alt.Axis(format="~g", tickCount=6))
    colour = _colour(positive, series, colours)
    tips = [_tip(name) for name in (series, x, y) if name]
    layers = [alt.Chart(positive).mark_line(strokeWidth=1, opacity=0.45).encode(x=across, y=up, color=colour)]
    layers.append(alt.Chart(positive).mark_circle(size=22).encode(x=across, y=up, color=colour, tooltip=tips))
    if fit is not None:
        dashed = alt.Chart(fit).mark_line(strokeDash=[6, 4], strokeWidth=1.6)
        layers.append(dashed.encode(x=across, y=up, color=colour))
    return _finished(alt.layer(*layers), height)


def strip(
    frame: pd.DataFrame,
    x: str,
    y: str,
    *,
    series: str | None = None,
    colours: Sequence[str] = palette.CATEGORICAL,
    chosen: str | None = None,
    x_title: str = "",
    y_title: str = "",
    height: int = HEIGHT,
) -> alt.LayerChart:
    """One tick per row, grouped: e.g. the scores of all heads of each layer.

    Args:
        frame: one row per tick.
        x: column of the values.
        y: column of the groups, drawn in order of appearance.
        series: column that tells colours apart.
        colours: one per series.
        chosen: bool column; true rows are drawn as a large dot on top.
        x_title: axis title with its unit.
        y_title: axis title.
        height: pixels.
    """
    _need(frame, [x, y, series, chosen])
    across = alt.X(f"{_safe(x)}:Q", title=x_title or x)
    groups = alt.Y(f"{_safe(y)}:N", sort=None, title=y_title or y)
    tips = [_tip(name) for name in (y, x, series) if name]
    colour = _colour(frame, series, colours)
    ticks = alt.Chart(frame).mark_tick(thickness=1.5, size=14, opacity=0.75)
    layers = [ticks.encode(x=across, y=groups, color=colour, tooltip=tips)]
    if chosen:
        dots = alt.Chart(frame[frame[chosen].astype(bool)]).mark_circle(size=90, color=palette.CATEGORICAL[5])
        layers.append(dots.encode(x=across, y=groups, tooltip=tips))
    return _finished(alt.layer(*layers), height)


def _x(frame: pd.DataFrame, x: str, title: str, log: bool) -> alt.X:
    whole = pd.api.types.is_integer_dtype(frame[x])
    scale = alt.Scale(type="log", nice=False) if log else alt.Scale(nice=False, zero=False)
    return alt.X(f"{_safe(x)}:Q", title=title or x, scale=scale, axis=alt.Axis(format="d") if whole else alt.Axis())


def _colour(frame: pd.DataFrame, series: str | None, colours: Sequence[str]) -> alt.Color | alt.ColorValue:
    if series is None:
        return alt.value(colours[0])
    names = [str(name) for name in frame[series].drop_duplicates()]
    scale = alt.Scale(domain=names, range=[colours[i % len(colours)] for i in range(len(names))])
    columns = alt.ExprRef("width < 340 ? 3 : 0")  # on a telephone a legend in one line would be cut off
    legend = alt.Legend(title=None, orient="top", symbolOpacity=1, columns=columns)
    return alt.Color(f"{_safe(series)}:N", scale=scale, legend=legend)


def _tip(name: str) -> alt.Tooltip:
    return alt.Tooltip(_safe(name), title=name)


def _safe(name: str) -> str:
    """Column names are field paths to Altair; dots, colons and brackets in them are not."""
    return "".join(f"\\{c}" if c in ".:[]" else c for c in name)


def _finished(chart: alt.LayerChart, height: int) -> alt.LayerChart:
    return chart.properties(height=height, width="container").configure_view(strokeWidth=0)


def _need(frame: pd.DataFrame, columns: Sequence[str | None]) -> None:
    missing = [name for name in columns if name is not None and name not in frame.columns]
    if missing or frame.empty:
        raise HeadlightError(
            f"rows with the columns {[c for c in columns if c]}",
            f"{len(frame)} rows, missing {missing}",
            "Choose more text or other heads.",
        )
