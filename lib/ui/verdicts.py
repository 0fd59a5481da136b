"""Verdicts on the papers' claims: a mark, the number with its interval against its nulls, the rule, the data."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence

import streamlit as st

from lib.claims import PAPERS
from lib.ui.downloads import download_row
from lib.verdict_words import interval_words, null_words, number_words
from lib.verdicts import MARKS, Verdict, table
from lib.views import csv_bytes, palette

SIGNS = {"reproduced": "✓", "contradicted": "✕", "undecided": "?"}


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
            with st.expander("Rule and parts" if verdict.parts else "Rule", type="compact"):
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
    return f"measured on `{verdict.model.replace('`', '')}` with {_sample(verdict)}."


def card(verdict: Verdict) -> str:
    """One verdict as HTML; every text in it is escaped."""
    colour = palette.MARKS[verdict.mark]
    note = f"<div style='opacity:.75'>{html.escape(verdict.note)}</div>" if verdict.note else ""
    return (
        "<div style='display:flex;flex-wrap:wrap;gap:6px 20px;align-items:baseline'>"
        f"<div style='flex:0 0 8.2rem;color:{colour};font-weight:600'>{SIGNS[verdict.mark]} {verdict.mark}</div>"
        f"<div style='flex:1 1 20rem'><div style='font-weight:600'>{html.escape(verdict.claim)}</div>"
        f"<div style='font-size:.88rem;margin-top:2px'>{why(verdict)}{note}</div></div>"
        f"<div style='flex:0 1 20rem'>{measured_html(verdict, marked=False)}</div></div>"
    )


def why(verdict: Verdict) -> str:
    """The reason for the mark; for a claim that needs all its parts, one line per part."""
    if not verdict.parts or not all(part.quantity in verdict.reason for part in verdict.parts):
        return html.escape(verdict.reason)
    return "".join(
        f"<div><span style='color:{palette.MARKS[part.mark]}'>{SIGNS[part.mark]}</span> {html.escape(part.quantity)}: "
        f"{number_words(part.number)}, {part.mark}</div>"
        for part in verdict.parts
    )


def measured_html(verdict: Verdict, marked: bool) -> str:
    """Quantity, number with interval, nulls and their picture, model, corpus and N, as HTML."""
    head = html.escape(verdict.quantity)
    after = ""
    if marked:
        head = f"<b style='color:{palette.MARKS[verdict.mark]}'>{SIGNS[verdict.mark]} {verdict.mark}</b> · {head}"
        after = f"<div style='opacity:.75'>{html.escape(f'{verdict.reason} {verdict.note}')}</div>"
    nulls = "; ".join(f"{name} {null_words(value)}" for name, value in verdict.null.items())
    nulls = f"<div style='opacity:.75'>null (grey): {html.escape(nulls)}</div>" if nulls else ""
    return (
        f"<div style='font-size:.82rem'><div style='opacity:.75'>{head}</div>"
        f"<div style='font-variant-numeric:tabular-nums;font-size:1rem'><b>{number_words(verdict.number)}</b> "
        f"{interval_words(verdict.number, verdict.interval)}</div>{strip(verdict)}{nulls}"
        f"<div style='opacity:.75'>{html.escape(verdict.corpus)}, {_sample(verdict)}</div>{after}</div>"
    )


def strip(verdict: Verdict) -> str:
    """The interval as a bar with its number as a dot, nulls as thin lines or grey bands, all to one scale; HTML."""
    nulls = [value if isinstance(value, tuple) else (value, value) for value in verdict.null.values()]
    nulls = [ends for ends in nulls if not any(math.isnan(end) for end in ends)]
    ends = [verdict.number, *verdict.interval]
    if any(math.isnan(end) for end in ends):
        return ""
    every = [*ends, *(end for pair in nulls for end in pair)]
    low, span = min(every), (max(every) - min(every)) or 1.0

    def bar(left: float, right: float, look: str) -> str:
        start, width = 100 * (left - low) / span, 100 * (right - left) / span
        return f"<div style='position:absolute;left:{start:.1f}%;width:{width:.1f}%;min-width:2px;{look}'></div>"

    colour, grey = palette.MARKS[verdict.mark], palette.NEUTRAL
    parts = [bar(low, low + span, f"top:11px;height:1px;background:{grey};opacity:.4")]
    parts += [bar(left, right, f"top:2px;height:18px;background:{grey};opacity:.45") for left, right in nulls]
    parts.append(bar(*verdict.interval, f"top:9px;height:5px;border-radius:3px;background:{colour}"))
    dot = f"top:6px;height:11px;border-radius:6px;background:{colour};margin-left:-5px;min-width:11px"
    parts.append(bar(verdict.number, verdict.number, dot))
    what = "interval as a bar, number as a dot, nulls in grey, on one scale"
    return (
        f"<div role='img' aria-label='{what}' style='position:relative;height:22px;max-width:16rem;"
        f"margin:2px 8px'>{''.join(parts)}</div>"
    )


def _sample(verdict: Verdict) -> str:
    """How many documents, windows or training seeds the numbers rest on: "1 training seed"."""
    unit = verdict.unit.removesuffix("s") if verdict.documents == 1 else verdict.unit
    return f"{verdict.documents:,} {unit}"
