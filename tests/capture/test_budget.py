"""What a run will take, and the refusal of what does not fit."""

import re

import numpy as np
import pytest

from lib.capture import TooLarge, capture, estimate, pattern
from lib.capture.budget import memory_limit
from lib.corpora.tokens import encode_ids
from lib.models import Engine
from tests.capture.families import tiny


@pytest.fixture(scope="module")
def engine():
    return Engine.from_parts(tiny("bert"), name="bert")


def text(engine, length):
    return encode_ids(np.random.default_rng(0).integers(3, 40, length), engine)


def test_bytes_are_those_of_the_arrays(engine):
    documents = [text(engine, 7), text(engine, 12)]
    captured = capture(engine, documents)
    kept = sum(getattr(captured, name).nbytes for name in ("query", "key", "value", "z"))
    found = estimate(engine, documents)
    assert found.bytes == kept == 4 * 2 * 3 * 19 * 8 * 4
    assert found.patterns_bytes == sum(pattern(engine, document).nbytes for document in documents)
    assert found.fits
    assert found.seconds > 0
    half = estimate(engine, documents, layers=[0])
    assert (half.bytes, half.patterns_bytes) == (found.bytes // 2, found.patterns_bytes // 2)
    assert estimate(engine, [7, 12]).bytes == kept


def test_streams_of_an_encoder_decoder_are_all_counted():
    engine = Engine.from_parts(tiny("t5"), name="t5")
    document = text(engine, 9)
    captured = capture(engine, [document])
    kept = sum(getattr(c, n).nbytes for c in captured.streams.values() for n in ("query", "key", "value", "z"))
    assert estimate(engine, [document]).bytes == kept


def test_longer_takes_longer(engine):
    short, long = (estimate(engine, [n]).seconds for n in (10, 1000))
    assert long > 100 * short  # attention grows with the square


def test_too_much_is_refused_with_a_way_out_that_works(engine, monkeypatch):
    document = text(engine, 64)
    size = pattern(engine, document).nbytes  # of two layers
    passing = 3 * size // 2
    monkeypatch.setenv("HEADLIGHT_MEMORY", str(passing + size // 2))
    with pytest.raises(TooLarge, match=r"Choose at most 1 of these 2 layers.*or texts of at most \d+ tokens"):
        pattern(engine, document)
    assert pattern(engine, document, layers=[1]).shape == (1, 3, 64, 64)
    monkeypatch.setenv("HEADLIGHT_MEMORY", str(size // 2))
    with pytest.raises(TooLarge) as refused:
        pattern(engine, document)
    fitting = int(re.search(r"at most (\d+) tokens", str(refused.value))[1])
    assert 8 < fitting < 64
    assert pattern(engine, text(engine, fitting)).shape[2] == fitting


def test_a_corpus_that_is_too_large_may_be_cut(engine, monkeypatch):
    documents = [text(engine, 20)] * 10
    kept = estimate(engine, documents).bytes
    passing = estimate(engine, documents).passing_bytes
    monkeypatch.setenv("HEADLIGHT_MEMORY", str(passing + kept * 7 // 10))
    with pytest.raises(TooLarge, match="at most 7 of these 10 documents"):
        capture(engine, documents)
    assert capture(engine, documents[:7]).documents == 7


def test_nothing_is_computed_before_the_refusal(engine, monkeypatch):
    document = text(engine, 64)
    estimate(engine, [document])
    monkeypatch.setenv("HEADLIGHT_MEMORY", "1K")
    monkeypatch.setattr(type(engine.model), "forward", lambda *_: pytest.fail("the model ran"))
    with pytest.raises(TooLarge, match="HEADLIGHT_MEMORY"):
        capture(engine, [document])


@pytest.mark.parametrize("limit", ["0", "1", "1K"])
def test_a_refusal_never_offers_nothing(limit, engine, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MEMORY", limit)
    for ask in (lambda d: pattern(engine, d), lambda d: capture(engine, [d])):
        with pytest.raises(TooLarge, match="HEADLIGHT_MEMORY") as refused:
            ask(text(engine, 64))
        assert "at most 0" not in refused.value.remedy
        assert "Choose , " not in refused.value.remedy


def test_four_thousand_tokens_of_all_layers_are_refused(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MEMORY", "2G")
    config = tiny("llama").config
    config.num_hidden_layers, config.max_position_embeddings = 30, 4096
    engine = Engine.from_parts(type(tiny("llama"))(config), name="long")
    document = text(engine, 4000)
    assert not estimate(engine, [document], keep=("pattern",)).fits
    with pytest.raises(TooLarge, match=r"17\.\d+|18\.\d+"):
        pattern(engine, document)


@pytest.mark.parametrize(
    ("given", "bytes_"), [("500M", 500 << 20), ("8G", 8 << 30), ("1.5 gb", 3 << 29), ("1024", 1024)]
)
def test_the_limit_is_read_from_the_environment(given, bytes_, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MEMORY", given)
    assert memory_limit() == bytes_


@pytest.mark.parametrize("given", ["plenty", "1.2.3", ".", "1.2.3G", "-1", "8 G G"])
def test_a_limit_that_says_nothing_is_refused(given, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_MEMORY", given)
    with pytest.raises(ValueError, match="HEADLIGHT_MEMORY such as 500M"):
        memory_limit()


def test_without_a_limit_a_share_of_free_memory(monkeypatch):
    monkeypatch.delenv("HEADLIGHT_MEMORY", raising=False)
    assert 0 < memory_limit() < 1 << 50
