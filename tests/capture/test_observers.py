"""Running over documents: each gets its own numbers, whatever it shared a batch with."""

import gc
import threading
import weakref
from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.capture import (
    LayerUnknown,
    NotFinite,
    NotRunnable,
    batching,
    capture,
    observe,
    pattern,
)
from lib.capture.batching import PADDING, batches, model_inputs
from lib.capture.check import trusted
from lib.capture.observers import plan
from lib.corpora.document import Document
from lib.corpora.patches import patch_table
from lib.corpora.tokens import Encoding, encode_ids
from lib.models import Engine
from lib.models.devices import OutOfMemory
from lib.models.engine import EngineReleased
from tests.capture.families import SEQUENCE, TEXT, tiny


class Keep:
    """Keeps copies of everything it is shown."""

    def __init__(self, *needs):
        self.needs, self.blocks = frozenset(needs), []

    def see(self, block):
        self.blocks.append(block)


def engine_of(family, seed=0):
    return Engine.from_parts(tiny(family, seed), name=family)


def texts(engine, *lengths):
    draw = np.random.default_rng(0)
    return [encode_ids(draw.integers(3, 40, n), engine) for n in lengths]


def image(engine, height=32, width=32, seed=0):
    pixels = np.random.default_rng(seed).standard_normal((3, height, width), dtype=np.float32)
    table = patch_table((height // engine.patch_size, width // engine.patch_size), engine.n_prefix)
    return Encoding(table=table, pixels=pixels)


@pytest.mark.parametrize("family", [*TEXT, *SEQUENCE])
def test_a_document_in_a_padded_batch_equals_itself_alone(family):
    engine = engine_of(family)
    documents = texts(engine, 62, 60, 1, 61, 8)
    assert sorted(map(sorted, plan(documents, trusted(engine)))) == [[0, 1, 3], [2], [4]]  # padding is really used
    for stream in trusted(engine).streams:
        together = Keep("query", "key", "value", "z", "pattern")
        observe(engine, documents, together, stream=stream)
        for i, document in enumerate(documents):
            alone = Keep("query", "key", "value", "z", "pattern")
            observe(engine, [document], alone, stream=stream)
            own = [block for block in together.blocks if block.document == i]
            assert [block.layer for block in own] == [block.layer for block in alone.blocks]
            for ours, theirs in zip(own, alone.blocks, strict=True):
                for name in together.needs:
                    expected = getattr(theirs, name)
                    assert getattr(ours, name).shape == expected.shape
                    np.testing.assert_allclose(getattr(ours, name), expected, atol=1e-4, rtol=1e-4)


def test_rows_sum_to_one_and_are_finite_after_padding_is_removed():
    engine, keep = engine_of("bert"), Keep("pattern")
    observe(engine, texts(engine, 30, 28, 27), keep)
    assert [b.pattern.shape[1:] for b in keep.blocks[:3]] == [(30, 30), (28, 28), (27, 27)]
    assert all(np.allclose(block.pattern.sum(-1), 1, atol=1e-5) for block in keep.blocks)


def test_padding_is_left_out_where_it_would_change_numbers(monkeypatch):
    engine = engine_of("bert")
    layout = trusted(engine)
    documents = texts(engine, 30, 28, 30)
    assert list(plan(documents, layout)) == [[0, 2, 1]]
    deaf = type(layout)(layout.family, layout.places, pads=False)
    assert list(plan(documents, deaf)) == [[0, 2], [1]]


@given(st.lists(st.integers(1, 600), min_size=1, max_size=60), st.integers(1, 16), st.booleans())
@settings(max_examples=60, deadline=None)
def test_batches_hold_every_document_once_within_their_bounds(lengths, heads, padding):
    found = list(batches([(n,) for n in lengths], heads, padding))
    assert sorted(i for batch in found for i in batch) == list(range(len(lengths)))
    for batch in found:
        own = [lengths[i] for i in batch]
        area = len(own) * max(own)
        assert len(own) == 1 or area <= batching.TOKENS
        assert len(own) == 1 or 4 * heads * len(own) * max(own) ** 2 <= batching.PATTERN_BYTES
        assert area - sum(own) <= area * (PADDING if padding else 0)


def test_only_what_is_needed_is_converted():
    engine, keep = engine_of("bert"), Keep("z")
    observe(engine, texts(engine, 5), keep)
    block = keep.blocks[0]
    assert block.z.shape == (3, 5, 8)
    assert block.query is block.key is block.value is block.pattern is None
    with pytest.raises(ValueError, match="read-only"):
        block.z[0, 0, 0] = 1


def test_chosen_layers_and_the_pass_stops_after_the_deepest():
    engine, keep = engine_of("modernbert"), Keep("z")
    ran = []
    hooks = [m.register_forward_hook(lambda *_, n=n: ran.append(n)) for n, m in enumerate(engine.model.layers)]
    trusted(engine)
    ran.clear()
    seen = observe(engine, texts(engine, 9), keep, layers=(2, 0))
    assert seen.layers == (0, 2)
    assert [block.layer for block in keep.blocks] == [0, 2]
    assert ran == [0, 1]  # layer 2 ends at its attention, layer 3 never begins
    [hook.remove() for hook in hooks]
    full = Keep("z")
    observe(engine, texts(engine, 9), full)
    assert np.array_equal(full.blocks[2].z, keep.blocks[1].z)


def test_what_does_not_exist_is_refused_with_what_does():
    engine = engine_of("bert")
    for layers in ((2,), (-1,), ()):
        with pytest.raises(LayerUnknown, match=r"among \(0, 1\)"):
            observe(engine, texts(engine, 5), Keep("z"), layers=layers)
    with pytest.raises(LayerUnknown, match="streams self"):
        pattern(engine, texts(engine, 5)[0], stream="cross")
    with pytest.raises(NotRunnable, match="list"):
        capture(engine, texts(engine, 5)[0])
    with pytest.raises(NotRunnable, match="at least one"):
        capture(engine, [])


def test_observed_tokens_and_offsets():
    engine = engine_of("t5")
    documents = texts(engine, 7, 5)
    seen = observe(engine, documents, Keep("z"), stream="cross")
    targets = [len(document.target_ids) for document in documents]
    assert seen.doc_offsets.tolist() == [0, targets[0], sum(targets)]
    assert seen.key_doc_offsets.tolist() == [0, 7, 12]
    assert seen.key_tokens.doc.tolist() == [0] * 7 + [1] * 5
    assert seen.lost == (0, 0)


def test_progress_is_told_and_may_cancel():
    engine, told = engine_of("bert"), []
    observe(engine, texts(engine, 30, 10, 10), Keep("z"), progress=lambda *now: told.append(now))
    assert [now[:2] for now in told] == [(0, 3), (1, 3), (3, 3)]

    def cancel(done, total, stage):
        if done:
            raise KeyboardInterrupt(stage)

    keep = Keep("z")
    with pytest.raises(KeyboardInterrupt, match="bert"):
        observe(engine, texts(engine, 30, 10), keep, progress=cancel)
    assert {block.document for block in keep.blocks} == {0}
    assert engine.model.config._attn_implementation != "headlight"


def test_audio_models_are_refused_by_what_they_read():
    engine = engine_of("whisper")
    with pytest.raises(NotRunnable, match=r"whisper.*input_features.*Audio"):
        capture(engine, [Document("a", "Some words.")])


def test_a_released_engine_is_refused():
    engine = engine_of("bert")
    documents = texts(engine, 5)
    engine.release()
    with pytest.raises(EngineReleased, match="released"):
        capture(engine, documents)


def test_numbers_that_are_not_finite_are_named():
    engine = engine_of("bert")
    trusted(engine)
    engine.model.encoder.layer[1].attention.self.value.weight[0, 0] = float("nan")  # after the check
    with pytest.raises(NotFinite, match="layer 1, document 0"):
        capture(engine, texts(engine, 5))


def test_threads_on_one_engine_see_their_own_documents():
    engine = engine_of("bert")
    documents = texts(engine, 31, 17, 40, 9)
    expected = [pattern(engine, document) for document in documents]
    failures = []

    def work(i):
        for _ in range(8):
            if not np.array_equal(pattern(engine, documents[i]), expected[i]):
                failures.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(len(documents))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(np.array_equal(pattern(engine, d), e) for d, e in zip(documents, expected, strict=True))


def test_inputs_say_what_is_padding():
    engine = engine_of("roberta")
    given = model_inputs(engine, texts(engine, 3, 2))
    assert given["input_ids"].shape == (2, 3)
    assert given["attention_mask"].tolist() == [[1, 1, 1], [1, 1, 0]]
    assert given["input_ids"][1, 2] == engine.model.config.pad_token_id
    assert all(value.dtype == torch.long for value in given.values() if isinstance(value, torch.Tensor))


def pair(engine, *types):
    (document,) = texts(engine, len(types))
    return replace(document, type_ids=np.array(types))


def test_the_second_text_of_a_pair_is_told_to_models_that_know_segments():
    engine = engine_of("bert")
    one, other = (pattern(engine, pair(engine, *types)) for types in ((0, 0, 0, 0), (0, 0, 1, 1)))
    plain = pattern(engine, texts(engine, 4)[0])
    assert np.array_equal(one, plain)
    assert np.abs(other - one).max() > 0.01
    mixed = Keep("pattern")
    observe(engine, [texts(engine, 4)[0], pair(engine, 0, 0, 1, 1)], mixed)  # with and without types in one batch
    np.testing.assert_allclose(mixed.blocks[0].pattern, plain[0], atol=1e-5)
    np.testing.assert_allclose(mixed.blocks[1].pattern, other[0], atol=1e-5)


def test_a_pair_in_a_model_of_one_segment_is_no_index_error():
    config = tiny("roberta").config
    config.type_vocab_size = 1  # as RoBERTa is published
    engine = Engine.from_parts(type(tiny("roberta"))(config))
    assert np.array_equal(pattern(engine, pair(engine, 0, 0, 1, 1)), pattern(engine, texts(engine, 4)[0]))


def test_encodings_of_another_kind_of_model_are_refused():
    bert, vit, t5 = engine_of("bert"), engine_of("vit"), engine_of("t5")
    with pytest.raises(NotRunnable, match=r"token_ids for bert.*document 1 without token_ids"):
        capture(bert, [texts(bert, 4)[0], image(vit)])
    with pytest.raises(NotRunnable, match="without pixels"):
        capture(vit, texts(bert, 4))
    with pytest.raises(NotRunnable, match="without target_ids"):
        capture(t5, texts(bert, 4))


def test_running_out_of_memory_is_told_clearly(monkeypatch):
    engine = engine_of("bert")
    trusted(engine)

    def full(*arguments, **keywords):
        raise RuntimeError("CUDA out of memory. Tried to allocate 97 GiB")

    monkeypatch.setattr(engine.model, "forward", full)
    with pytest.raises(OutOfMemory, match=r"bert.*97 GiB"):
        capture(engine, texts(engine, 5))
    monkeypatch.undo()
    assert capture(engine, texts(engine, 5)).documents == 1  # the session goes on


def test_runs_leave_nothing_behind():
    engine = engine_of("bert")
    trusted(engine)  # transformers keeps its own hooks once output_attentions was asked for

    modules = list(engine.model.modules())
    before = [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in modules]
    for _ in range(3):
        capture(engine, texts(engine, 5, 4))
    assert [(len(m._forward_hooks), len(m._forward_pre_hooks)) for m in modules] == before
    gone = weakref.ref(engine)
    del engine
    gc.collect()
    assert gone() is None
