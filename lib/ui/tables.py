"""Small tables on the page, and tables to take away."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
from pandas.io.formats.style import Styler

from lib.ui.words import written
from lib.views import csv_bytes


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A quiet table as HTML, first column left, numbers right; every cell is escaped."""
    first = "text-align:left;padding:3px 8px 3px 0"
    other = "text-align:right;padding:3px 0 3px 10px;white-space:nowrap"
    line = "border-top:1px solid color-mix(in srgb, currentColor 14%, transparent)"

    def row(cells: Sequence[str], tag: str, extra: str) -> str:
        return "".join(
            f'<{tag} style="font-weight:400;{first if i == 0 else other};{extra}">{html.escape(cell)}</{tag}>'
            for i, cell in enumerate(cells)
        )

    body = "".join(f"<tr>{row(cells, 'td', line)}</tr>" for cells in rows)
    return (
        '<table style="width:100%;border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums">'
        f"<tr>{row(header, 'th', 'opacity:.65;font-size:.78rem')}</tr>{body}</table>"
    )


def numbered(frame: pd.DataFrame, forms: Mapping[str, str]) -> Styler:
    """A table for st.dataframe that writes the numbers of some columns as the page's sentences do, and sorts by them.

    forms: column → a format of Python's. A missing value reads "–".
    """
    return frame.style.format({name: partial(written, form=form) for name, form in forms.items()}, na_rep="–")


def csv_table(frame: pd.DataFrame, facts: Mapping[str, object]) -> bytes:
    """A table as CSV with its origin on top."""
    return csv_bytes(list(frame), frame.itertuples(index=False), facts)
