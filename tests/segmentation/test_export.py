"""A cut as text, JSON, CSV and blocks."""

import csv
import io
import json

import numpy as np
import pytest

from lib.segmentation import Segmentation, as_blocks, as_csv, as_json, as_text
from lib.segmentation.naming import distinctive_words
from lib.segmentation.topics import topic_names

TEXT = "=1+1 is two. We\nleft <b>early</b>."


@pytest.fixture
def cut():
    gaps = np.array([4, 7, 12, 15])
    return Segmentation(TEXT, "sentence", gaps, np.array([0.0, 0.2, 0.9, 0.4]), [12], 0.5, "by hand")


def test_text_has_a_segment_a_line(cut):
    assert as_text(cut) == "=1+1 is two.\nWe left <b>early</b>.\n"


def test_json_holds_what_is_known(cut):
    data = json.loads(as_json(cut, {"model": "m"}))
    assert data["model"] == "m"
    assert data["boundaries"] == [12]
    assert [s["text"] for s in data["segments"]] == ["=1+1 is two.", "We\nleft <b>early</b>."]
    assert [s["confidence"] for s in data["segments"]] == [0.9, None]


def test_csv_runs_nothing(cut):
    rows = list(csv.DictReader(io.StringIO(as_csv(cut))))
    assert rows[0]["text"] == "'=1+1 is two."
    assert (rows[1]["start"], rows[1]["end"]) == ("13", str(len(TEXT)))


def test_blocks_follow_one_another_in_time(cut):
    blocks = as_blocks(cut, words_per_minute=60)
    assert blocks.startswith("1\n00:00:00,000 --> 00:00:03,000\n=1+1 is two.\n")
    assert "2\n00:00:03,000 --> 00:00:06,000\nWe\nleft" in blocks


def test_a_threshold_cuts_anew(cut):
    assert cut.confidence.tolist() == [0.9]
    assert cut.at(0.3).boundaries.tolist() == [12, 15]
    assert cut.at(0.95).boundaries.tolist() == []
    assert cut.at(0.0).boundaries.tolist() == [7, 12, 15]  # a score of 0 is no place to cut
    assert len(cut.at(0.3).segments) == 3


def test_names_are_the_words_others_lack():
    names = distinctive_words(["The lake froze. The cold lake.", "The printer jams; cold.", "12 !"])
    assert names[0].split(" · ")[0] == "lake"
    assert "printer" in names[1] and "cold" not in names[1].split(" · ")[0]
    assert names[2] == ""
    assert distinctive_words(["a lake, a lake, a boat"], count=1) == ("lake",)


def test_what_recurs_names_a_topic_and_one_topic_has_no_name():
    names = distinctive_words(["We saw a lake, a lake so astonishing.", "I'll call, and I'll call the printer."])
    assert names[0] == "lake"
    assert names[1] == "call"
    text = "The lake froze. The printer jams."
    assert topic_names(text, [15]) == distinctive_words([text[:15], text[16:]])
    assert topic_names(text, []) == ()
