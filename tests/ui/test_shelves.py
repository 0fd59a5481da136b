"""Results that are kept: made once, dropped when unused for longest, never dropped by a look."""

import pytest

from lib.ui.shelves import Shelves


def test_a_look_takes_no_place_and_drops_nothing():
    shelves = Shelves(2)
    shelves.get("slow", lambda: "minutes of work")
    assert [shelves.look(f"missing {n}") for n in range(100)] == [None] * 100
    assert shelves.look("slow") == "minutes of work"


def test_each_is_made_once_and_the_one_unused_for_longest_is_dropped():
    shelves, made = Shelves(2), []
    for name in ("a", "b", "a", "c", "a"):
        shelves.get(name, lambda name=name: made.append(name) or name)
    assert made == ["a", "b", "c"]
    assert (shelves.look("a"), shelves.look("b"), shelves.look("c")) == ("a", None, "c")


def test_a_making_that_fails_leaves_the_place_empty():
    shelves = Shelves(2)
    with pytest.raises(ZeroDivisionError):
        shelves.get("a", lambda: 1 / 0)
    assert shelves.look("a") is None
    assert shelves.get("a", lambda: 5) == 5
