"""The picture of a cut text: what is sent, what is left out, which threshold comes back."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from lib.views.component import indices, receive
from lib.views.packet import MAX_BYTES, unpack
from lib.views.segments import AS_FOUND, segments_figure, utf16_offsets

TEXT = "Ah 🦊 so. Yes."


def test_offsets_are_counted_as_a_browser_does():
    figure = segments_figure(TEXT, [2, 4, 8], [0.1, 0.0, 0.9], [8], 0.5, gold=[8])
    meta, arrays = unpack(figure.packet)
    assert bytes(arrays["text"]).decode() == TEXT
    assert np.cumsum(arrays["steps"]).tolist() == [2, 9]  # the gap of score 0 is no candidate; the fox counts two
    assert arrays["found"].tolist() == [0, 1]
    assert arrays["gold"].tolist() == [0, 1]
    assert meta["unreachable"] == 0
    assert TEXT.encode("utf-16-le")[: 2 * 9].decode("utf-16-le") == "Ah 🦊 so."


@settings(deadline=None)
@given(some.text(max_size=40))
def test_utf16_offsets_are_the_lengths_of_beginnings(text):
    lengths = [len(text[:i].encode("utf-16-le", "surrogatepass")) // 2 for i in range(len(text) + 1)]
    assert utf16_offsets(text).tolist() == lengths


def test_a_text_without_gaps_and_a_true_boundary_out_of_reach():
    meta, arrays = unpack(segments_figure("word", [], [], [], None, gold=[3]).packet)
    assert len(arrays["steps"]) == 0
    assert meta["threshold"] is None
    assert meta["unreachable"] == 1


@pytest.mark.parametrize("word", ["word ", "단어 ", "🦊 "])
def test_200_000_words_fit_and_what_is_left_out_is_said(word):
    text = word * 200_000
    gaps = np.arange(len(word) - 1, len(text) - len(word), len(word))
    figure = segments_figure(text, gaps, np.full(len(gaps), 0.7), gaps, 0.5)
    meta, arrays = unpack(figure.packet)
    assert len(figure.packet) < MAX_BYTES
    assert "downloads hold everything" in meta["note"]
    sent = bytes(arrays["text"]).decode()
    assert text.startswith(sent)
    assert arrays["steps"].sum() < len(sent.encode("utf-16-le")) // 2


def test_another_threshold_is_the_same_text():
    first, second = (unpack(segments_figure(TEXT, [2, 8], [0.1, 0.9], [8], 0.5, start=k).packet)[0] for k in (None, 70))
    assert first["id"] == second["id"]
    assert (first["start"], second["start"]) == (None, 70)


@pytest.mark.parametrize(("sent", "told"), [([0], [0]), ([1000], [1000]), ([AS_FOUND], [AS_FOUND]), ([1002], []),
                                            ([-1], []), ([0.5], []), ("500", []), ([True], [])])  # fmt: skip
def test_only_a_threshold_comes_back(sent, told):
    heard = []
    bounds = segments_figure(TEXT, [2], [0.5], [], 0.5).bounds
    receive({"choose": sent}, "choose", lambda value: indices(value, bounds), heard.append)
    assert heard == told
