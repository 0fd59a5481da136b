"""Work beside the page: it ends, is stopped, tells what went wrong, and rests when its session is gone."""

import threading
from itertools import count
from types import SimpleNamespace

import pytest

from lib.errors import HeadlightError
from lib.ui.job import Job, Stopped, require_watched

LONG = 30  # seconds after which a test gives up


def ended(job):
    """The job, after its thread has ended."""
    for thread in threading.enumerate():
        if getattr(thread, "_target", None) == job._run:
            thread.join(LONG)
    assert job.state != "running"
    return job


def endless(progress):
    while True:
        progress(1, 2, "at work")


def test_work_that_ends_hands_over_its_result():
    job = ended(Job(lambda progress: progress(1, 2, "half") or 7).start())
    assert (job.state, job.result, job.at) == ("done", 7, (1, 2, "half"))


def test_work_that_fails_hands_over_its_error():
    def wrong(progress):
        raise HeadlightError("a", "b", "c")

    job = ended(Job(wrong).start())
    assert job.state == "failed" and isinstance(job.error, HeadlightError)


def test_work_can_be_stopped():
    job = Job(endless).start()
    job.stop.set()
    assert ended(job).state == "stopped"


def test_work_goes_on_while_its_session_is_there_and_a_while_longer(monkeypatch):
    reports, clock = [], count()
    monkeypatch.setattr("lib.ui.job.time", SimpleNamespace(monotonic=lambda: next(clock)))

    def work(progress):
        while True:
            reports.append(1)
            progress(1, 2, "at work")

    job = ended(Job(work, present=lambda: len(reports) <= 1000, patience=50, seen=0).start())
    assert job.state == "stopped" and not job.stop.is_set()
    assert len(reports) == 1050  # the clock moves on a second a look: the 50th without the session is 51 s late


def test_somebody_who_comes_back_in_time_finds_the_work_going_on():
    require_watched(False, seen=float("inf"), patience=0.0)
    for stopped, seen in ((True, float("inf")), (False, float("-inf"))):
        with pytest.raises(Stopped):
            require_watched(stopped, seen, patience=1e9)
