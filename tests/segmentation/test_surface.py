"""Surface cues on words, and what marks them."""

import numpy as np

from lib.corpora import Document
from lib.corpora.words import word_spans
from lib.segmentation.calibration import combined_cues, threshold_for
from lib.segmentation.gold import digests
from lib.segmentation.surface import CUES, surface_cues


def cues_of(text):
    words, start = [], 0
    for word in text.split():
        start = text.index(word, start)
        words.append((start, start + len(word)))
        start += len(word)
    return surface_cues(text, words)


def at(text, gap):
    return dict(zip(CUES, cues_of(text)[gap], strict=True))


def test_marks_capitals_and_lines():
    cues = at('He said "stop."\nThen we left', 2)
    assert cues["ends with ."] == cues["closing quote or bracket"] == cues["next capital"] == cues["line end"] == 1
    assert cues["empty line"] == cues["ends with ,"] == cues["next small"] == 0
    assert cues["after: ADV"] == 0


def test_abbreviations_initials_and_numbers():
    assert at("saw Dr. Oh there", 1)["abbreviation"] == 1
    assert at("by J. Doe there", 1)["single letter"] == 1
    assert at("about 3 boats", 1)["number before"] == 1
    assert at("the end. So", 1)["abbreviation"] == 0


def test_distances_are_counted_in_words():
    text = "one two. three four five. six"
    assert cues_of(text)[:, CUES.index("words since mark")].tolist() == [1, 2, 1, 2, 3]
    assert at(text, 2)["words from the next to a later mark"] == 1


def test_no_word_no_cue():
    assert surface_cues("", []).shape == (0, len(CUES))
    assert surface_cues("one", word_spans("one")).shape == (0, len(CUES))


def test_attention_beside_cues():
    cues = np.zeros((3, 2), dtype=np.float32)
    joined = combined_cues(cues, np.array([1.0, 5.0, 2.0]))
    assert joined.shape == (3, 7)
    assert joined[:, 2].tolist() == [1, 5, 2]
    assert joined[:, 5].tolist() == [-4, 3, -3]  # how far above every other gap within three


def test_the_best_threshold_by_hand():
    # taking 3 gaps: 2 of 3 right, F1 = 4/5; taking 1: F1 = 2/3
    assert threshold_for(np.array([4.0, 3.0, 2.0, 1.0]), [True, False, True, False]) == 1.5
    assert threshold_for(np.array([1.0]), [False]) == np.inf


def test_a_document_is_known_under_every_condition():
    written, bare = digests([Document("a", "It's late, isn't it?"), Document("b", "it's late isn't it")])
    assert written == bare
    assert digests([Document("c", "its late")])[0] != bare
