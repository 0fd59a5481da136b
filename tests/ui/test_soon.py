"""Work that takes seconds: the page has it when it is there, and gives it up when another is wanted."""

import threading
import time

import pytest
import streamlit as st

from lib.errors import HeadlightError
from lib.ui import cached
from lib.ui.embeddings.soon import soon

LONG = 30  # seconds after which a test gives up


@pytest.fixture(autouse=True)
def nothing_kept():
    cached.shelves.clear()
    st.session_state.pop("thing", None)
    yield
    st.session_state.pop("thing", None)
    cached.shelves.clear()


def waited(until):
    end = time.monotonic() + LONG
    while not (found := until()):
        assert time.monotonic() < end
        time.sleep(0.01)
    return found


def test_it_comes_when_it_is_there_and_is_made_once():
    gate, made = threading.Event(), []

    def work(progress):
        gate.wait(LONG)
        made.append(1)
        return "picture"

    assert soon("thing", "a", work) is None
    assert soon("thing", "a", work) is None
    gate.set()
    assert waited(lambda: soon("thing", "a", work)) == "picture"
    assert cached.known("thing", "a") == "picture"
    assert made == [1]


def test_what_comes_quickly_is_waited_for():
    assert soon("thing", "a", lambda progress: 7, patience=LONG) == 7


def test_another_wish_ends_the_work_for_the_one_before_and_no_other():
    told = []

    def endless(progress):
        told.append("begun")
        while True:
            progress(1, 2, "at work")
            time.sleep(0.01)

    soon("thing", "a", endless)
    _, first = st.session_state["thing"]
    waited(lambda: told)
    assert first.state == "running"
    assert soon("thing", "b", lambda progress: 8, patience=LONG) == 8
    waited(lambda: first.state == "stopped")
    assert cached.known("thing", "a") is None
    assert soon("thing", "a", lambda progress: 9, patience=LONG) == 9, "wanted again, it is begun anew"


def test_what_goes_wrong_is_told_as_long_as_it_is_wanted():
    begun = []

    def wrong(progress):
        begun.append(1)
        raise HeadlightError("a", "b", "c")

    for _ in range(3):
        with pytest.raises(HeadlightError):
            soon("thing", "a", wrong, patience=LONG)
    assert begun == [1]
