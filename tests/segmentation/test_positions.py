"""Spans, offsets, gaps and positions are told back and forth without loss."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.corpora.sentences import spans_between
from lib.corpora.words import word_spans
from lib.models import catalogue, load
from lib.segmentation import read_tokens
from lib.segmentation.positions import boundaries_of, candidate_gaps, distinct_gaps, gaps_at

letters = st.characters(codec="utf-8", exclude_categories=("Z", "C"))
words = st.lists(st.text(letters, min_size=1, max_size=8), min_size=1)


@settings(deadline=None, max_examples=50)
@given(words, st.data())
def test_segments_to_boundaries_and_back(pieces, data):
    text = " ".join(pieces)
    ends = np.cumsum([len(piece) + 1 for piece in pieces]) - 1
    chosen = sorted(data.draw(st.sets(st.sampled_from(ends[:-1].tolist())))) if len(ends) > 1 else []
    segments = spans_between(text, chosen)
    assert boundaries_of(segments).tolist() == chosen
    assert spans_between(text, boundaries_of(segments)) == segments
    gaps = gaps_at(chosen, ends)
    assert ends[gaps].tolist() == chosen


@settings(deadline=None, max_examples=50)
@given(st.text(max_size=60), st.sets(st.integers(1, 59)))
def test_segments_keep_every_character_but_white_space(text, offsets):
    spans = spans_between(text, sorted(o for o in offsets if o < len(text)))
    assert "".join("".join(text[a:b].split()) for a, b in spans) == "".join(text.split())
    assert all(text[a:b] == text[a:b].strip() != "" for a, b in spans)


def test_a_boundary_belongs_to_the_gap_after_the_token_that_ends_there():
    ends = np.array([2, 5, 6, 10])
    assert gaps_at([5], ends).tolist() == [1]
    assert gaps_at([7], ends).tolist() == [2]  # between tokens: the one before
    assert gaps_at([1, 10, 12], ends).tolist() == []  # before the first end; at and after the last
    assert gaps_at([5, 5, 6], ends).tolist() == [1, 2]


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("We left. It rained", ["We", "left.", "It"]),
        ("他来了。我走了", ["他", "来", "了。", "我", "走"]),
        ("왔다. 갔다", ["왔다."]),
    ],
)
def test_text_is_cut_at_white_space_and_where_scripts_have_none(text, after):
    start, end = np.array(word_spans(text)).T
    cuts = end[:-1][candidate_gaps(text, start, end)]
    assert cuts.tolist() == np.array([text.index(word) + len(word) for word in after]).tolist()


PLAIN = "  Dr. Oh left at 5 p.m. sharp.\n\nWhy?  It rained all day, so nobody swam. "


def places(text, engine):
    """Where a text can be cut, as a model's tokens have it."""
    tokens = read_tokens(text, engine)
    assert (np.diff(tokens.end) >= 0).all() and (tokens.start <= tokens.end).all()
    allowed = candidate_gaps(text, tokens.start, tokens.end)
    assert not (allowed & ~distinct_gaps(tokens.end)).any()  # one gap at a place
    for gap in np.flatnonzero(allowed):  # the gap before the next token that is more than white space
        assert text[tokens.start[gap + 1] : tokens.end[gap + 1]].strip()
        assert gaps_at([tokens.end[gap]], tokens.end).tolist() == [gap]
    return tokens.end[:-1][allowed].tolist()


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "SmolLM2-135M-Instruct", "base"])
@pytest.mark.parametrize("text", [PLAIN, PLAIN.replace(" ", "\u00a0"), PLAIN.strip().replace(" ", "\n"), "a\t \n b"])
def test_words_are_what_can_be_parted_whether_white_space_is_a_token_or_not(name, text):
    entry = next(entry for entry in catalogue() if entry.name == name)
    if not entry.available:
        pytest.skip(f"{name} is not installed: {entry.why_not}")
    ends = np.cumsum([len(word) for word in text.split()])  # without the white space
    offsets = [i + 1 for i in range(len(text)) if len("".join(text[: i + 1].split())) in ends[:-1] and text[i].strip()]
    assert places(text, _loaded(name)) == offsets


@cache
def _loaded(name):
    return load(name, device="cpu")
