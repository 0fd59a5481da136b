"""Pictures that take seconds: made in a thread while the page answers clicks, and given up when another is wanted."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import streamlit as st

from lib.ui import cached
from lib.ui.job import Job
from lib.ui.progress import Progress, reached

EVERY = 1.0  # seconds between looks at what is being made
PATIENCE = 0.8  # seconds for which a redraw waits: what comes so soon needs no line that says it is coming


def soon(what: str, key: str, work: Callable[[Progress], Any], patience: float = 0.0) -> Any | None:
    """``work(progress)``, kept under that name and key; None until it is there.

    A session wants one thing of a name at a time: work for another key is told to stop, by its next progress. patience:
    seconds to wait here. Raises what the work raised, as long as the session wants the same.
    """
    if (found := cached.known(what, key)) is not None:
        return found
    asked, job = st.session_state.get(what, ("", None))
    if job is None or asked != key or job.state == "stopped":
        if job is not None:
            job.stop.set()
        job = Job(lambda progress: cached.kept(what, key, lambda: work(progress))).start()
        st.session_state[what] = key, job
    end = time.monotonic() + patience
    while job.state == "running" and time.monotonic() < end:
        time.sleep(0.02)
    if job.state == "failed":
        raise job.error
    return job.result if job.state == "done" else None


def coming(what: str, name: str, height: int) -> None:
    """Hold the place of a picture of some height in pixels, say how far it is, and redraw the page when it is there."""
    with st.container(height=height, border=True):
        _follow(what, name)


@st.fragment(run_every=EVERY)
def _follow(what: str, name: str) -> None:
    _, job = st.session_state[what]
    if job.state != "running":
        st.rerun()  # outside a callback only the whole app can be asked for
    share, text = reached(*job.at)
    st.progress(share, text=f"{name}. {text}")
