"""Conditions of text, and recognising them."""

import pytest

from lib.corpora import Document, builtin
from lib.segmentation.conditions import CONDITIONS, recognise, under
from lib.segmentation.errors import SegmentationError

SENTENCES = ("It's late, isn't it?", "“Go home!”", "…", "We left.")


def document():
    text, spans = "", []
    for sentence in SENTENCES:
        text += " " if text else ""
        spans.append((len(text), len(text) + len(sentence)))
        text += sentence
    return Document("d", text, tuple(spans), topics=((0, spans[1][1]), (spans[2][0], len(text))), gold=True)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("written", list(SENTENCES)),
        ("unstopped", ["It's late, isn't it", "“Go home”", "We left"]),
        ("lowered", ["it's late, isn't it?", "“go home!”", "…", "we left."]),
        ("lowered-unstopped", ["it's late, isn't it", "“go home”", "we left"]),
        ("bare", ["it's late isn't it", "go home", "we left"]),
    ],
)
def test_sentences_under_each_condition(condition, expected):
    changed = under(document(), condition)
    assert [changed.text[a:b] for a, b in changed.sentences] == expected
    assert changed.text == " ".join(expected)
    assert changed.topics[-1][1] == len(changed.text)
    assert len(changed.topics) == 2


def test_paragraphs_stay():
    text = "One.\nTwo."
    changed = under(Document("p", text, ((0, 4), (5, 9)), ((0, 9),)), "bare")
    assert changed.text == "one\ntwo"


@pytest.mark.parametrize("condition", list(CONDITIONS))
@pytest.mark.parametrize("corpus", ["encyclopedia", "conversation"])
def test_long_texts_are_recognised(corpus, condition):
    changed = [under(d, condition) for d in builtin(corpus)[:12]]
    right = sum(recognise(d.text) == condition for d in changed)
    assert right >= 11


def test_text_without_letters_counts_as_written():
    assert recognise("") == recognise("…!?") == "written"


def test_an_unknown_condition_is_named():
    with pytest.raises(SegmentationError, match="'loud'"):
        under(document(), "loud")
