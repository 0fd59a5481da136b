"""The HTML of a report: no script, no outside resource, every text escaped."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lib.numerals import written
from lib.verdicts import Verdict, table
from lib.views import palette

WIDE, HIGH, EDGE = 420, 150, 34  # of a chart, and room for its labels
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark; --line: #d5dae0; --quiet: #5c6570; }}
@media (prefers-color-scheme: dark) {{ :root {{ --line: #3a414a; --quiet: #9aa3ad; }} }}
body {{ max-width: 1080px; margin: 24px auto; padding: 0 16px; font: 14px/1.5 system-ui, sans-serif; }}
h1 {{ font-size: 20px; }} h2 {{ font-size: 17px; margin-top: 36px; }} h3 {{ font-size: 14px; margin-bottom: 4px; }}
.wide {{ overflow-x: auto; }}
table {{ border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 12.5px; }}
th, td {{ text-align: left; vertical-align: top; padding: 3px 10px 3px 0; border-bottom: 1px solid var(--line); }}
.map td {{ padding: 0; border: 1px solid transparent; width: 30px; height: 22px; text-align: center; font-size: 10px; }}
.map th {{ border: 0; padding: 0 6px 0 0; font-weight: 400; font-size: 10px; text-align: center; }}
.maps {{ display: flex; flex-wrap: wrap; gap: 8px 28px; }}
.quiet, figcaption {{ color: var(--quiet); font-size: 12.5px; }}
figure {{ margin: 0 0 12px; }}
</style>
</head>
<body>
<h1>{title}</h1>
{body}
</body>
</html>
"""


@dataclass(frozen=True)
class Raw:
    """HTML that is safe already."""

    html: str


def page(title: str, parts: Iterable[Raw]) -> str:
    """The whole page."""
    return PAGE.format(title=html.escape(title), body="\n".join(part.html for part in parts))


def text(words: str, tag: str = "p", quiet: bool = False) -> Raw:
    """A paragraph or heading."""
    look = " class='quiet'" if quiet else ""
    return Raw(f"<{tag}{look}>{html.escape(words)}</{tag}>")


def facts(pairs: Mapping[str, object]) -> Raw:
    """Names and values, one a line."""
    return rows(("", ""), pairs.items())


def rows(names: Sequence[str], cells: Iterable[Sequence[object]]) -> Raw:
    """A table; numbers in three digits, undefined ones as a dash."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in names) if any(names) else ""
    body = "".join("<tr>" + "".join(f"<td>{cell(value)}</td>" for value in row) + "</tr>" for row in cells)
    return Raw(f"<div class='wide'><table>{f'<tr>{head}</tr>' if head else ''}{body}</table></div>")


def cell(value: object) -> str:
    """One value of a table, escaped."""
    if isinstance(value, Raw):
        return value.html
    if isinstance(value, float | np.floating):
        return "–" if math.isnan(value) else written(value, ".3g")
    return html.escape(str(value))


def interval(low: float, high: float) -> str:
    """[low, high] in three digits; a dash where there is none."""
    return "–" if math.isnan(low) or math.isnan(high) else f"[{written(low, '.3g')}, {written(high, '.3g')}]"


def head_map(values: np.ndarray, layers: Sequence[int], title: str, note: str) -> Raw:
    """All heads as coloured cells that hold their numbers; values (layer, head), NaN left empty."""
    low, high = (float(np.nanmin(values)), float(np.nanmax(values))) if np.isfinite(values).any() else (0.0, 1.0)
    colours = palette.table("cividis")
    lines = ["<tr><th></th>" + "".join(f"<th>H{head}</th>" for head in range(values.shape[1])) + "</tr>"]
    for layer, row in zip(layers, values, strict=True):
        cells = []
        for head, value in enumerate(row):
            if math.isnan(value):
                cells.append("<td></td>")
                continue
            red, green, blue = colours[round(255 * (value - low) / ((high - low) or 1.0))]
            ink = "#000" if 0.3 * red + 0.59 * green + 0.11 * blue > 120 else "#fff"
            look = f"background:rgb({red},{green},{blue});color:{ink}"
            cells.append(f"<td style='{look}' title='L{layer} H{head}: {value:.4g}'>{value:.2f}</td>")
        lines.append(f"<tr><th>L{layer}</th>{''.join(cells)}</tr>")
    said = (
        f"<figcaption>{html.escape(note)}. Colours from {written(low, '.3g')} to {written(high, '.3g')}.</figcaption>"
    )
    return Raw(f"<figure><h3>{html.escape(title)}</h3><table class='map'>{''.join(lines)}</table>{said}</figure>")


def trend(layers: Sequence[int], lines: Mapping[str, Sequence[float]], title: str, band: object = None) -> Raw:
    """Curves over layers, the first one solid with its interval, the others (chance, null) dashed.

    band: (low, high) of the first curve, each (layer,), or None.
    """
    curves = {name: np.asarray(values, float) for name, values in lines.items()}
    low, high = (np.asarray(side, float) for side in band) if band is not None else (np.empty(0), np.empty(0))
    every = np.concatenate([*curves.values(), low, high])
    if not np.isfinite(every).any():
        return Raw("")
    least, most = float(np.nanmin(every)), float(np.nanmax(every))

    def points(values: np.ndarray) -> list[str]:
        across = np.linspace(EDGE, WIDE - 8, len(values)) if len(values) > 1 else np.array([WIDE / 2])
        down = HIGH - 22 - (values - least) / ((most - least) or 1.0) * (HIGH - 36)
        return [f"{x:.1f},{y:.1f}" for x, y in zip(across, down, strict=True) if math.isfinite(y)]

    drawn = []
    if len(low):
        drawn.append(f"<polygon points='{' '.join(points(low) + points(high)[::-1])}' fill='#3B7DD8' opacity='.22'/>")
    for place, values in enumerate(curves.values()):
        dash = "" if place == 0 else " stroke-dasharray='5 4' opacity='.7'"
        colour = "#3B7DD8" if place == 0 else palette.NEUTRAL
        drawn.append(f"<polyline points='{' '.join(points(values))}' fill='none' stroke='{colour}' {dash}/>")
    ticks = f"<text x='2' y='16'>{written(most, '.3g')}</text>"
    ticks += f"<text x='2' y='{HIGH - 22}'>{written(least, '.3g')}</text>"
    ticks += (
        f"<text x='{EDGE}' y='{HIGH - 4}'>L{layers[0]}</text><text x='{WIDE - 30}' y='{HIGH - 4}'>L{layers[-1]}</text>"
    )
    told = html.escape(f"solid: {next(iter(curves))}; dashed: {', '.join([*curves][1:]) or 'nothing'}")
    return Raw(
        f"<figure><h3>{html.escape(title)}</h3><svg role='img' aria-label='{html.escape(title, quote=True)}' "
        f"viewBox='0 0 {WIDE} {HIGH}' width='{WIDE}' font-size='10' fill='currentColor'>{''.join(drawn)}{ticks}</svg>"
        f"<figcaption>{told}; band: 95 % over documents.</figcaption></figure>"
    )


def side_by_side(parts: Iterable[Raw]) -> Raw:
    """Figures next to one another, as many as fit."""
    return Raw(f"<div class='maps'>{''.join(part.html for part in parts)}</div>")


def verdicts(found: Sequence[Verdict]) -> Raw:
    """The claims of a paper with their marks, and all that the marks rest on."""
    cells = []
    for row in table(found).to_dict("records"):
        mark = Raw(f"<b style='color:{palette.MARKS[row['mark']]}'>{html.escape(row['mark'])}</b>")
        cells.append(
            (row["claim"], mark, row["quantity"], row["number"], interval(row["low"], row["high"]),
             row["null"] or "–",
             f"{row['reason']} {row['note']}".strip())
        )  # fmt: skip
    return rows(("claim", "mark", "measured", "number", "95 %", "null", "why"), cells)
