"""Work that takes long: it runs beside the page, says how far it is, can be stopped, and rests when nobody is there."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

from lib.errors import HeadlightError
from lib.ui import cached
from lib.ui.message import problem
from lib.ui.progress import Progress, reached

JOBS = "jobs"  # session state: key -> job
UNSEEN = 180.0  # seconds after a session's end (a browser may come back to it) in which its work goes on


class Stopped(Exception):
    """Somebody stopped the work, or nobody looks any more."""


def require_watched(stopped: bool, seen: float, patience: float) -> None:
    """Raise Stopped where the work was stopped, or nobody was there for ``patience`` seconds.

    seen: when somebody was there last, by ``time.monotonic``.
    """
    if stopped or time.monotonic() - seen > patience:
        raise Stopped


@dataclass
class Job:
    """One piece of work in a thread of its own; ``present`` says whether the session that wants it is still there."""

    work: Callable[[Progress], Any]
    present: Callable[[], bool] = lambda: True
    patience: float = UNSEEN
    seen: float = field(default_factory=time.monotonic)
    state: str = "running"  # then "done", "stopped" or "failed"
    at: tuple[int, int, str] = (0, 1, "starting")
    stop: threading.Event = field(default_factory=threading.Event)
    result: Any = None
    error: BaseException | None = None

    def start(self) -> Job:
        """Begin; returns itself."""
        threading.Thread(target=self._run, daemon=True).start()
        return self

    def _run(self) -> None:
        try:
            self.result = self.work(self._report)
            self.state = "done"
        except Stopped:
            self.state = "stopped"
        except Exception as error:  # handed to the page, which tells it
            self.error, self.state = error, "failed"

    def _report(self, done: int, total: int, stage: str) -> None:
        if self.present():
            self.seen = time.monotonic()
        require_watched(self.stop.is_set(), self.seen, self.patience)
        self.at = done, total, stage


def worked(what: str, key: str, label: str, work: Callable[[Progress], Any]) -> Any | None:
    """The result of long work, None until it is there: a button starts it, a bar follows it, another stops it.

    what, key: name of the result, as for ``cached.kept``; label: of the button; work: called with a progress callback.
    """
    if (found := cached.known(what, key)) is not None:
        return found
    jobs: dict[str, Job] = st.session_state.setdefault(JOBS, {})
    job = jobs.get(f"{what} {key}")
    if job is None or job.state == "stopped":
        if job is not None:
            why = "Stopped" if job.stop.is_set() else "Stopped while this browser was away"
            st.caption(f"{why}; nothing was kept.")
        st.button(label, key=f"{what}-start", on_click=_start, args=(f"{what} {key}", work), type="secondary")
        return None
    if job.state == "running":
        _follow(f"{what} {key}", f"{what}-stop")
        return None
    del jobs[f"{what} {key}"]
    if isinstance(job.error, HeadlightError):
        problem(job.error)
        return None
    if job.error is not None:
        raise job.error
    return cached.kept(what, key, lambda: job.result)


def _start(name: str, work: Callable[[Progress], Any]) -> None:
    st.session_state[JOBS][name] = Job(work, _presence()).start()


def _presence() -> Callable[[], bool]:
    """Whether the browser of this session is connected, to be asked from any thread."""
    context = get_script_run_ctx()
    if context is None or not runtime.exists():  # run without a server
        return lambda: True
    server = runtime.get_instance()
    return lambda: bool(server.is_active_session(context.session_id))


@st.fragment(run_every=1.0)
def _follow(name: str, key: str) -> None:
    """The bar and the stop button; redraws the page when the work has ended."""
    job = st.session_state[JOBS].get(name)
    if job is None or job.state != "running":
        st.rerun()  # outside a callback only the whole app can be asked for
    done, total, stage = job.at
    share, text = reached(done, total, stage)
    st.progress(share, text=text)
    st.button("Stop", key=key, on_click=job.stop.set, icon=":material/stop:")
