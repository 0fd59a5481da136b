"""Verdicts on the papers' claims: a mark, the number with its interval against its nulls, the rule, the data."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import streamlit as st

from lib.claims import PAPERS
from lib.ui.downloads import download_row
from lib.verdicts import MARKS, Null, Verdict, table
from lib.views import csv_bytes, palette

COLOURS = {"reproduced": "#009E73", "contradicted": "#D55E00", "undecided": palette.NEUTRAL}
SIGNS = {"reproduced": "✓", "contradicted": "✕", "undecided": "?"}
WIDTH, HEIGHT, MARGIN = 260, 34, 10  # of the small picture of an interval


def verdict_panel(verdicts: Sequence[Verdict], key: str) -> None:
    """Draw verdicts one under another, each with its parts folded, and a table of them all to take away.

    key: unique on the page.
    """
    counts = {mark: sum(verdict.mark == mark for verdict in verdicts) for mark in MARKS}
    st.markdown(" · ".join(f"**{count}** {mark}" for mark, count in counts.items()))
    if verdicts:
        st.caption(f"Claims of {' and '.join(dict.fromkeys(PAPERS[v.paper] for v in verdicts))}; {_where(verdicts[0])}")
    for verdict in verdicts:
        with st.container(border=True):
            st.html(card(verdict))
            with st.expander("Rule and parts" if verdict.parts else "Rule"):
                st.caption(f"Rule: {verdict.rule}")
                for part in verdict.parts:
                    st.html(f"<div style='margin:6px 0'>{measured_html(part, marked=True)}</div>")
    download_row({"Verdicts as CSV": (f"{key}.csv", "text/csv", lambda: verdicts_csv(verdicts))}, f"verdicts-{key}")


def verdicts_csv(verdicts: Sequence[Verdict]) -> bytes:
    """Every verdict and every part as one row."""
    rows = [row for verdict in verdicts for row in (verdict, *verdict.parts)]
    frame = table(rows)
    origin = {"model": verdicts[0].model, "corpus": verdicts[0].corpus, "documents": verdicts[0].documents}
    return csv_bytes(list(frame.columns), frame.itertuples(index=False), origin)


def _where(verdict: Verdict) -> str:
    """Model, corpus and number of documents, safe in Markdown."""
    return f"measured on `{verdict.model.replace('`', '')}` with {verdict.documents:,} documents."


def card(verdict: Verdict) -> str:
    """One verdict as HTML; every text in it is escaped."""
    colour = COLOURS[verdict.mark]
    note = f"<div style='opacity:.75'>{html.escape(verdict.note)}</div>" if verdict.note else ""
    return (
        "<div style='display:flex;flex-wrap:wrap;gap:6px 20px;align-items:baseline'>"
        f"<div style='flex:0 0 8.2rem;color:{colour};font-weight:600'>{SIGNS[verdict.mark]} {verdict.mark}</div>"
        f"<div style='flex:1 1 20rem'><div style='font-weight:600'>{html.escape(verdict.claim)}</div>"
        f"<div style='font-size:.88rem;margin-top:2px'>{html.escape(verdict.reason)}{note}</div></div>"
        f"<div style='flex:0 1 20rem'>{measured_html(verdict, marked=False)}</div></div>"
    )


def measured_html(verdict: Verdict, marked: bool) -> str:
    """Quantity, number with interval, nulls and their picture, model, corpus and N, as HTML."""
    head = html.escape(verdict.quantity)
    after = ""
    if marked:
        head = f"<b style='color:{COLOURS[verdict.mark]}'>{SIGNS[verdict.mark]} {verdict.mark}</b> · {head}"
        after = f"<div style='opacity:.75'>{html.escape(f'{verdict.reason} {verdict.note}')}</div>"
    nulls = "; ".join(f"{name} {_null(value)}" for name, value in verdict.null.items())
    return (
        f"<div style='font-size:.82rem'><div style='opacity:.75'>{head}</div>"
        f"<div style='font-variant-numeric:tabular-nums;font-size:1rem'><b>{_digits(verdict.number)}</b> "
        f"[{_digits(verdict.interval[0])}, {_digits(verdict.interval[1])}]</div>{strip(verdict)}"
        f"<div style='opacity:.75'>null: {html.escape(nulls)}</div>"
        f"<div style='opacity:.75'>{html.escape(verdict.corpus)}, {verdict.documents:,} documents</div>{after}</div>"
    )


def strip(verdict: Verdict) -> str:
    """The interval as a bar with its number as a dot, nulls as dashed lines or grey bands, to one scale; SVG."""
    nulls = [value if isinstance(value, tuple) else (value, value) for value in verdict.null.values()]
    nulls = [ends for ends in nulls if not any(math.isnan(end) for end in ends)]
    ends = [verdict.number, *verdict.interval]
    if any(math.isnan(end) for end in ends):
        return ""
    every = [*ends, *(end for pair in nulls for end in pair)]
    low, high = min(every), max(every)
    scale = (WIDTH - 2 * MARGIN) / ((high - low) or 1.0)

    def at(value: float) -> float:
        return round(MARGIN + (value - low) * scale, 1)

    middle, colour, grey = HEIGHT / 2, COLOURS[verdict.mark], palette.NEUTRAL
    parts = [
        f'<line x1="0" x2="{WIDTH}" y1="{middle}" y2="{middle}" stroke="{grey}" stroke-opacity=".35"/>',
    ]
    for left, right in nulls:
        if right > left:
            width = max(2.0, at(right) - at(left))
            box = f'x="{at(left)}" y="6" width="{width}" height="{HEIGHT - 12}"'
            parts.append(f'<rect {box} fill="{grey}" fill-opacity=".3"/>')
        else:
            ends_at = f'x1="{at(left)}" x2="{at(left)}" y1="4" y2="{HEIGHT - 4}"'
            parts.append(f'<line {ends_at} stroke="{grey}" stroke-width="1.5" stroke-dasharray="3 2"/>')
    bar = f'x1="{at(verdict.interval[0])}" x2="{at(verdict.interval[1])}" y1="{middle}" y2="{middle}"'
    parts.append(f'<line {bar} stroke="{colour}" stroke-width="4" stroke-linecap="round"/>')
    parts.append(f'<circle cx="{at(verdict.number)}" cy="{middle}" r="5" fill="{colour}"/>')
    return (
        f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" width="100%" style="max-width:{WIDTH}px;display:block" role="img" '
        f'aria-label="interval and nulls on one scale">{"".join(parts)}</svg>'
    )


def _digits(value: float) -> str:
    return "not defined" if math.isnan(value) else f"{value:.3g}"


def _null(value: Null) -> str:
    ends = value if isinstance(value, tuple) else (value,)
    if any(math.isnan(end) for end in ends):
        return "not measured"
    return " … ".join(f"{end:.3g}" for end in ends)
