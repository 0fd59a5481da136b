"""Attention recomputed by hand, from what was captured and what each family says it does with it."""

import numpy as np
import pytest
import torch
import transformers as hf

from lib.capture import capture, pattern
from lib.corpora.tokens import encode_ids
from lib.models import Engine
from tests.capture.families import tiny

LENGTH = 40
IDS = np.random.default_rng(3).integers(3, 40, LENGTH)
LAG = np.arange(LENGTH)[:, None] - np.arange(LENGTH)[None]  # query_pos − key_pos


def softmax(scores):
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def scores(captured, layer=0):
    """q·k times the scaling: (head, query_pos, key_pos)."""
    query, key = captured.query[layer].astype(np.float64), captured.key[layer].astype(np.float64)
    return query @ key.transpose(0, 2, 1) * captured.scaling


def seen_by(family, layer):
    """Which keys each row may see: bool (query_pos, key_pos)."""
    if family in ("llama", "gpt2", "qwen3"):
        return LAG >= 0
    if family in ("gemma2", "gpt_oss"):  # even layers slide over 6 tokens, odd ones see all
        return (LAG >= 0) & (LAG < 6) if layer % 2 == 0 else LAG >= 0
    if family == "modernbert":  # every third layer sees all, the others 4 tokens each way
        return np.abs(LAG) <= 4 if layer % 3 else LAG == LAG
    return LAG == LAG


@pytest.mark.parametrize("family", ["bert", "gpt2", "llama", "qwen3", "gemma2", "gpt_oss", "modernbert", "electra"])
def test_pattern_follows_from_query_and_key(family):
    engine = Engine.from_parts(tiny(family))
    document = encode_ids(IDS, engine)
    captured, patterns = capture(engine, [document]), pattern(engine, document)
    for layer in captured.layers:
        expected = scores(captured, layer)
        if family == "gemma2":
            expected = 2.0 * np.tanh(expected / 2.0)
        expected = np.where(seen_by(family, layer), expected, -np.inf)
        if family == "gpt_oss":  # the sink is one more column, dropped after softmax
            sinks = engine.model.layers[layer].self_attn.sinks.numpy()
            column = np.broadcast_to(sinks[:, None, None], (*expected.shape[:2], 1))
            expected = softmax(np.concatenate([expected, column], -1))[..., :-1]
            assert (patterns[layer].sum(-1) < 0.999).any()
        else:
            expected = softmax(expected)
        np.testing.assert_allclose(patterns[layer], expected, atol=2e-5)
        np.testing.assert_allclose(captured.z[layer], expected @ captured.value[layer], atol=2e-4)


def test_grouped_heads_are_repeated_not_tiled():
    """Nine query heads over three key heads: heads 0–2 share the first, 3–5 the second, 6–8 the third."""
    engine = Engine.from_parts(tiny("llama"))
    captured = capture(engine, [encode_ids(IDS, engine)])
    assert captured.key.shape[1] == captured.query.shape[1] == 9
    for name in ("key", "value"):
        heads = getattr(captured, name)[0]
        assert all(np.array_equal(heads[h], heads[h // 3 * 3]) for h in range(9))
        assert not np.array_equal(heads[0], heads[3])
    tiled = captured.key[0][[0, 3, 6] * 3]
    wrong = softmax(np.where(LAG >= 0, captured.query[0] @ tiled.transpose(0, 2, 1) * captured.scaling, -np.inf))
    assert np.abs(wrong - pattern(engine, encode_ids(IDS, engine))[0]).max() > 0.1


def test_query_and_key_are_captured_after_rotation():
    """Rotation changes q and k with position but not their norms; the projections alone do not explain the scores."""
    engine = Engine.from_parts(tiny("llama"))
    same = encode_ids(np.full(LENGTH, 7), engine)  # one token at every position
    captured = capture(engine, [same])
    query = captured.query[0, 0]
    np.testing.assert_allclose(np.linalg.norm(query, axis=-1), np.linalg.norm(query[0]), rtol=1e-4)
    assert np.abs(query - query[0]).max() > 0.1


def test_relative_bias_of_t5_is_in_the_pattern():
    engine = Engine.from_parts(tiny("t5"))
    document = encode_ids(IDS, engine)
    captured = capture(engine, [document])
    attention = engine.model.encoder.block[0].layer[0].SelfAttention
    with torch.no_grad():
        bias = attention.compute_bias(LENGTH, LENGTH)[0].numpy()
    assert captured.scaling == 1.0
    np.testing.assert_allclose(pattern(engine, document)[0], softmax(scores(captured) + bias), atol=2e-5)
    assert np.abs(pattern(engine, document)[0] - softmax(scores(captured))).max() > 0.05


@pytest.mark.parametrize("family", ["t5", "bart"])
def test_cross_attention_is_rectangular_and_recomputed(family):
    engine = Engine.from_parts(tiny(family))
    document = encode_ids(IDS, engine)
    captured = capture(engine, [document]).streams["cross"]
    patterns = pattern(engine, document, stream="cross")
    assert patterns.shape == (3, 3, len(document.target_ids), LENGTH)
    assert captured.query.shape[2] == len(document.target_ids)
    assert captured.key.shape[2] == LENGTH
    np.testing.assert_allclose(patterns[0], softmax(scores(captured)), atol=2e-5)


def test_one_row_by_hand():
    """Two tokens, one head, scaling 1, q = k = (1, 0) then (2, 0), v = (3, 0) then (5, 0).

    The second row weighs its keys 2·1 and 2·2: softmax(2, 4) = (0.1192, 0.8808); z = 0.1192·3 + 0.8808·5 = 4.7616.
    """
    config = hf.GPT2Config(
        vocab_size=2, n_positions=4, n_embd=2, n_layer=1, n_head=1, scale_attn_weights=False, bos_token_id=None,
        eos_token_id=None,
    )  # fmt: skip
    model = hf.GPT2Model(config).eval().requires_grad_(False)
    model.wte.weight.copy_(torch.tensor([[1.0, -1.0], [-1.0, 1.0]]))  # layer norm leaves these as they are
    model.wpe.weight.zero_()
    attention = model.h[0].attn.c_attn  # (2, 6): q, k, v side by side; first coordinates from the first input
    attention.weight.copy_(torch.tensor([[-0.5, 0, -0.5, 0, -1.0, 0], [0.0] * 6]))
    attention.bias.copy_(torch.tensor([1.5, 0, 1.5, 0, 4.0, 0]))
    engine = Engine.from_parts(model)
    document = encode_ids(np.array([0, 1]), engine)
    captured = capture(engine, [document])
    np.testing.assert_allclose(captured.query[0, 0], [[1, 0], [2, 0]], atol=1e-4)
    np.testing.assert_allclose(captured.value[0, 0], [[3, 0], [5, 0]], atol=1e-4)
    np.testing.assert_allclose(pattern(engine, document)[0, 0], [[1, 0], [0.1192, 0.8808]], atol=1e-4)
    np.testing.assert_allclose(captured.z[0, 0, :, 0], [3, 4.7616], atol=1e-3)
