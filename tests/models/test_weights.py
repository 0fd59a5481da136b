import numpy as np
import pytest
import torch
import transformers as hf

from lib.capture import tapped
from lib.models import Engine, WeightsUnknown
from tests.capture.families import FAMILIES, GROUPED, IMAGE, inputs, tiny

MORE = {
    "mistral": lambda: hf.MistralForCausalLM(hf.MistralConfig(**GROUPED)),
    "qwen2": lambda: hf.Qwen2ForCausalLM(hf.Qwen2Config(**GROUPED)),
    "clip vision": lambda: hf.CLIPVisionModel(hf.CLIPVisionConfig(**IMAGE)),
    "dinov2 with registers": lambda: hf.Dinov2WithRegistersModel(hf.Dinov2WithRegistersConfig(**IMAGE)),
}
SCALED = {"qwen3", "whisper", "gpt_oss"}  # a norm or a scale follows the projection: directions are compared


def model_and_inputs(family):
    if family not in MORE:
        return tiny(family), inputs(family, batch=1)
    torch.manual_seed(0)
    return MORE[family]().eval(), inputs("llama" if family in ("mistral", "qwen2") else "vit", batch=1)


def watch(model, given):
    """Per call: what the tap saw, the module's input, its key-side input, and what its last projection gave."""
    calls, sources, results = [], [], []

    def before(module, args, kwargs):
        states = kwargs.get("hidden_states", args[0] if args else None)
        named = [kwargs.get(name) for name in ("key_value_states", "encoder_hidden_states")]
        other = next((states for states in named if states is not None), states)
        sources.append((states, other))

    handles = []
    for name, module in model.named_modules():
        if isinstance(getattr(module, "is_causal", None), bool):
            handles.append(module.register_forward_pre_hook(before, with_kwargs=True))
            beside = getattr(model.get_submodule(name.rpartition(".")[0]), "output", None)
            last = getattr(beside, "dense", None) or getattr(module, "dense", None)
            if last is None or hasattr(module, "query_key_value"):
                handles.append(module.register_forward_hook(lambda _m, _i, out: results.append(out[0])))
            else:
                handles.append(last.register_forward_hook(lambda _m, _i, out: results.append(out)))
    with torch.inference_mode(), tapped(model, see=calls.append):
        model(**given)
    for handle in handles:
        handle.remove()
    return [(call, *source, result) for call, source, result in zip(calls, sources, results, strict=True)]


def project(x, matrix, bias):
    return np.einsum("bpm,hdm->bhpd", x.float().numpy(), matrix) + bias[:, None]


def first_directions(vectors):
    """Unit vectors of position 0, which a rotation leaves where it is."""
    first = np.asarray(vectors)[:, :, 0]
    return first / np.linalg.norm(first, axis=-1, keepdims=True)


@pytest.mark.parametrize("family", [*FAMILIES, *MORE])
def test_projections_reproduce_what_the_model_computes(family):
    model, given = model_and_inputs(family)
    engine = Engine.from_parts(model)
    seen = watch(model, given)
    assert len(seen) >= 2
    for call, x, other, result in seen:
        w = engine.weights(call.layer, call.stream)
        assert w.W_Q.shape == w.W_K.shape == w.W_V.shape == w.W_O.shape
        assert w.W_Q.dtype == np.float32
        np.testing.assert_allclose(project(other, w.W_V, w.b_V), call.value.numpy(), atol=2e-5)
        query, key = project(x, w.W_Q, w.b_Q), project(other, w.W_K, w.b_K)
        np.testing.assert_allclose(first_directions(query), first_directions(call.query), atol=2e-5)
        np.testing.assert_allclose(first_directions(key), first_directions(call.key), atol=2e-5)
        if family not in SCALED:
            np.testing.assert_allclose(query[:, :, 0], call.query[:, :, 0].numpy(), atol=2e-5)
        ours = np.einsum("bhpd,hdm->bpm", call.z.float().numpy(), w.W_O) + w.b_O
        np.testing.assert_allclose(ours.reshape(-1), result.numpy().reshape(-1), atol=2e-5)


@pytest.mark.parametrize(("family", "layers"), [("t5", (2, 3)), ("bart", (2, 3)), ("whisper", (2, 3))])
def test_both_stacks_have_their_own_weights(family, layers):
    engine = Engine.from_parts(tiny(family))
    streams = {
        s: [engine.weights(i, s).W_V for i in range(n)] for s, n in zip(("encoder", "decoder"), layers, strict=True)
    }
    streams["cross"] = [engine.weights(i, "cross").W_V for i in range(layers[1])]
    every = [w for stream in streams.values() for w in stream]
    assert all(not np.array_equal(a, b) for i, a in enumerate(every) for b in every[:i])
    assert np.array_equal(engine.weights(1).W_V, streams["encoder"][1]), "“self” is the encoder of two stacks"


def test_heads_by_hand():
    config = hf.BertConfig(
        vocab_size=9, hidden_size=4, num_hidden_layers=1, num_attention_heads=2, intermediate_size=4, pad_token_id=0
    )
    model = hf.BertModel(config)
    attention = model.encoder.layer[0].attention
    with torch.no_grad():
        attention.self.query.weight.copy_(torch.arange(16.0).reshape(4, 4))
        attention.self.query.bias.copy_(torch.tensor([1.0, 2.0, 3.0, 4.0]))
        attention.output.dense.weight.copy_(torch.arange(16.0).reshape(4, 4))
    w = Engine.from_parts(model).weights(0)
    assert w.W_Q[1].tolist() == [[8, 9, 10, 11], [12, 13, 14, 15]], "head 1 owns rows 2 and 3"
    assert w.b_Q[1].tolist() == [3, 4]
    assert w.W_O[1].tolist() == [[2, 6, 10, 14], [3, 7, 11, 15]], "and columns 2 and 3 of the output matrix"


def test_grouped_keys_are_repeated_not_tiled():
    w = Engine.from_parts(tiny("llama")).weights(0)  # 9 query heads over 3
    assert np.array_equal(w.W_K[0], w.W_K[2])
    assert not np.array_equal(w.W_K[0], w.W_K[3])
    assert not np.array_equal(w.W_Q[0], w.W_Q[1])


def test_albert_layers_share_their_weights():
    engine = Engine.from_parts(tiny("albert"))
    assert np.array_equal(engine.weights(0).W_Q, engine.weights(1).W_Q)


def test_weights_are_read_only_copies():
    engine = Engine.from_parts(tiny("bert"))
    w = engine.weights(0)
    with pytest.raises(ValueError, match="read-only"):
        w.W_Q[0, 0, 0] = 1
    before = w.W_Q.copy()
    with torch.no_grad():
        engine.model.encoder.layer[0].attention.self.query.weight.zero_()
    assert np.array_equal(w.W_Q, before)


def test_a_layer_that_is_not_there_is_named():
    with pytest.raises(WeightsUnknown, match="L7; there are 2"):
        Engine.from_parts(tiny("bert")).weights(7)


def test_an_unknown_part_is_refused_rather_than_misread():
    model = tiny("llama")
    model.model.layers[0].self_attn.sub_norm = torch.nn.LayerNorm(36)
    with pytest.raises(WeightsUnknown, match="sub_norm"):
        Engine.from_parts(model).weights(0)


def test_an_unknown_layout_is_refused():
    config = hf.DeepseekV3Config(
        vocab_size=40, hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        q_lora_rank=8, kv_lora_rank=8, qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=8, first_k_dense_replace=1,
    )  # fmt: skip
    with pytest.raises(WeightsUnknown, match="deepseek_v3"):
        Engine.from_parts(hf.DeepseekV3Model(config)).weights(0)


@pytest.mark.parametrize("multi_query", [True, False])
def test_a_fused_matrix_in_an_order_of_its_own_is_refused(multi_query):
    config = hf.GPTBigCodeConfig(vocab_size=40, n_positions=32, n_embd=24, n_layer=1, n_head=3, multi_query=multi_query)
    engine = Engine.from_parts(hf.GPTBigCodeForCausalLM(config))
    with pytest.raises(WeightsUnknown, match="gpt_bigcode"):
        engine.weights(0)
