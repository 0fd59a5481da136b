"""Pictures and numbers to take away: one HTML page without any network, CSV, npz, with their origin inside."""

from __future__ import annotations

import base64
import csv
import html
import io
import json
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from lib.views.component import Figure, script, style

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'; img-src blob: data:">
<title>{title}</title>
<style>
:root {{ --st-background-color: #ffffff; --st-secondary-background-color: #f4f5f7; --st-text-color: #1b1f24;
  --st-border-color: #dde1e6; --st-primary-color: #2f5d8c; --st-font: system-ui, sans-serif;
  --st-code-font: ui-monospace, monospace; color-scheme: light dark; }}
@media (prefers-color-scheme: dark) {{ :root {{ --st-background-color: #14171b;
  --st-secondary-background-color: #1d2126; --st-text-color: #e4e7eb; --st-border-color: #343a42;
  --st-primary-color: #7fb2e5; }} }}
body {{ max-width: 1100px; margin: 24px auto; padding: 0 16px; background: var(--st-background-color);
  color: var(--st-text-color); font: 14px/1.5 var(--st-font); }}
h1 {{ font-size: 18px; font-weight: 600; }}
dl {{ display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; font-size: 12px; margin-top: 24px; }}
dt {{ opacity: .7; }}
dd {{ margin: 0; overflow-wrap: anywhere; }}
{style}
</style>
</head>
<body>
<h1>{title}</h1>
<p>{text}</p>
<div id="figure" role="figure" aria-label="{label}"></div>
<dl>{facts}</dl>
<script type="application/json" id="metadata">{metadata}</script>
<script type="application/octet-stream" id="packet">{packet}</script>
<script type="module">
{script}
const packet = document.getElementById("packet").textContent.trim();
const bytes = Uint8Array.from(atob(packet), (c) => c.charCodeAt(0));
const component = {{ data: bytes, key: "figure", parentElement: document.getElementById("figure"),
  setTriggerValue() {{}}, setStateValue() {{}} }};
draw(component);
matchMedia("(prefers-color-scheme: dark)").onchange = () => draw(component);
</script>
</body>
</html>
"""


def embedded_json(value: object) -> str:
    """JSON that cannot end the script element it stands in: <, >, & and line separators are escaped.

    >>> embedded_json("</script>")
    '"\\\\u003c/script\\\\u003e"'
    """
    text = json.dumps(value, allow_nan=False, default=str)
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def figure_html(figure: Figure, metadata: Mapping[str, object], title: str = "", text: str = "") -> bytes:
    """A figure as one self-contained, interactive page.

    Args:
        figure: what to show; its data go along in full.
        metadata: model, revision, dtype, seed, settings …: shown below the figure and embedded as JSON.
        title: heading of the page; the figure's label if "".
        text: a paragraph above the figure: what was included.
    """
    facts = "".join(
        f"<dt>{html.escape(str(name))}</dt><dd>{html.escape(str(value))}</dd>" for name, value in metadata.items()
    )
    code = script(figure.view)
    if "</script" in code.lower():
        raise ValueError(f"the drawing code of {figure.view} would end its own script element")
    page = PAGE.format(
        title=html.escape(title or figure.label),
        text=html.escape(text),
        label=html.escape(figure.label, quote=True),
        facts=facts,
        style=style(),
        metadata=embedded_json(dict(metadata)),
        packet=base64.b64encode(figure.packet).decode("ascii"),
        script=code,
    )
    return page.encode("utf-8", "replace")


def csv_bytes(
    header: Sequence[str], rows: Iterable[Sequence[object]], metadata: Mapping[str, object] | None = None
) -> bytes:
    """A table as CSV (UTF-8 with byte order mark, so that spreadsheets read it); metadata as "#" lines on top.

    A text cell that a spreadsheet would run as a formula is preceded by an apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    for name, value in (metadata or {}).items():
        writer.writerow([f"# {name}: {value}".replace("\r", " ").replace("\n", " ")])
    writer.writerow([_cell(name) for name in header])
    writer.writerows([_cell(value) for value in row] for row in rows)
    return ("\ufeff" + out.getvalue()).encode("utf-8", "replace")


def matrix_csv(
    matrix: np.ndarray,
    row_labels: Sequence[object],
    column_labels: Sequence[object],
    metadata: Mapping[str, object] | None = None,
) -> bytes:
    """A matrix as CSV: a header row of column labels, a first column of row labels; repeats are kept."""
    rows = ([label, *row] for label, row in zip(row_labels, np.asarray(matrix).tolist(), strict=True))
    return csv_bytes(["", *map(str, column_labels)], rows, metadata)


def npz_bytes(arrays: Mapping[str, np.ndarray], metadata: Mapping[str, object] | None = None) -> bytes:
    """Arrays as a compressed npz that loads without pickle; metadata as JSON text under "metadata"."""
    plain = {name: np.asarray(array) for name, array in arrays.items()}
    for name, array in plain.items():
        if array.dtype.hasobject:
            plain[name] = np.array([str(value) for value in array.ravel()], str).reshape(array.shape)
    out = io.BytesIO()
    np.savez_compressed(out, metadata=np.array(json.dumps(dict(metadata or {}), default=str)), **plain)
    return out.getvalue()


def _cell(value: object) -> object:
    if isinstance(value, str):
        return f"'{value}" if value[:1] in tuple("=+-@\t\r") else value
    return value.item() if isinstance(value, np.generic) else value
