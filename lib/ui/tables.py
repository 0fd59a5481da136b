"""Small tables on the page, and tables to take away."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
from pandas.io.formats.style import Styler

from lib.numerals import written
from lib.views import csv_bytes

MOST_ON_A_PHONE = 6  # columns of numbers with intervals that fit side by side


def html_table(header: Sequence[str], rows: Sequence[Sequence[str]], tips: Sequence[str] = ()) -> str:
    """A quiet table as HTML, first column left, numbers right; every cell is escaped.

    tips: what the name of each row means, shown under the pointer; none, or one per row.
    """
    first = "text-align:left;padding:3px 8px 3px 0"
    other = "text-align:right;padding:3px 0 3px 10px;white-space:nowrap"
    line = "border-top:1px solid color-mix(in srgb, currentColor 14%, transparent)"
    dotted = "cursor:help;text-decoration:underline dotted;text-underline-offset:3px;text-decoration-thickness:1px"

    def row(cells: Sequence[str], tag: str, extra: str, tip: str = "") -> str:
        shown = [html.escape(cell) for cell in cells]
        if tip:
            shown[0] = f'<span title="{html.escape(tip)}" style="{dotted}">{shown[0]}</span>'
        return "".join(
            f'<{tag} style="font-weight:400;{first if i == 0 else other};{extra}">{cell}</{tag}>'
            for i, cell in enumerate(shown)
        )

    told = zip(rows, tips or [""] * len(rows), strict=True)
    body = "".join(f"<tr>{row(cells, 'td', line, tip)}</tr>" for cells, tip in told)
    return (
        '<table style="width:100%;border-collapse:collapse;font-size:.86rem;font-variant-numeric:tabular-nums">'
        f"<tr>{row(header, 'th', 'opacity:.65;font-size:.78rem')}</tr>{body}</table>"
    )


def numbered(frame: pd.DataFrame, forms: Mapping[str, str]) -> Styler:
    """A table for st.dataframe that writes the numbers of some columns as the page's sentences do, and sorts by them.

    forms: column → a format of Python's. A missing value reads "–".
    """
    return frame.style.format({name: partial(written, form=form) for name, form in forms.items()}, na_rep="–")


def measured_table(header: Sequence[tuple[str, str, str]], rows: Sequence[Sequence[str]]) -> str:
    """A table of numbers with intervals as HTML; where it is narrow the interval goes beneath its number.

    header: per column plain words, the term for it ("" where the words are enough) and an explanation, shown when the
    pointer rests on it. rows: texts such as "3.2 [2.9, 3.5]"; every text is escaped.
    """
    line = "border-top:1px solid color-mix(in srgb, currentColor 14%, transparent)"
    small = "opacity:.65;font-size:.7rem;white-space:nowrap"

    def side(place: int) -> str:
        return "text-align:left;padding:3px 3px 3px 0" if place == 0 else "text-align:right;padding:3px 0 3px 6px"

    def head(place: int, words: str, term: str, told: str) -> str:
        under = f'<br><span style="{small}">{html.escape(term)}</span>' if term else ""
        help_ = f' title="{html.escape(told, quote=True)}"' if told else ""
        style = f"font-weight:400;font-size:.78rem;line-height:1.25;vertical-align:bottom;{side(place)}"
        return f'<th style="{style}"{help_}><span style="opacity:.8">{html.escape(words)}</span>{under}</th>'

    def cell(place: int, text: str) -> str:
        number, bracket, interval = text.partition(" [")
        beneath = f' <span class="hl-interval" style="{small}">{html.escape(f"[{interval}")}</span>' if bracket else ""
        number = f'<span style="white-space:nowrap">{html.escape(number)}</span>'
        return f'<td style="{side(place)};{line}">{number}{beneath}</td>'

    aside = ""
    if len(header) > MOST_ON_A_PHONE:
        hidden = "<style>@media (min-width: 641px) { .hl-aside { display: none } }</style>"
        told = "Move the table sideways for the rest →"
        aside = f'<div class="hl-aside" style="{small};padding-top:4px">{told}</div>{hidden}'
    top = "".join(head(place, *column) for place, column in enumerate(header))
    body = "".join(f"<tr>{''.join(cell(place, text) for place, text in enumerate(row))}</tr>" for row in rows)
    return (
        '<div style="overflow-x:auto"><table style="width:100%;border-collapse:collapse;font-size:.86rem;'
        f'line-height:1.25;font-variant-numeric:tabular-nums"><tr>{top}</tr>{body}</table>'
        f"<style>@media (max-width: 640px) {{ .hl-interval {{ display: block }} }}</style></div>{aside}"
    )


def csv_table(frame: pd.DataFrame, facts: Mapping[str, object]) -> bytes:
    """A table as CSV with its origin on top."""
    return csv_bytes(list(frame), frame.itertuples(index=False), facts)
