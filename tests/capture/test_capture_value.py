"""capture, pattern and the Capture value: shapes, hashes, streams, and errors that name the axis."""

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from lib.capture import Capture, WrongShape, capture, capture_key, pattern
from lib.capture.tap import tapped
from lib.corpora.document import Document
from lib.corpora.tokens import TokenTable, encode_ids
from lib.models import Engine
from tests.capture.families import tiny


@pytest.fixture(scope="module")
def engine():
    return Engine.from_parts(tiny("bert"), name="bert")


def documents_of(engine, *lengths):
    draw = np.random.default_rng(1)
    return [encode_ids(draw.integers(3, 40, n), engine) for n in lengths]


@pytest.fixture(scope="module")
def captured(engine):
    return capture(engine, documents_of(engine, 7, 5, 6))


def test_arrays_have_their_axes(captured):
    for name in ("query", "key", "value", "z"):
        assert getattr(captured, name).shape == (2, 3, 18, 8)
        assert getattr(captured, name).dtype == np.float32
    assert captured.doc_offsets.tolist() == [0, 7, 12, 18]
    assert captured.tokens.doc.tolist() == [0] * 7 + [1] * 5 + [2] * 6
    assert captured.layers == (0, 1)
    assert captured.documents == 3
    assert captured.scaling == pytest.approx(8**-0.5)
    assert (captured.stream, captured.causal, captured.attention) == ("self", False, "eager")
    assert (captured.model, captured.dtype, captured.lost) == ("bert", "float32", (0, 0, 0))
    assert captured.key_tokens is captured.tokens or captured.key_tokens.frame().equals(captured.tokens.frame())


def test_numbers_are_those_of_the_tap(engine, captured):
    calls = []
    document = documents_of(engine, 7)[0]
    import torch

    with torch.inference_mode(), tapped(engine.model, see=calls.append):
        engine.model(torch.from_numpy(document.token_ids.copy())[None])
    for layer, call in enumerate(calls):
        for name in ("query", "key", "value", "z"):
            expected = getattr(call, name)[0].numpy()
            np.testing.assert_allclose(getattr(captured, name)[layer, :, :7], expected, atol=1e-5)


def test_a_capture_is_frozen(captured):
    with pytest.raises(ValueError, match="read-only"):
        captured.query[0] = 0
    with pytest.raises(FrozenInstanceError):
        captured.stream = "cross"
    with pytest.raises(TypeError):
        captured.streams["self"] = None


def test_only_what_is_kept_is_there(engine):
    one = capture(engine, documents_of(engine, 5), keep=("z",), layers=[1])
    assert one.query is one.key is one.value is None
    assert one.z.shape == (1, 3, 5, 8)
    assert one.layer_index(1) == 0
    with pytest.raises(ValueError, match=r"captured layers \(1,\)"):
        one.layer_index(0)
    for keep in ("z", (), ("pattern",), ("zz",)):
        with pytest.raises(ValueError, match="keep as some of"):
            capture(engine, documents_of(engine, 5), keep=keep)


def test_one_document_of_a_capture(captured):
    one = captured.of(1)
    assert np.array_equal(one.z, captured.z[:, :, 7:12])
    assert np.shares_memory(one.z, captured.z)
    assert one.tokens.token_id.tolist() == captured.tokens.of(1).token_id.tolist()
    assert one.tokens.doc.tolist() == [0] * 5
    assert one.documents == 1
    assert one.hash not in (captured.hash, captured.of(2).hash)
    with pytest.raises(ValueError, match="document below 3"):
        captured.of(3)


def test_the_hash_is_known_before_and_is_the_same_again(engine, captured):
    assert capture_key(engine, documents_of(engine, 7, 5, 6)) == captured.hash
    assert capture(engine, documents_of(engine, 7, 5, 6)).hash == captured.hash


def altered(table, **columns):
    return replace(table, **columns)


def test_the_hash_changes_when_anything_changes(engine):
    def key(engine=engine, documents=None, keep=("query", "z"), layers=None):
        return capture_key(engine, documents or documents_of(engine, 7, 5), keep, layers)

    first, second = documents_of(engine, 7, 5)
    word, sentence = first.table.word + 1, first.table.sentence + 1
    other_id = first.token_ids.copy()
    other_id[3] += 1
    keys = [
        key(),
        key(keep=("query",)),
        key(layers=[0]),
        key(layers=[1]),
        key(documents=[first]),
        key(documents=[second, first]),
        key(documents=[replace(first, table=altered(first.table, word=word)), second]),
        key(documents=[replace(first, table=altered(first.table, sentence=sentence)), second]),
        key(documents=[replace(first, token_ids=other_id), second]),
        key(documents=[replace(first, type_ids=np.zeros(7, dtype=np.int64)), second]),
        key(documents=[replace(first, lost=1), second]),
        key(engine=Engine.from_parts(tiny("bert", seed=1), name="bert")),
        key(engine=Engine.from_parts(tiny("bert"), name="other")),
        key(engine=Engine.from_parts(tiny("bert").half(), name="bert")),
    ]
    assert len(set(keys)) == len(keys)
    assert key(keep=("z", "query"), layers=[1, 0]) == key(layers=[0, 1])  # order of asking is no difference


def test_pattern_is_the_documents_own(engine):
    documents = documents_of(engine, 7)
    whole = pattern(engine, documents[0])
    assert whole.shape == (2, 3, 7, 7)
    assert not whole.flags.writeable
    np.testing.assert_allclose(whole.sum(-1), 1, atol=1e-6)
    assert np.array_equal(pattern(engine, documents[0], layers=[1]), whole[1:])


def test_streams_of_an_encoder_decoder():
    engine = Engine.from_parts(tiny("t5"), name="t5")
    documents = documents_of(engine, 7, 5)
    captured = capture(engine, documents)
    targets = [len(document.target_ids) for document in documents]
    assert captured.stream == "encoder"
    assert list(captured.streams) == ["encoder", "decoder", "cross"]
    assert captured.streams["encoder"] is captured
    cross = captured.streams["cross"]
    assert cross.query.shape == (3, 3, sum(targets), 8)
    assert cross.value.shape == (3, 3, 12, 8)
    assert cross.key_doc_offsets.tolist() == [0, 7, 12]
    assert cross.doc_offsets.tolist() == [0, targets[0], sum(targets)]
    assert [captured.streams[s].causal for s in captured.streams] == [False, True, False]
    assert len({c.hash for c in captured.streams.values()}) == 3
    assert cross.of(1).key.shape == (3, 3, 5, 8)
    assert cross.of(1).query.shape == (3, 3, targets[1], 8)
    assert pattern(engine, documents[0]).shape == (2, 3, 7, 7)  # "self" is the encoder


def value(**changes):
    """A capture of two documents, 2 and 3 tokens, two layers, one head of width 4."""
    column = np.zeros(5)
    table = TokenTable(
        doc=[0, 0, 1, 1, 1], pos=column, text=tuple("abcde"), start=column, end=column, word=column, sentence=column,
        is_special=column, token_id=column, part_of_speech=("",) * 5, segment=column, row=column, col=column,
    )  # fmt: skip
    z = np.zeros((2, 1, 5, 4), dtype=np.float32)
    return Capture(**{"tokens": table, "doc_offsets": np.array([0, 2, 5]), "layers": (0, 1), "z": z} | changes)


def test_a_value_is_valid():
    assert value().documents == 2
    assert value().lost == (0, 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"z": np.zeros((2, 1, 6, 4), np.float32)}, r"z as float32 \(layer 2, head, token 5, d_head\)"),
        ({"z": np.zeros((2, 1, 6, 4), np.float32)}, r"got float32 \(2, 1, 6, 4\), wrong in axis token"),
        ({"key": np.zeros((3, 1, 5, 4), np.float32)}, r"key as .*layer 2.*\(3, 1, 5, 4\).*axis layer"),
        ({"query": np.zeros((2, 2, 5, 4), np.float32)}, r"z as .*head 2.*\(2, 1, 5, 4\).*axis head"),
        ({"z": np.zeros((2, 1, 5, 4))}, "float64"),
        ({"z": np.zeros((2, 5, 4), np.float32)}, r"\(2, 5, 4\)"),
        ({"doc_offsets": np.array([0, 2, 4])}, "rising from 0 to 5, the length of axis token"),
        ({"doc_offsets": np.array([0, 0, 5])}, "at least one token"),
        ({"doc_offsets": np.array([1, 5])}, "doc_offsets"),
        ({"lost": (0,)}, "doc_offsets"),
    ],
)  # fmt: skip
def test_errors_name_the_axis_and_both_shapes(change, message):
    with pytest.raises(WrongShape, match=message):
        value(**change)


def test_documents_are_tokenised_and_losses_are_kept():
    engine = Engine.from_parts(tiny("bert"), name="bert")
    with pytest.raises(ValueError, match="tokenizer"):
        capture(engine, [Document("a", "Some words.")])
    lossy = [replace(document, lost=3) for document in documents_of(engine, 4, 2)]
    assert capture(engine, lossy).lost == (3, 3)
