"""Tables of methods: scores with their intervals, and where a method fails."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lib.segmentation.judging import Result
from lib.stats import Interval
from lib.ui.segmentation.wording import share
from lib.ui.tables import html_table

SHOWN = 6  # failures of each kind


def wide(header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table that scrolls sideways on a narrow page."""
    st.html(f"<div style='overflow-x:auto'>{html_table(header, rows)}</div>")


def result_table(results: Sequence[Result]) -> None:
    """One table per corpus and condition."""
    for head in dict.fromkeys((r.corpus, r.condition) for r in results):
        group = [r for r in results if (r.corpus, r.condition) == head]
        first = group[0]
        st.markdown(f"**{first.condition[:1].upper()}{first.condition[1:]}**")
        topics = first.granularity == "topic"
        rows = [_row(result, topics) for result in group]
        scores = ("Pk %", "WindowDiff %", "F1") if topics else ("F1", "precision", "recall", "F1 ± 1 token", "Pk %")
        wide(("method", *scores, "ms per 1,000 tokens"), rows)
        documents = "document" if first.documents == 1 else "documents"
        interval = " [95 % over documents]" if first.documents > 1 else ""
        unit = "sentences" if topics else "tokens"
        st.caption(
            f"{first.documents} {documents}, {first.boundaries:,} true boundaries, positions in {unit}{interval}."
        )


def _row(result: Result, topics: bool) -> tuple[str, ...]:
    timed = "–" if result.seconds != result.seconds else f"{1000 * result.seconds:,.0f}"
    plain = [share(float(getattr(result, name).estimate)) for name in ("precision", "recall", "f1_near")]
    if topics:
        return result.method, _percent(result.pk), _percent(result.window_diff), _share(result.f1), timed
    return result.method, _share(result.f1), *plain, _percent(result.pk), timed


def _share(interval: Interval) -> str:
    ends = "" if interval.low != interval.low else f" [{share(float(interval.low))}, {share(float(interval.high))}]"
    return share(float(interval.estimate)) + ends


def _percent(interval: Interval) -> str:
    if interval.estimate != interval.estimate:
        return "–"
    ends = "" if interval.low != interval.low else f" [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"
    return f"{100 * float(interval.estimate):.1f}{ends}"


def failure_list(results: Sequence[Result], key: str) -> None:
    """Where the chosen method misses a boundary, or sets a false one."""
    choices = {f"{r.method} · {r.condition}": r for r in results}
    name = st.selectbox("Where it fails", list(choices), key=key, persist_state="session", width=420)
    chosen = choices.get(name)
    if chosen is None:
        return
    if not chosen.failures:
        st.caption("It fails nowhere here.")
        return
    rows = []
    for kind in ("missed", "false"):
        for failure in [f for f in chosen.failures if f.kind == kind][:SHOWN]:
            rows.append((failure.kind, f"… {failure.before} ¦ {failure.after} …", failure.document[:40]))
    st.dataframe(
        {"": [r[0] for r in rows], "text, ¦ at the place": [r[1] for r in rows], "document": [r[2] for r in rows]},
        hide_index=True,
        width="stretch",
        height=min(36 * (len(rows) + 1), 400),
        column_config={"text, ¦ at the place": st.column_config.TextColumn(width="large")},
    )
    st.caption(f"The first {SHOWN} of each kind; missed: a true boundary not found, false: one found where none is.")
