"""Repeated random tokens: exact copies of ordinary words between the model's own special tokens."""

from types import SimpleNamespace

import numpy as np
import pytest

from lib.corpora import encode, from_text, repeated_tokens
from lib.errors import HeadlightError
from tests.corpora.conftest import engine_of


def test_copies_are_exact_and_framed(engine):
    sequences = repeated_tokens(engine, length=10, copies=3, count=4, seed=1)
    assert len(sequences) == 4
    frame = encode(from_text("cat")[0], engine).table
    special = frame.token_id[frame.is_special].tolist()
    for sequence in sequences:
        inner = sequence.token_ids[~sequence.table.is_special]
        assert inner.size == 30
        assert (inner.reshape(3, 10) == inner[:10]).all()
        assert len(set(inner[:10].tolist())) == 10
        assert sequence.token_ids[sequence.table.is_special].tolist() == special
        assert not set(inner.tolist()) & engine.special_ids


def test_seeds_repeat_and_differ(minilm):
    def ids(seed):
        return [sequence.token_ids.tolist() for sequence in repeated_tokens(minilm, 12, count=3, seed=seed)]

    assert ids(0) == ids(0) and ids(0) != ids(1)
    assert len({tuple(sequence) for sequence in ids(0)}) == 3


@pytest.mark.parametrize("kind", ["MiniLM", "SmolLM2"])
def test_words_of_real_vocabularies_are_whole(engines, kind):
    engine = engines(kind)
    (sequence,) = repeated_tokens(engine, 100, count=1)
    table = sequence.table.at(~sequence.table.is_special)
    assert all(text.isascii() and text.isalpha() and len(text) >= 3 for text in table.text)
    entries = engine.tokenizer.convert_ids_to_tokens(table.token_id.tolist())
    assert all(not entry.startswith("##") for entry in entries)
    assert kind == "MiniLM" or all(entry.startswith("Ġ") for entry in entries)


def test_window_and_kind_are_respected(minilm):
    with pytest.raises(HeadlightError, match="a length of at most 255"):
        repeated_tokens(minilm, 256)
    assert len(repeated_tokens(minilm, 255, count=1)[0].token_ids) == 512
    with pytest.raises(HeadlightError, match="text model"):
        repeated_tokens(engine_of(minilm.tokenizer, kind="vision"), 10)
    with pytest.raises(HeadlightError, match="at least 1"):
        repeated_tokens(minilm, 0)


def test_a_model_without_tokenizer_gets_its_own_ids(minilm):
    model = SimpleNamespace(config=SimpleNamespace(vocab_size=30))
    engine = engine_of(minilm.tokenizer, max_length=64, require_loaded=lambda: model)
    engine.tokenizer, engine.special_ids = None, frozenset({0, 1})
    (sequence,) = repeated_tokens(engine, 25, count=1)
    assert len(sequence.token_ids) == 50 and sequence.token_ids.min() >= 2 and sequence.token_ids.max() < 30
    assert sequence.table.text == tuple(map(str, sequence.token_ids))
    assert np.array_equal(sequence.table.word, np.arange(50))
