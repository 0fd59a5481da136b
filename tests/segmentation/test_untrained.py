"""One signal without training, how well signals separate, and all methods on one text."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some
from sklearn.metrics import roc_auc_score

from lib.corpora import builtin
from lib.segmentation import (
    SegmentationError,
    TextSignals,
    averaged_signals,
    every_cut,
    read_tokens,
    segment,
    segment_by_signal,
    separation,
    signals_there,
)

TALK = "so we met at the station and walked down to the lake it was cold and nobody wanted to swim"


def signals(values):
    values = np.asarray(values, dtype=np.float32)[None, None, :, None]
    return TextSignals(values, ("self",), (0,), np.arange(values.shape[2]))


def test_separation_by_hand():
    """Boundaries at 3 and 1, others at 2 and 0: of the four pairs three are in order, so AUC is 3/4."""
    everywhere = np.ones(4, dtype=bool)
    found = separation(signals([3, 2, 1, 0]), np.array([True, False, True, False]), everywhere, shifts=3)
    assert found.values.tolist() == [[[0.5]]]
    assert (found.boundaries, found.gaps) == (2, 4)


@settings(deadline=None, max_examples=40)
@given(some.lists(some.tuples(some.integers(0, 4), some.booleans()), min_size=4, max_size=40), some.integers(0, 9))
def test_separation_is_the_oracles_also_with_ties(rows, seed):
    values, target = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows])
    allowed = np.random.default_rng(seed).random(len(rows)) < 0.8
    if not 0 < target[allowed].sum() < allowed.sum():
        with pytest.raises(SegmentationError, match="a boundary and with a gap"):
            separation(signals(values), target, allowed)
        return
    found = separation(signals(values), target, allowed, shifts=5).values[0, 0, 0]
    assert found == pytest.approx(2 * roc_auc_score(target[allowed], values[allowed]) - 1)


def test_noise_stays_below_the_chance_of_the_best_and_a_signal_does_not():
    rng = np.random.default_rng(0)
    target = rng.random(600) < 0.05
    values = rng.normal(size=(3, 4, 600, 5)).astype(np.float32)
    values[1, 2, :, 3] += 3 * target
    found = separation(TextSignals(values, tuple("abcde"), (0, 1, 2), np.arange(600)), target, np.ones(600, bool))
    above = np.argwhere(np.abs(found.values) > found.chance)
    assert [1, 2, 3] in above.tolist()
    assert len(above) <= 2


def test_the_same_signals_read_before_give_the_same_cut(engine):
    known = averaged_signals(engine, read_tokens(TALK, engine), ["z_cosine_1"])
    first = segment_by_signal(TALK, engine, "z_cosine_1", layer=2, head=3)
    again = segment_by_signal(TALK, engine, "z_cosine_1", layer=2, head=3, signals=known)
    assert np.array_equal(first.score, again.score)
    mean = segment_by_signal(TALK, engine, "z_cosine_1", layer=-1, signals=known)
    assert mean.method == "z_cosine_1 of all layers, mean over heads, untrained"


def test_a_model_that_looks_back_lacks_what_looks_ahead(engine, decoder):
    assert set(signals_there(engine)) - set(signals_there(decoder)) == {
        "from_first", "next", "from_earlier", "forward_share", "ahead_near", "ahead_far", "to_last", "from_last",
    }  # fmt: skip


def test_every_method_cuts_a_text_whose_truth_is_unknown(engine):
    reports = []
    found = every_cut(TALK, engine, progress=lambda *report: reports.append(report))
    names = [one.method for one in found]
    assert {"all heads", "attention to [SEP], last layer, untrained", "rule . ! ?"} <= set(names)
    assert reports[-1][:2] == (len(found), len(found))
    assert np.array_equal(found[0].boundaries, segment(TALK, engine).boundaries)
    assert all(one.seconds >= 0 for one in found)


def test_every_topic_method_cuts_at_ends_of_sentences(engine):
    document = builtin("topics")[0]
    ends = {end for _, end in document.sentences}
    for one in every_cut(document.text, engine, document.sentences):
        assert set(one.boundaries.tolist()) <= ends, one.method


@pytest.mark.parametrize(("text", "sentences"), [("", []), ("It rained.", [(0, 10)]), ("", None), ("?!", None)])
def test_every_method_leaves_alone_what_cannot_be_cut(engine, text, sentences):
    found = every_cut(text, engine, sentences)
    assert len(found) > 5
    assert not any(len(one.boundaries) for one in found)


@pytest.mark.parametrize("count", [2, 3, 4])
@pytest.mark.parametrize("sentence", ["It rained.", "?!"])
def test_every_topic_method_reads_a_few_sentences_also_when_all_are_the_same(engine, count, sentence):
    text = " ".join([sentence] * count)
    spans = [(i * (len(sentence) + 1), i * (len(sentence) + 1) + len(sentence)) for i in range(count)]
    ends = {end for _, end in spans[:-1]}
    assert all(set(one.boundaries.tolist()) <= ends for one in every_cut(text, engine, spans))


def test_a_condition_can_be_asked_for(engine):
    assert "as asked" in segment(TALK, engine, condition="lowered").notes[0]
    with pytest.raises(SegmentationError, match="'loud'"):
        segment(TALK, engine, condition="loud")


@pytest.mark.parametrize("text", ["", " ", "\x00", "word"])
@pytest.mark.parametrize("signal", ["to_last", "from_first", "self"])
def test_a_text_of_no_tokens_has_the_signals_of_its_model_all_the_same(engine, text, signal):
    cut = segment_by_signal(text, engine, signal)
    assert len(cut.boundaries) == len(cut.gaps) == 0
