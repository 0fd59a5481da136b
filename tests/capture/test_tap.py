"""The tap against eager attention: every family, every length, and what it must refuse."""

import threading

import pytest
import torch
import transformers as hf
from transformers import AttentionMaskInterface

from lib.capture import tap
from lib.capture.tap import NotTappable, implementation, tapped
from tests.capture.families import AUDIO, BERT, FAMILIES, GROUPED, PIXELS, SEQUENCE, inputs, tiny

LENGTHS = (1, 8, 12, 64)
CASES = [(f, n) for f in FAMILIES for n in (LENGTHS if f not in PIXELS else (1,))]


def watched(model, given, **more):
    calls = []
    with torch.inference_mode(), tapped(model, see=calls.append):
        output = model(**given, **more)
    return calls, output


def eager(model, given):
    with torch.inference_mode(), implementation(model, "eager"):
        return model(**given, output_attentions=True)


def main_tensor(output):
    return output["logits"] if "logits" in output else output["last_hidden_state"]


def reference_patterns(output):
    if "encoder_attentions" in output:
        names = {"encoder": "encoder_attentions", "decoder": "decoder_attentions", "cross": "cross_attentions"}
    else:
        names = {"self": "attentions"}
    return {(s, layer): p for s, name in names.items() for layer, p in enumerate(output[name])}


@pytest.mark.parametrize(("family", "length"), CASES)
def test_pattern_and_output_equal_eager_bit_for_bit(family, length):
    model, given = tiny(family), inputs(family, length)
    calls, output = watched(model, given)
    reference = eager(model, given)
    assert torch.equal(main_tensor(output), main_tensor(reference))
    expected = reference_patterns(reference)
    if family == "swin":  # transformers returns the last layer of each stage of 2, 2 and 1 layers
        expected = {("self", (1, 3, 4)[stage]): pattern for (_, stage), pattern in expected.items()}
    own = {(call.stream, call.layer): call.pattern for call in calls}
    assert len(own) == len(calls) >= len(expected)
    assert family == "swin" or own.keys() == expected.keys()
    for place, pattern in expected.items():
        assert torch.equal(own[place], pattern), place


@pytest.mark.parametrize("family", FAMILIES)
def test_z_is_the_pattern_times_the_values(family):
    calls, _ = watched(tiny(family), inputs(family))
    for call in calls:
        assert call.query.shape[1] == call.key.shape[1] == call.value.shape[1]
        torch.testing.assert_close(call.pattern @ call.value, call.z, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_model_has_its_own_attention_back(family):
    model, given = tiny(family), inputs(family)
    before = [config._attn_implementation for config in tap._configs(model)]
    with torch.inference_mode():
        plain = main_tensor(model(**given))
        with pytest.raises(ZeroDivisionError), tapped(model, see=lambda call: 1 // 0):
            model(**given)
        again = main_tensor(model(**given))
    assert [config._attn_implementation for config in tap._configs(model)] == before
    assert tap.NAME not in before
    assert torch.equal(plain, again)


@pytest.mark.parametrize("family", FAMILIES)
def test_editing_z_moves_the_output(family):
    model, given = tiny(family), inputs(family)
    _, plain = watched(model, given)

    def off(layer, stream, z):
        z = z.clone()
        z[:, 0] *= layer > 0
        return z

    with torch.inference_mode(), tapped(model, edit=off):
        edited = main_tensor(model(**given))
    with torch.inference_mode(), tapped(model, edit=lambda layer, stream, z: z):
        same = main_tensor(model(**given))
    assert torch.equal(same, main_tensor(plain))
    assert (edited - same).abs().max() > 1e-3


@pytest.mark.parametrize("family", [*SEQUENCE, *AUDIO])
def test_encoder_decoders_have_three_streams_and_rectangular_cross_attention(family):
    calls, _ = watched(tiny(family), inputs(family, 12))
    places = [(call.stream, call.layer) for call in calls]
    assert places == [("encoder", 0), ("encoder", 1)] + [(s, n) for n in range(3) for s in ("decoder", "cross")]
    source = 20 if family in AUDIO else 12
    shapes = {call.stream: call.pattern.shape[2:] for call in calls}
    assert shapes == {"encoder": (source, source), "decoder": (9, 9), "cross": (9, source)}


def test_windows_are_told_apart_from_documents():
    calls, _ = watched(tiny("swin"), inputs("swin", batch=3))
    assert [(call.windows, call.shift) for call in calls] == [(16, 0), (16, 2), (4, 0), (4, 2), (1, 0)]
    assert all(len(call.pattern) == 3 * call.windows for call in calls)
    assert {call.windows for call in watched(tiny("vit"), inputs("vit", batch=3))[0]} == {1}


def test_hybrid_models_keep_true_layer_numbers():
    config = hf.JambaConfig(
        **GROUPED | {"num_hidden_layers": 4}, attn_layer_period=2, attn_layer_offset=1, num_experts=2,
        use_mamba_kernels=False, mamba_d_state=4,
    )  # fmt: skip
    calls, _ = watched(hf.JambaModel(config).eval(), inputs("llama"))
    assert [call.layer for call in calls] == [1, 3]


def test_the_field_for_grouped_heads_may_hold_as_many_as_there_are_heads():
    torch.manual_seed(0)
    config = hf.LlamaConfig(**BERT | {"num_attention_heads": 4, "num_key_value_heads": 4, "hidden_size": 32})
    model = hf.LlamaForCausalLM(config).eval()
    calls, _ = watched(model, {"input_ids": torch.arange(12)[None]})
    for call in calls:
        assert call.key.shape == call.value.shape == call.query.shape
        assert (call.key.abs().amax((0, 2, 3)) > 0).all() and (call.value.abs().amax((0, 2, 3)) > 0).all()


def test_a_shared_layer_is_counted_each_time_it_runs():
    config = hf.AlbertConfig(**BERT | {"num_hidden_layers": 5}, embedding_size=16)
    calls, _ = watched(hf.AlbertModel(config).eval(), inputs("albert"))
    assert [call.layer for call in calls] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(("layers", "heads"), [(24, 3), (1, 1)])
def test_any_number_of_layers_and_heads(layers, heads):
    config = hf.BertConfig(**BERT | {"num_hidden_layers": layers, "num_attention_heads": heads})
    calls, _ = watched(hf.BertModel(config).eval(), inputs("bert"))
    assert [call.layer for call in calls] == list(range(layers))
    assert {call.pattern.shape[1] for call in calls} == {heads}


def test_generation_counts_layers_anew_at_every_step():
    model, calls = tiny("gpt2"), []
    with tapped(model, see=calls.append):
        model.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=3, do_sample=False, pad_token_id=0)
    assert [call.layer for call in calls] == [0, 1] * 3
    assert [tuple(call.pattern.shape[2:]) for call in calls[::2]] == [(3, 3), (1, 4), (1, 5)]


def test_generation_of_an_encoder_decoder():
    model, calls = tiny("bart"), []
    with tapped(model, see=calls.append):
        model.generate(torch.tensor([[5, 6, 7]]), max_new_tokens=2, min_new_tokens=2, do_sample=False, num_beams=2)
    assert [call.layer for call in calls if call.stream == "encoder"] == [0, 1]
    assert [call.layer for call in calls if call.stream == "cross"] == [0, 1, 2] * 2


def test_half_precision_equals_eager_and_stays_near_float32():
    given = inputs("bert")
    exact, _ = watched(tiny("bert"), given)
    half = tiny("bert").to(torch.bfloat16)
    calls, output = watched(half, given)
    assert torch.equal(main_tensor(output), main_tensor(eager(half, given)))
    assert calls[0].pattern.dtype == torch.bfloat16
    assert 0 < (calls[0].pattern.float() - exact[0].pattern).abs().max() < 0.1


def test_without_the_mask_function_patterns_would_be_wrong(monkeypatch):
    monkeypatch.delitem(AttentionMaskInterface._global_mapping, tap.NAME)
    model, given = tiny("gpt2"), inputs("gpt2", batch=1)
    calls, _ = watched(model, given)
    deviation = (calls[0].pattern - eager(model, given).attentions[0]).abs().max()
    assert deviation > 0.1  # the future is seen: what registering the mask function prevents


def classifier():
    return hf.BertForSequenceClassification(hf.BertConfig(**BERT)).eval()


def test_a_classification_checkpoint_works():
    calls, output = watched(classifier(), inputs("bert"))
    assert len(calls) == 2
    assert output.logits.shape == (2, 2)


OUTSIDE = {
    "deberta-v2": lambda: hf.DebertaV2Model(hf.DebertaV2Config(**BERT)),
    "mpnet": lambda: hf.MPNetModel(hf.MPNetConfig(**BERT)),
    "bloom": lambda: hf.BloomModel(hf.BloomConfig(vocab_size=40, hidden_size=24, n_layer=2, n_head=3)),
    "falcon": lambda: hf.FalconModel(
        hf.FalconConfig(vocab_size=40, hidden_size=24, num_hidden_layers=2, num_attention_heads=3)
    ),
    "longformer": lambda: hf.LongformerModel(hf.LongformerConfig(**BERT, attention_window=8)),
    "big_bird": lambda: hf.BigBirdModel(hf.BigBirdConfig(**BERT)),
    "canine": lambda: hf.CanineModel(hf.CanineConfig(**{k: v for k, v in BERT.items() if k != "vocab_size"})),
}


@pytest.mark.parametrize("family", OUTSIDE)
def test_families_outside_the_interface_are_refused_by_name(family):
    with pytest.raises(NotTappable, match=f"{family}.*BERT.*work"), tapped(OUTSIDE[family]().eval()):
        raise AssertionError("entered")


def test_training_mode_is_refused():
    with pytest.raises(NotTappable, match="training mode"), tapped(tiny("bert").train()):
        raise AssertionError("entered")


def test_two_towers_in_one_model_are_refused():
    tower = {k: BERT[k] for k in ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads")}
    config = hf.CLIPConfig(text_config=dict(BERT), vision_config=tower | {"image_size": 32, "patch_size": 8})
    given = inputs("clip text") | inputs("vit")
    with pytest.raises(NotTappable, match="one tower"):
        watched(hf.CLIPModel(config).eval(), given)


def test_a_second_tap_on_one_model_is_refused():
    model = tiny("bert")
    with tapped(model), pytest.raises(NotTappable, match="second tap"), tapped(model):
        raise AssertionError("entered")


def test_another_thread_sees_its_own_model_only():
    """Two models of one family in two threads, and a third thread that is not tapped at all."""
    models, given = [tiny("bert", seed) for seed in range(3)], inputs("bert")
    expected = [watched(model, given)[0][1].pattern for model in models]
    seen, plain = [[], []], []

    def work(i):
        for _ in range(10):
            with torch.inference_mode(), tapped(models[i], see=lambda call: seen[i].append(call.pattern)):
                models[i](**given)

    def idle():
        with torch.inference_mode():
            plain.extend(models[2](**given).last_hidden_state.sum().item() for _ in range(10))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(2)] + [threading.Thread(target=idle)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(patterns) for patterns in seen] == [20, 20]
    assert all(torch.equal(p, expected[i]) for i in range(2) for p in seen[i][1::2])
    assert len(set(plain)) == 1
