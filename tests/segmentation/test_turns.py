"""Speakers' labels: where turns begin, and that text which only looks like a transcript is left alone."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.segmentation import segment
from lib.segmentation.conditions import under
from lib.segmentation.gold import gold_documents
from lib.segmentation.turns import CERTAIN, turn_scores


def told(text: str) -> tuple[list[str], list[str]]:
    """Words before which a turn surely begins, and words after which it surely does not end."""
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    scores = turn_scores(text, spans)
    words = text.split()
    begins = [words[i + 1] for i in np.flatnonzero(scores > 0)]
    return begins, [words[i] for i in np.flatnonzero(scores < 0)]


def test_labels_open_turns_and_never_end_one():
    begins, goes_on = told("Ann: It rained. All day. Bo: Again? Ann: Yes. Bo: Oh: no.")
    assert begins == ["Bo:", "Ann:", "Bo:"]
    assert goes_on == ["Ann:", "Bo:", "Ann:", "Bo:"]  # not "Oh:", which recurs nowhere


def test_labels_of_several_words_and_after_initials():
    begins, goes_on = told("Speaker 1: Spell it. Dr. Osei: O, S, E, I. Speaker 1: Thanks. Dr. Osei: Sure.")
    assert begins == ["Dr.", "Speaker", "Dr."]
    assert goes_on == ["Speaker", "1:", "Dr.", "Osei:"] * 2


def test_labels_of_four_words_and_times_belong_together():
    begins, goes_on = told("[00:12] Dr. Ann Lopez: so [00:15] Bo: yeah [00:20] Dr. Ann Lopez: right [1:00:02] Bo: oh")
    assert begins == ["[00:15]", "[00:20]", "[1:00:02]"]
    assert goes_on[:6] == ["[00:12]", "Dr.", "Ann", "Lopez:", "[00:15]", "Bo:"]


def test_full_width_colons_and_what_stands_on_the_next_line():
    begins, goes_on = told("Ann：It rained.\nBo： Again?\nAnn： Yes.\nBo：\nOh.\nAnn： No.")
    assert begins == ["Bo：", "Ann：", "Bo：", "Ann："]
    assert goes_on == ["Bo：", "Ann：", "Ann："]


def test_line_ends_open_turns_where_nothing_is_finished():
    begins, _ = told("Ann: so yeah\nBo: what\nAnn: the file: it was gone\nBo: oh")
    assert begins == ["Bo:", "Ann:", "Bo:"]


def test_labels_of_one_word_are_enough_where_neither_marks_nor_lines_are_left():
    begins, goes_on = told("ann: so yeah bo: what ann: it was gone bo: oh")
    assert begins == ["bo:", "ann:", "bo:"]
    assert goes_on == ["ann:", "bo:", "ann:", "bo:"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one",
        "Note: It rained. Note: It rained again. Then it was dry.",  # one label alone is no conversation
        "We need: salt. We have: pepper, and that is all. Nobody minds.",  # none recurs
        "It rained (see file: a). And again (see file: b), and on. (see file: c)",
        "At 10:30 it rained. At 11:45 too. It: no.",
        "The board made this decision: the mill closes. Nobody liked it. He put it this way: a town is a mill. The "
        "next decision: the land is sold. She said it in her own way: never.",
        'She turned and said: "Sit down." He looked up and asked: "Why?" She said: "So." He asked: "Now?"',
        "New York: Wiley. Boston: Ginn. In New York: Wiley, and in Boston: Ginn, again. " + "It rained all day. " * 300,
        "Copies of the file\nare met: 1. Keep it.\nOr the terms\nof use: 2. Keep.\nThese\nare met: 3. Or\nof use: no.",
    ],
)
def test_other_text_has_no_turns(text):
    assert told(text) == ([], [])


@given(st.lists(st.sampled_from(["Ann:", "Bo:", "yes.", "no", "Dr.", ":", "\n", "file:", "“Oh.”"]), max_size=30))
def test_scores_are_certain_or_silent_one_a_gap(words):
    text = " ".join(words)
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    scores = turn_scores(text, spans)
    assert scores.shape == (max(0, len(spans) - 1),)
    assert set(np.abs(scores)) <= {0.0, CERTAIN}
    assert np.array_equal(turn_scores("  " + text, [(a + 2, b + 2) for a, b in spans]), scores)


@pytest.mark.parametrize("condition", ["written", "lowered", "unstopped", "lowered-unstopped"])
def test_no_turn_of_the_built_in_conversation_is_cut_from_its_speaker(condition):
    for document in (under(d, condition) for d in gold_documents("conversation")):
        speakers = [m.end() for m in re.finditer(r"(?<!\S)\w+:(?= )", document.text)]
        ends = {end for _, end in document.sentences}
        found = segment(document.text, None, condition=condition).boundaries
        assert len(speakers) > 10
        wrong = set(found.tolist()) & set(speakers) - ends
        assert not wrong, [document.text[max(0, b - 20) : b + 10] for b in wrong]
