"""Tables of methods: scores with their intervals, and where a method fails; and the quiet table of facts on a cut.

On a narrow page the name of a method stands above its numbers, and an interval beneath its number.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import streamlit as st

from lib.numerals import plural
from lib.segmentation.judging import Failure, Result
from lib.stats import Interval
from lib.ui.segmentation.wording import share

SHOWN = 6  # failures of each kind
KINDS = {"missed": "Missed: a true boundary that was not found", "false": "False: a boundary where none is"}

STYLE = """<style>
.hl-methods, .hl-around, .hl-facts { --line: 1px solid color-mix(in srgb, currentColor 14%, transparent);
  font-size: .86rem; line-height: 1.35; font-variant-numeric: tabular-nums; }
.hl-methods { container-type: inline-size; }
.hl-methods table, .hl-facts table { width: 100%; border-collapse: collapse; }
.hl-methods :is(th, td) { padding: 3px 0 3px 14px; text-align: right; font-weight: 400; white-space: nowrap;
  vertical-align: bottom; }
.hl-methods :is(th, td):first-child { padding-left: 0; text-align: left; white-space: normal; }
.hl-methods th { font-size: .78rem; opacity: .75; }
.hl-methods td, .hl-facts td, .hl-around > div { border-top: var(--line); }
.hl-methods b { font-weight: 700; }
.hl-methods i, .hl-around i { font-style: normal; opacity: .75; font-size: .78rem; }
@container (max-width: 600px) {
  .hl-methods :is(table, tbody) { display: block; }
  .hl-methods tr { display: grid; grid-template-columns: var(--columns); gap: 0 6px; padding: 6px 0; align-items: end; }
  .hl-methods tr + tr { border-top: var(--line); align-items: start; }
  .hl-methods :is(th, td) { padding: 0; border: 0; white-space: normal; overflow-wrap: normal; }
  .hl-methods th { font-size: .7rem; line-height: 1.2; }
  .hl-methods :is(th, td):first-child { grid-column: 1 / -1; }
  .hl-methods th:first-child { display: none; }
  .hl-methods td i { display: block; font-size: .66rem; white-space: nowrap; letter-spacing: -.01em; }
}
.hl-facts td { padding: 3px 0; vertical-align: baseline; white-space: nowrap; }
.hl-facts td + td { padding-left: 10px; text-align: right; text-wrap: balance; white-space: normal; }
.hl-around { container-type: inline-size; margin-bottom: .8rem; }
.hl-around > div { display: grid; grid-template-columns: minmax(0, 1fr) auto minmax(0, 1fr) minmax(0, 10em);
  gap: 0 6px; padding: 3px 0; }
.hl-around span { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; unicode-bidi: isolate; }
.hl-around span:first-child { text-align: right; direction: rtl; }
.hl-around span:first-child bdi { direction: ltr; unicode-bidi: plaintext; }
.hl-around i { text-align: right; padding-top: 1px; }
@container (max-width: 600px) {
  .hl-around > div { display: block; }
  .hl-around span, .hl-around span:first-child { white-space: normal; direction: inherit; }
  .hl-around i { display: block; text-align: left; }
}
</style>"""

Cell = tuple[str, str]  # what is told, and an interval or ""


def score_table(header: Sequence[str], rows: Sequence[Sequence[Cell]], best: Sequence[Sequence[bool]] = ()) -> None:
    """A table of methods; the first column holds their names, and every text is escaped.

    best: (row, column) whether a number is the best of its column, which is told by its weight; () for none.
    """
    wide = [any(row[place][1] for row in rows) for place in range(1, len(header))]
    columns = " ".join("minmax(0, 1.5fr)" if one else "minmax(0, 1fr)" for one in wide)
    top = "".join(f'<th role="columnheader">{html.escape(name)}</th>' for name in header)
    body = ""
    for number, row in enumerate(rows):
        cells = (_cell(cell, bool(best) and best[number][place]) for place, cell in enumerate(row))
        body += f'<tr role="row">{"".join(cells)}</tr>'
    table = f'<table role="table"><tr role="row">{top}</tr>{body}</table>'
    st.html(f'{STYLE}<div class="hl-methods" style="--columns: {columns}">{table}</div>')


def _cell(cell: Cell, best: bool) -> str:
    told, interval = map(html.escape, cell)
    number = f"<b>{told}</b>" if best else told
    return f'<td role="cell">{number}{f" <i>{interval}</i>" if interval else ""}</td>'


def facts_table(title: str, rows: Sequence[tuple[str, str]]) -> None:
    """Names and what is known of each, in two columns; every text is escaped."""
    body = "".join(f"<tr>{''.join(f'<td>{html.escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    caption = f'<caption style="text-align:left;opacity:.75;font-size:.78rem">{html.escape(title)}</caption>'
    st.html(f'{STYLE}<div class="hl-facts"><table>{caption}{body}</table></div>')


def _percent(value: float) -> str:
    return "–" if value != value else f"{100 * value:.1f}"


@dataclass(frozen=True)
class Column:
    """A score of `Result`: its title, how it is written, whether its interval is told, and which is the best."""

    score: str
    title: str
    told: Callable[[float], str] = share
    interval: bool = False
    best: Callable[[Iterable[float]], float] = max


SENTENCE_COLUMNS = (
    Column("f1", "F1", interval=True),
    Column("precision", "precision"),
    Column("recall", "recall"),
    Column("f1_near", "F1 ± 1 token"),
    Column("pk", "Pk %", _percent, interval=True, best=min),
)
TOPIC_COLUMNS = (
    Column("pk", "Pk %", _percent, interval=True, best=min),
    Column("window_diff", "WindowDiff %", _percent, interval=True, best=min),
    Column("f1", "F1", interval=True),
)


def result_table(results: Sequence[Result]) -> None:
    """One table per corpus and condition, the best of every score in bold."""
    for head in dict.fromkeys((r.corpus, r.condition) for r in results):
        group = [r for r in results if (r.corpus, r.condition) == head]
        first = group[0]
        st.markdown(f"**{first.condition[:1].upper()}{first.condition[1:]}**")
        columns = TOPIC_COLUMNS if first.granularity == "topic" else SENTENCE_COLUMNS
        scores = [[getattr(r, column.score) for column in columns] for r in group]
        rows = [[(r.method, ""), *map(_told, columns, row), _timed(r)] for r, row in zip(group, scores, strict=True)]
        best = np.array([[told for told, _ in row[1:-1]] for row in rows]) == _best(columns, scores)
        best &= ~best.all(axis=0)
        marks = [[False, *row, False] for row in best.tolist()]
        score_table(("method", *(column.title for column in columns), "ms per 1,000 tokens"), rows, marks)
        counts = plural(first.documents, "document"), plural(first.boundaries, "true boundary", "true boundaries")
        unit = "sentences" if first.granularity == "topic" else "tokens"
        interval = ", intervals 95 % over documents" if first.documents > 1 else ""
        st.caption(f"{', '.join(counts)}, positions in {unit}{interval}. Bold: the best of its column.")


def _told(column: Column, score: Interval) -> Cell:
    known = column.interval and score.low == score.low
    ends = f"[{column.told(float(score.low))}, {column.told(float(score.high))}]" if known else ""
    return column.told(float(score.estimate)), ends


def _best(columns: Sequence[Column], scores: Sequence[Sequence[Interval]]) -> list[str]:
    """How the best score of each column is written, "" where none is known."""
    known = [[float(s.estimate) for s in column if s.estimate == s.estimate] for column in zip(*scores, strict=True)]
    return [column.told(column.best(own)) if own else "" for column, own in zip(columns, known, strict=True)]


def _timed(result: Result) -> Cell:
    return ("–" if result.seconds != result.seconds else f"{1000 * result.seconds:,.0f}"), ""


def failure_list(results: Sequence[Result], key: str) -> None:
    """Where the chosen method misses a boundary, or sets a false one, each in its surroundings."""
    choices = {f"{r.method} · {r.condition}": r for r in results}
    name = st.selectbox("Where it fails", list(choices), key=key, persist_state="session", width=420)
    chosen = choices.get(name)
    if chosen is None:
        return
    if not chosen.failures:
        st.caption("It fails nowhere here.")
        return
    for kind, told in KINDS.items():
        own = [failure for failure in chosen.failures if failure.kind == kind]
        if own:
            st.caption(f"{told}{f'; the first {SHOWN}' if len(own) > SHOWN else ''}.")
            several = chosen.documents > 1
            st.html(f'{STYLE}<div class="hl-around">{"".join(_around(f, several) for f in own[:SHOWN])}</div>')


def _around(failure: Failure, several: bool) -> str:
    """A place in its surroundings; several: which of the documents it is from is told too."""
    before, after, name = map(html.escape, (failure.before, failure.after, failure.document))
    document = f'<i title="{name}">{name[:60]}</i>' if several else ""
    return f"<div><span><bdi>… {before}</bdi></span> <b>¦</b> <span>{after} …</span>{document}</div>"
