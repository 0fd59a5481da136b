"""Charts that another head leaves as they are: made once, as the browser takes them, and shown again from there."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import altair as alt
import streamlit as st

from lib.ui.similarity.measures import kept_here


@dataclass(frozen=True)
class Sheet:
    """A title, a chart's specification with its data (None where nothing is defined), and what is said of it."""

    title: str
    spec: dict[str, Any] | None
    said: str


def sheet(title: str, chart: alt.LayerChart | None, said: str) -> Sheet:
    """A sheet of a chart. Building and checking the specification is what takes long; showing it does not."""
    return Sheet(title, None if chart is None else chart.to_dict(), said)


def kept_sheets(what: str, key: str, build: Callable[[], Iterable[Sheet]]) -> tuple[Sheet, ...]:
    """Sheets under a name and a key, made once."""
    return kept_here(f"sheets: {what}", key, lambda: tuple(build()))


def show_sheet(found: Sheet) -> None:
    """Draw title, chart and caption where the page is being written."""
    st.markdown(f"**{found.title}**")
    if found.spec is not None:
        st.vega_lite_chart(found.spec, width="stretch")
    if found.said:
        st.caption(found.said)
