"""How far slow work is: one wording and one bar for all of it, there from the first moment on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import streamlit as st

Progress = Callable[[int, int, str], None]


def reached(done: int, total: int, stage: str) -> tuple[float, str]:
    """How full the bar is, 0 to 1, and the words on it: one and the same number, never more than all."""
    total = max(total, 1)
    done = min(max(done, 0), total)
    stage = f"{stage[:1].upper()}{stage[1:]}"
    return done / total, stage if total == 1 else f"{stage}: {done:,} of {total:,}"


def give_way(done: int, total: int, stage: str) -> None:
    """Progress of work that takes a moment: nothing is shown, but whoever clicks meanwhile does not wait for its end.

    Streamlit ends a run that another has been asked for where the run touches the session's state.
    """
    st.session_state.get("layer")


@contextmanager
def progress_line() -> Iterator[Progress]:
    """A bar that says what is done and how far it is; gone afterwards. Any control that is used stops the work."""
    slot = st.empty()

    def report(done: int, total: int, stage: str) -> None:
        share, text = reached(done, total, stage)
        slot.progress(share, text=text)

    try:
        report(0, 1, "starting")
        yield report
    finally:
        slot.empty()
