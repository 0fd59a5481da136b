"""What a caller can get wrong in a capture's arguments, and what is said about it."""

import numpy as np
import pytest

from lib.capture import LayerUnknown, NotRunnable, capture, capture_key, estimate, observe, pattern, self_check
from lib.corpora.document import Document
from lib.corpora.tokens import encode_ids
from lib.models import Engine
from lib.models.engine import EngineReleased
from tests.capture.families import tiny


@pytest.fixture(scope="module")
def engine():
    return Engine.from_parts(tiny("bert"), name="bert")


@pytest.fixture(scope="module")
def encoding(engine):
    return encode_ids(np.arange(3, 11), engine)


@pytest.mark.parametrize(
    ("documents", "said"),
    [
        ("hello", "list of at least one document; got str"),
        (["hello"], "got str as document 0"),
        ([], "got an empty one"),
        (Document("a", "b"), "got Document"),
        (5, "got int"),
        (None, "got NoneType"),
        ([None], "NoneType as document 0"),
        ([[Document("a", "b")]], "list as document 0"),
    ],
)
def test_what_are_no_documents(documents, said, engine):
    for ask in (capture, capture_key, lambda e, d: observe(e, d, None)):
        with pytest.raises(NotRunnable, match=said):
            ask(engine, documents)


def test_a_generator_is_no_list_of_documents(engine, encoding):
    with pytest.raises(NotRunnable, match="got generator"):
        capture(engine, (e for e in [encoding]))
    with pytest.raises(NotRunnable, match="got generator"):
        estimate(engine, (e for e in [encoding]))
    with pytest.raises(NotRunnable, match="got generator"):
        estimate(engine, (n for n in (8, 12)))
    with pytest.raises(NotRunnable, match="an empty one"):
        estimate(engine, [])
    assert estimate(engine, (8, 12)).bytes == estimate(engine, [12, 8]).bytes
    assert capture(engine, (encoding,)).documents == 1


def test_a_pattern_is_of_one_document(engine, encoding):
    with pytest.raises(NotRunnable, match="list as document 0"):
        pattern(engine, [encoding])
    assert pattern(engine, encoding).shape[2:] == (8, 8)


@pytest.mark.parametrize("layers", [1, ["a"], "1", [0.5], [None], 3.5])
def test_what_are_no_layers(layers, engine, encoding):
    asks = (
        lambda: capture(engine, [encoding], layers=layers),
        lambda: capture_key(engine, [encoding], layers=layers),
        lambda: pattern(engine, encoding, layers=layers),
        lambda: estimate(engine, [encoding], layers=layers),
    )
    for ask in asks:
        with pytest.raises(LayerUnknown, match="list of whole numbers"):
            ask()


def test_layers_may_be_any_whole_numbers(engine, encoding):
    for layers in ([1, 0], (1,), range(1), np.array([1]), [np.int64(0)]):
        assert capture(engine, [encoding], layers=layers).layers == tuple(sorted(int(n) for n in layers))


def test_a_model_released_between_two_batches_is_named():
    own = Engine.from_parts(tiny("bert"), name="bert")
    documents = [encode_ids(np.arange(3, 3 + n), own) for n in (24, 8)]

    def release(done, total, stage):
        if done:
            own.release()

    with pytest.raises(EngineReleased, match="bert, which was released"):
        capture(own, documents, progress=release)
    unchecked = Engine.from_parts(tiny("bert"))
    unchecked.release()
    with pytest.raises(EngineReleased):
        self_check(unchecked)
