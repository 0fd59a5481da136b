import numpy as np
import pytest

from lib.corpora import builtin, encode_ids, from_text
from lib.heads import examples, layer_profile, profile, tally_heads
from lib.heads.examples import _ranks, sequences
from lib.heads.scene import scene
from lib.models import Engine
from tests.capture.families import tiny
from tests.heads.planted import CLS, PERIOD, SEP, table


def test_a_previous_token_head_reads_at_lag_one(minilm, articles):
    found = profile(minilm, articles, 0, 2)
    lags = found.lags.set_index("lag")
    assert lags.share.idxmax() == 1 and lags.share[1] > 0.6
    assert lags.low[1] > lags.chance[1] and lags.lift[1] > 50
    assert lags.share.sum() == pytest.approx(1, rel=1e-4)
    assert lags.chance.sum() == pytest.approx(1, rel=1e-4)


def test_tokens_read_from_and_written_to(minilm, articles):
    found = profile(minilm, articles, 4, 5)  # rests on [CLS]
    cls = found.read.set_index("token").loc["[CLS]"]
    assert found.read.token[0] == "[CLS]" and cls.lift > 20 and cls["count"] == cls.documents == 6
    assert (found.read["count"] >= 5).all()
    longest = found.written.iloc[found.written.lift.argmax()]
    assert longest.token != "[CLS]" and longest.lift > 1 and found.written.lift.min() < 1


def test_shares_and_lifts_by_hand():
    engine = Engine.from_parts(tiny("gpt2"))
    document = encode_ids(np.array([5, 6, 5, 6, 5]), engine)
    found = profile(engine, [document], 0, 0, least=1).read.set_index("token")
    seen = scene(engine, document).seen
    uniform = (seen / seen.sum(1, keepdims=True)).sum(0)
    assert found.chance["5"] == pytest.approx(uniform[[0, 2, 4]].sum() / 5)
    assert found.share.sum() == pytest.approx(1) and found["count"]["5"] == 3
    assert found.lift["6"] == pytest.approx(found.share["6"] / found.chance["6"])


def test_lags_are_not_defined_between_two_texts():
    engine = Engine.from_parts(tiny("t5"))
    document = encode_ids(np.arange(3, 15), engine)
    assert profile(engine, [document], 0, 1, stream="cross").lags.empty
    assert len(profile(engine, [document], 0, 1, stream="decoder").lags) == 13  # causal: lags 0 … 12


def test_sequences_are_sentences_or_stretches():
    ids = [CLS, 1, 2, PERIOD, 3, 4, SEP]
    assert sequences(table(ids, [0, 0, 0, 0, 1, 1, 1])) == [(1, 3), (4, 5)]
    assert sequences(table(range(1, 71))) == [(0, 31), (32, 63), (64, 69)]
    assert sequences(table([CLS, SEP])) == []


def test_buckets_do_not_overlap_and_end_at_the_weakest():
    assert [r for b, r in _ranks(100, 2) if b == "strongest"] == [0, 1]
    assert [r for b, r in _ranks(100, 2) if b == "typical"] == [49, 50]
    assert [r for b, r in _ranks(100, 2) if b == "weakest"] == [98, 99]
    for count in (1, 2, 5, 100):
        ranks = [rank for _, rank in _ranks(count, 3)]
        assert len(set(ranks)) == len(ranks) and set(ranks) <= set(range(count))


def test_examples_run_from_the_strongest_to_the_typical(minilm, articles):
    found = examples(minilm, articles, 2, 9, score="duplicate_token", per_bucket=2)
    assert found["rank"].is_monotonic_increasing and found.score.is_monotonic_decreasing
    assert found["rank"][0] == 1 and set(found.bucket) == {
        "strongest",
        "top tenth",
        "upper quarter",
        "typical",
        "weakest",
    }
    best = found.iloc[0]
    assert best.text in articles[best.document].text and len(best.text) > 10
    assert best.score > 1.3 * found.score[found.bucket == "typical"].max()


def test_examples_lie_within_the_token_limit(minilm, articles):
    whole, short = (examples(minilm, articles, 2, 9, max_length=most) for most in (None, 40))
    assert whole["last"].max() > 40 > short["last"].max()
    assert short["of"][0] < whole["of"][0]


def test_examples_need_a_score_that_exists(minilm):
    with pytest.raises(ValueError, match="previous_token"):
        examples(minilm, from_text("One. Two."), 0, 0, score="loudness")
    with pytest.raises(ValueError, match="Choose another score"):
        examples(minilm, from_text("One two three four."), 0, 0, score="comma")


def test_examples_of_images_and_of_ids(dinov2, smollm2):
    found = examples(dinov2, builtin("photographs"), 2, 3, score="left")
    assert set(found.text) == {"china", "flower"}
    ids = [encode_ids(np.arange(100, 140), smollm2)]
    assert len(examples(smollm2, ids, 1, 2, per_bucket=1)) == 2


def test_scores_by_layer(minilm, articles):
    tally = tally_heads(minilm, articles)
    table = layer_profile(tally)
    cls = table[table.score == "cls"]
    assert cls.layer.tolist() == list(range(6)) and (cls.low <= cls.value).all() and (cls.value <= cls.high).all()
    assert cls.value.idxmax() in cls.index[2:5] and (cls.value.iloc[1:5] > 10 * cls.chance.iloc[1:5]).all()
    assert "grid_distance" not in set(table.score)
    gap = table[table.score == "norm_gap"].set_index("layer")
    assert gap.value[0] == pytest.approx(tally.of("norm_gap")[0].estimate[0].mean(), rel=1e-5)
