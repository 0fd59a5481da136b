"""The picture of a cut text: what is sent, what is left out, which threshold comes back."""

import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from lib.segmentation import Segmentation
from lib.views import segments
from lib.views.component import indices, receive
from lib.views.packet import MAX_BYTES, unpack
from lib.views.segments import AS_FOUND, STEPS, cut_at_each, segments_figure, thousandths, utf16_offsets

TEXT = "Ah 🦊 so. Yes."


def sent(figure):
    """What the browser has of a figure: its mapping, and all arrays with the deflated ones taken out."""
    meta, arrays = unpack(figure.packet)
    return meta, arrays | unpack(zlib.decompress(arrays["packed"].tobytes()))[1]


def test_offsets_are_counted_as_a_browser_does():
    figure = segments_figure(TEXT, [2, 4, 8], [0.1, 0.0, 0.9], [8], 0.5, gold=[8])
    meta, arrays = sent(figure)
    assert bytes(arrays["text"]).decode() == TEXT
    assert np.cumsum(arrays["steps"]).tolist() == [2, 9]  # the gap of score 0 is no candidate; the fox counts two
    assert arrays["found"].tolist() == [0, 1]
    assert arrays["gold"].tolist() == [0, 1]
    assert arrays["score"].tolist() == [101, 901]
    assert meta["true"] == 1 and "behind" not in arrays
    assert TEXT.encode("utf-16-le")[: 2 * 9].decode("utf-16-le") == "Ah 🦊 so."


@settings(deadline=None)
@given(some.text(max_size=40))
def test_utf16_offsets_are_the_lengths_of_beginnings(text):
    lengths = [len(text[:i].encode("utf-16-le", "surrogatepass")) // 2 for i in range(len(text) + 1)]
    assert utf16_offsets(text).tolist() == lengths


def test_a_text_without_gaps_and_a_true_boundary_out_of_reach():
    meta, arrays = sent(segments_figure("word", [], [], [], None, gold=[3]))
    assert len(arrays["steps"]) == 0
    assert meta["threshold"] is None
    assert meta["true"] == 1 and not arrays["gold"].sum()


@settings(deadline=None)
@given(some.lists(some.floats(0, 1, allow_subnormal=False), max_size=30), some.integers(0, STEPS))
def test_the_browser_cuts_where_python_does(scores, step):
    gaps = np.arange(1, len(scores) + 1)
    cut = Segmentation("x" * (len(scores) + 1), "sentence", gaps, scores, [], 0.5, "by hand").at(step / STEPS)
    reached = thousandths(np.array(scores))
    assert gaps[reached > step].tolist() == cut.boundaries.tolist()
    assert cut_at_each(reached, np.zeros(len(scores), bool))[step] == len(cut.boundaries)


def english(words, seed=0):
    """A text of that many words with their gaps, about as compressible as prose."""
    rng = np.random.default_rng(seed)
    known = ["".join(rng.choice(list("etaoinshrdlu"), rng.integers(2, 9))) for _ in range(8000)]
    chosen = [known[i] for i in np.minimum(rng.zipf(1.3, words), 8000) - 1]
    return " ".join(chosen), np.cumsum([len(word) + 1 for word in chosen])[:-1] - 1


def test_200_000_words_are_shown_to_their_end():
    text, gaps = english(200_000)
    score = np.random.default_rng(1).beta(0.1, 1, len(gaps))
    figure = segments_figure(text, gaps, score, gaps[score >= 0.5], 0.5)
    meta, arrays = sent(figure)
    assert len(figure.packet) < MAX_BYTES
    assert bytes(arrays["text"]).decode() == text and not meta["note"]


def test_what_is_left_out_of_a_text_is_said():
    letters = np.random.default_rng(0).integers(97, 123, 3_000_000).astype(np.uint8)
    letters[6::7] = ord(" ")
    text = letters.tobytes().decode()
    gaps = np.arange(6, len(text) - 7, 7)
    figure = segments_figure(text, gaps, np.full(len(gaps), 0.7), gaps, 0.5)
    meta, arrays = sent(figure)
    assert len(figure.packet) < MAX_BYTES
    assert "downloads hold everything" in meta["note"]
    shown = bytes(arrays["text"]).decode()
    assert text.startswith(shown) and len(shown) > 1_000_000
    assert arrays["steps"].sum() < len(shown)


def test_boundaries_behind_what_is_shown_are_counted(monkeypatch):
    monkeypatch.setattr(segments, "BYTES", 900)
    text, gaps = english(400)
    score = np.random.default_rng(2).random(len(gaps))
    found, gold = gaps[score > 0.8], gaps[::7]
    meta, arrays = sent(segments_figure(text, gaps, score, found, None, gold=gold))
    shown = len(bytes(arrays["text"]).decode())
    assert 0 < shown < len(text) and meta["true"] == len(gold)
    for step in (0, 1, 500, 999, 1000):
        inside = arrays["score"] > step
        cut = gaps[score >= step / STEPS]
        assert inside.sum() + arrays["behind"][0, step] == len(cut)
        assert (inside & (arrays["gold"] == 1)).sum() + arrays["behind"][1, step] == np.isin(cut, gold).sum()
    assert arrays["found"].sum() + arrays["behind"][0, AS_FOUND] == len(found)


def test_many_long_names_do_not_burst_the_picture():
    gaps = np.arange(1, 30_000)
    figure = segments_figure("단" * 30_000, gaps, np.ones(len(gaps)), gaps, None, names=["이름 " * 9] * 30_000)
    meta, _ = sent(figure)
    assert len(figure.packet) < MAX_BYTES
    assert 0 < len(meta["names"]) < 30_000


def test_another_threshold_is_the_same_text():
    first, second = (sent(segments_figure(TEXT, [2, 8], [0.1, 0.9], [8], 0.5, start=k))[0] for k in (None, 70))
    assert first["id"] == second["id"]
    assert (first["start"], second["start"]) == (None, 70)


@pytest.mark.parametrize(("value", "told"), [([0], [0]), ([1000], [1000]), ([AS_FOUND], [AS_FOUND]), ([1002], []),
                                            ([-1], []), ([0.5], []), ("500", []), ([True], [])])  # fmt: skip
def test_only_a_threshold_comes_back(value, told):
    heard = []
    bounds = segments_figure(TEXT, [2], [0.5], [], 0.5).bounds
    receive({"choose": value}, "choose", lambda answer: indices(answer, bounds), heard.append)
    assert heard == told
