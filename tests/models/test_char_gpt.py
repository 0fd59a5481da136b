import math

import pytest
import torch
from transformers import AttentionInterface, AttentionMaskInterface, AutoModelForCausalLM
from transformers.masking_utils import eager_mask

import lib.models.char_gpt.blockwise_attention  # noqa: F401 — registers "blockwise"
from lib.errors import HeadlightError
from lib.models.char_gpt import CharGPTConfig, CharGPTForCausalLM
from lib.models.char_gpt.modelling import biased_mask

VARIANTS = {"base": (0, "prefix"), "ega1": (1, "prefix"), "ega1-window": (1, "window"), "ega4": (4, "prefix")}


def model_of(variant: str, spread: float = 0.2, **settings) -> CharGPTForCausalLM:
    """A small random model; weights of spread 0.2 instead of 0.02, so that patterns are far from uniform."""
    torch.manual_seed(0)
    n_gates, norm = VARIANTS[variant]
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "max_position_embeddings": 64}
    config = CharGPTConfig(
        **{**sizes, **settings}, n_gates=n_gates, gate_norm=norm, initializer_range=spread, gate_start=4
    )
    return CharGPTForCausalLM(config).eval()


def ids_of(batch: int = 2, length: int = 40) -> torch.Tensor:
    return torch.randint(0, 65, (batch, length), generator=torch.Generator().manual_seed(1))


@torch.no_grad()
def patterns(model: CharGPTForCausalLM, ids: torch.Tensor) -> torch.Tensor:
    """(layer, batch, head, query_pos, key_pos)"""
    model.set_attn_implementation("eager")
    return torch.stack(model(input_ids=ids, output_attentions=True).attentions)


def parameters(config: CharGPTConfig) -> int:
    return sum(parameter.numel() for parameter in CharGPTForCausalLM(config).parameters())


def test_one_gate_adds_12480_parameters_at_the_papers_size():
    paper = {"hidden_size": 256, "num_hidden_layers": 6, "num_attention_heads": 8}
    assert parameters(CharGPTConfig(n_gates=1, **paper)) - parameters(CharGPTConfig(**paper)) == 12_480


def test_untrained_loss_is_that_of_65_equally_likely_characters():
    torch.manual_seed(0)
    ids = ids_of(4, 128)
    for n_gates in (0, 1):
        model = CharGPTForCausalLM(CharGPTConfig(hidden_size=192, n_gates=n_gates)).eval()
        with torch.no_grad():
            loss = model(input_ids=ids, labels=ids).loss.item()
        assert abs(loss - math.log(65)) < 0.15


def test_loss_is_the_mean_surprise_of_the_next_character():
    model, ids = model_of("base"), ids_of()
    with torch.no_grad():
        output = model(input_ids=ids, labels=ids)
    surprise = -output.logits[:, :-1].log_softmax(-1).gather(2, ids[:, 1:, None])
    assert output.loss.item() == pytest.approx(surprise.mean().item(), rel=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_every_implementation_gives_the_same_logits_and_gradients(variant):
    model, ids, found = model_of(variant), ids_of(), {}
    for implementation in ("eager", "sdpa", "blockwise"):
        model.set_attn_implementation(implementation)
        model.zero_grad()
        output = model(input_ids=ids, labels=ids)
        output.loss.backward()
        gradient = torch.cat([parameter.grad.flatten() for parameter in model.parameters()])
        found[implementation] = (output.logits.detach(), gradient)
    for logits, gradient in found.values():
        torch.testing.assert_close(logits, found["eager"][0], atol=2e-5, rtol=1e-5)
        torch.testing.assert_close(gradient, found["eager"][1], atol=1e-6, rtol=1e-4)
    assert found["eager"][1].abs().max() > 0.01


def test_blockwise_attention_covers_lengths_that_are_no_multiple_of_its_block():
    model = model_of("ega1", max_position_embeddings=200)
    ids = ids_of(1, 150)
    with torch.no_grad():
        expected = model(input_ids=ids).logits
        model.set_attn_implementation("blockwise")
        torch.testing.assert_close(model(input_ids=ids).logits, expected, atol=2e-5, rtol=1e-5)
        with pytest.raises(HeadlightError, match="no padding"):
            model(input_ids=ids, attention_mask=torch.ones_like(ids))


def test_alpha_zero_leaves_the_pattern_of_ordinary_attention():
    base, gated, ids = model_of("base"), model_of("ega1"), ids_of()
    assert not torch.allclose(patterns(gated, ids), patterns(base, ids), atol=1e-3)
    with torch.no_grad():
        for layer in gated.model.layers:
            layer.attn.gate.alpha.zero_()
    torch.testing.assert_close(patterns(gated, ids), patterns(base, ids), atol=1e-6, rtol=1e-5)


@pytest.mark.parametrize("variant", ["ega1", "ega1-window", "ega4"])
def test_gating_multiplies_columns_and_renormalises_rows(variant):
    base, gated, ids = model_of("base"), model_of(variant), ids_of()
    first = gated.model.layers[0]
    with torch.no_grad():
        embedded = gated.model.embed_tokens(ids) + gated.model.embed_positions(torch.arange(ids.shape[1]))
        gate = first.attn.gate(first.attn_norm(embedded)).exp()  # (batch, head, key_pos)
    product = patterns(base, ids)[0] * gate[:, :, None, :]
    expected = product / product.sum(-1, keepdim=True)
    torch.testing.assert_close(patterns(gated, ids)[0], expected, atol=1e-6, rtol=1e-5)
    assert (gate.amax(-1) / gate.amin(-1)).min() > 1.5


@pytest.mark.parametrize("implementation", ["eager", "sdpa", "blockwise"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_editing_the_last_character_moves_earlier_outputs_only_with_window_statistics(variant, implementation):
    model, ids = model_of(variant), ids_of()
    model.set_attn_implementation(implementation)
    edited = ids.clone()
    edited[:, -1] = (edited[:, -1] + 1) % 65
    with torch.no_grad():
        moved = (model(input_ids=edited).logits - model(input_ids=ids).logits).abs()
    assert moved[:, -1].max() > 0.01
    if variant == "ega1-window":
        assert moved[:, :-1].max() > 1e-4
    else:
        assert moved[:, :-1].max() == 0.0


@pytest.mark.parametrize("variant", VARIANTS)
def test_padding_on_the_right_changes_nothing_before_it(variant):
    model, ids = model_of(variant), ids_of(2, 30)
    padded = torch.cat((ids, torch.zeros(2, 7, dtype=torch.long)), 1)
    mask = torch.cat((torch.ones(2, 30, dtype=torch.long), torch.zeros(2, 7, dtype=torch.long)), 1)
    for implementation in ("eager", "sdpa"):
        model.set_attn_implementation(implementation)
        with torch.no_grad():
            kept = model(input_ids=padded, attention_mask=mask).logits[:, :30]
            torch.testing.assert_close(kept, model(input_ids=ids).logits, atol=2e-5, rtol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_function_on_the_attention_interface_sees_the_gated_pattern(variant):
    seen = []

    def watch(module, query, key, value, attention_mask, scaling=None, dropout=0.0, **kwargs):
        pattern = (query @ key.transpose(2, 3) * scaling + attention_mask).softmax(-1)
        seen.append((module.layer_idx, pattern))
        return (pattern @ value).transpose(1, 2).contiguous(), None

    AttentionInterface.register("watch_char_gpt", watch)
    AttentionMaskInterface.register("watch_char_gpt", eager_mask)
    model, ids = model_of(variant), ids_of()
    expected = patterns(model, ids)
    with torch.no_grad():
        plain = model(input_ids=ids).logits
        model.set_attn_implementation("watch_char_gpt")
        watched = model(input_ids=ids).logits
    assert [layer for layer, _ in seen] == [0, 1]
    torch.testing.assert_close(torch.stack([pattern for _, pattern in seen]), expected, atol=1e-6, rtol=1e-5)
    torch.testing.assert_close(watched, plain, atol=2e-5, rtol=1e-5)
    assert (expected.triu(1) == 0).all()
    torch.testing.assert_close(expected.sum(-1), torch.ones(expected.shape[:-1]))


def test_a_key_bias_is_added_to_boolean_additive_and_missing_masks_alike():
    bias = torch.tensor([[[0.0, -1.0, -2.0]]])  # (batch, head, key_pos)
    lowest = torch.finfo(torch.float32).min
    causal = torch.ones(3, 3, dtype=torch.bool).tril()[None, None]
    additive = torch.zeros(1, 1, 3, 3).masked_fill(~causal, lowest)
    expected = torch.tensor([[0, lowest, lowest], [0, -1, lowest], [0, -1, -2]])
    for mask in (None, causal, additive):
        torch.testing.assert_close(biased_mask(mask, bias, torch.float32, 3)[0, 0], expected)


def test_all_variants_of_a_seed_start_from_the_same_common_weights():
    base = model_of("base").state_dict()
    for variant in ("ega1", "ega1-window", "ega4"):
        gated = model_of(variant).state_dict()
        assert all(torch.equal(gated[name], value) for name, value in base.items())
        assert any(".gate." in name for name in gated)


@pytest.mark.parametrize("variant", VARIANTS)
def test_save_and_load_return_the_same_model(variant, tmp_path):
    model, ids = model_of(variant), ids_of()
    model.save_pretrained(tmp_path)
    loaded, report = AutoModelForCausalLM.from_pretrained(tmp_path, output_loading_info=True)
    assert not report["missing_keys"]
    assert not report["unexpected_keys"]
    assert loaded.config.gate_norm == model.config.gate_norm
    assert loaded.lm_head.weight is loaded.model.embed_tokens.weight
    with torch.no_grad():
        assert torch.equal(loaded(input_ids=ids).logits, model(input_ids=ids).logits)


def test_outputs_carry_no_cache():
    model, ids = model_of("base"), ids_of()
    assert model.config.use_cache is False
    assert set(model(input_ids=ids).keys()) == {"logits"}


def test_too_long_a_text_and_impossible_configurations_are_refused():
    with pytest.raises(HeadlightError, match="at most 64 characters; got 65"):
        model_of("base")(input_ids=ids_of(1, 65))
    with pytest.raises(HeadlightError, match="multiple of num_attention_heads"):
        CharGPTConfig(hidden_size=30, num_attention_heads=4)
    with pytest.raises(HeadlightError, match="gate_norm"):
        CharGPTConfig(gate_norm="batch")
