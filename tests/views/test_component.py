import re

import pytest

from lib.views.component import PIECES, indices, receive, script, selection, style

HOSTILE = [
    None, "", "4,11", "<script>alert(1)</script>", 4, 4.0, True, {}, {"0": 4, "1": 11}, [], [4], [4, 11, 0],
    [4.5, 1], ["4", "11"], [True, False], [None, None], [-1, 0], [6, 0], [0, 12], [10**30, 0], [[4], [11]],
    [float("nan"), 0],
]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=repr)
def test_a_choice_outside_the_figure_never_reaches_the_page(value):
    called = []
    assert not receive({"choose": value}, "choose", lambda v: indices(v, (6, 12)), lambda *at: called.append(at))
    assert called == []


@pytest.mark.parametrize("sent", [None, "text", [], {"other": [1, 2]}])
def test_nothing_sent_calls_nothing(sent):
    called = []
    assert not receive(sent, "choose", lambda v: indices(v, (6, 12)), lambda *at: called.append(at))
    assert called == []


def test_a_valid_choice_arrives_as_arguments():
    called = []
    assert receive({"choose": [5, 11]}, "choose", lambda v: indices(v, (6, 12)), lambda *at: called.append(at))
    assert called == [(5, 11)]


@pytest.mark.parametrize("value", [None, "1", [1, "2"], [1, 3], [-1], [True], [0, 0, 1, 1], {"0": 1}], ids=repr)
def test_a_selection_of_anything_but_points_is_refused(value):
    assert selection(value, 3) is None


def test_a_selection_is_sorted_and_without_repetition():
    assert selection([2, 0, 2], 3) == (0, 2)
    assert selection([], 3) == ()


@pytest.mark.parametrize("view", PIECES)
def test_drawing_code_sets_text_as_text_and_needs_no_network(view):
    code = script(view)
    forbidden = r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|addEventListener"
    assert not re.search(forbidden, code)
    assert not re.search(r"https?:|\bfetch\(|XMLHttpRequest|WebSocket|\bimport\b", code)
    assert len(re.findall(r"^function draw\(component\)", code, re.MULTILINE)) == 1
    names = re.findall(r"^(?:async )?function (\w+)|^const (\w+) =", code, re.MULTILINE)
    assert len(names) == len(set(names)), "two pieces define the same name"


def test_the_style_sheet_loads_nothing():
    assert not re.search(r"@import|url\(|@font-face", style())


@pytest.mark.parametrize("view", PIECES)
def test_drawing_code_stays_small(view):
    assert len(script(view)) + len(style()) < 95_000
