"""One name per capture: what was computed once is found by every question that it answers."""

import numpy as np
import pytest

from lib.capture import Store, capture, capture_key, stored
from lib.capture.value import ARRAYS
from lib.corpora import encode_ids
from lib.models import Engine
from tests.capture.families import tiny


def made(family):
    engine = Engine.from_parts(tiny(family), name=family)
    draw = np.random.default_rng(0)
    return engine, [encode_ids(draw.integers(3, 40, n), engine) for n in (7, 5, 9, 6)]


def counted(engine):
    passes = []
    engine.model.register_forward_pre_hook(lambda *_: passes.append(1))
    return passes


def same(one, other):
    assert (one.hash, one.lost, one.layers, one.stream) == (other.hash, other.lost, other.layers, other.stream)
    assert one.doc_offsets.tolist() == other.doc_offsets.tolist()
    assert one.key_doc_offsets.tolist() == other.key_doc_offsets.tolist()
    assert one.tokens.frame().equals(other.tokens.frame())
    for name in ARRAYS:
        ours, theirs = getattr(one, name), getattr(other, name)
        assert (ours is None) == (theirs is None)
        if ours is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("family", ["bert", "t5"])
def test_a_part_of_a_wider_capture_is_what_capture_would_have_given(family, tmp_path):
    engine, documents = made(family)
    expected = capture(engine, documents[1:3], ("z", "key"))
    store = Store(tmp_path)
    whole = stored(store, engine, documents)
    passes = counted(engine)
    found = stored(store, engine, documents[1:3], ("z", "key"), [(documents, 1)])
    assert passes == []
    same(found, expected)
    assert found.streams.keys() == whole.streams.keys()
    for name, one in found.streams.items():
        same(one, expected.streams[name])
    fewer = stored(store, engine, documents, ("query",))
    assert passes == []
    assert fewer.z is None and np.array_equal(fewer.query, whole.query)


def test_what_is_not_there_is_captured_once_under_its_own_name(tmp_path):
    engine, documents = made("bert")
    store = Store(tmp_path)
    passes = counted(engine)
    stored(store, engine, documents[:2], ("z",), [(documents, 0)])
    before = len(passes)
    assert before > 0
    again = stored(store, engine, documents[:2], ("z",), iter(()))
    assert len(passes) == before
    assert again.hash == capture_key(engine, documents[:2], ("z",))
    stored(store, engine, documents[:2], ("z", "key"))  # narrower ones do not serve
    assert len(passes) > before


def test_a_limit_that_cuts_nothing_changes_no_name(minilm_texts):
    engine, (short, long) = minilm_texts
    assert capture_key(engine, [short], max_length=64) == capture_key(engine, [short], max_length=200)
    assert capture_key(engine, [long], max_length=64) != capture_key(engine, [long], max_length=128)


def test_patterns_have_names_of_their_own():
    engine, documents = made("t5")
    keys = [
        capture_key(engine, documents[:1]),
        capture_key(engine, documents[:1], ("pattern",)),
        capture_key(engine, documents[:1], ("pattern",), stream="cross"),
        capture_key(engine, documents[1:2], ("pattern",)),
        capture_key(engine, documents[:1], ("pattern",), layers=[0]),
    ]
    assert len(set(keys)) == len(keys)
    assert capture_key(engine, documents[:1], ("pattern",), stream="self") == keys[1]


@pytest.fixture
def minilm_texts():
    from lib.corpora import builtin
    from lib.models import load

    engine = load("all-MiniLM-L6-v2", device="cpu")
    long = builtin("encyclopedia")[0]
    return engine, (builtin("probes")[0], long)
