"""The self-check: it passes for the families that work, and fails for each way of being wrong."""

import numpy as np
import pytest
import torch
import transformers as hf
from transformers import AttentionInterface, AttentionMaskInterface

from lib.capture import CheckFailed, NotTappable, capture, observe, pattern, self_check, tap
from lib.capture import check as checking
from lib.capture.check import trusted
from lib.capture.probe import probe_inputs
from lib.corpora.tokens import encode_ids
from lib.models import Engine, WeightsUnknown
from tests.capture.families import FAMILIES, tiny


def engine_of(family="bert", model=None):
    return Engine.from_parts(tiny(family) if model is None else model, name=family)


def text(engine):
    return encode_ids(np.arange(3, 15), engine)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_passes_with_all_numbers(family):
    engine = engine_of(family)
    check = self_check(engine)
    assert check.passed
    assert check.pattern_deviation == check.output_deviation == 0
    assert 0 <= check.row_sum_deviation < 1e-5
    assert check.tolerance == pytest.approx(1e-5)
    assert (check.dtype, check.device) == ("float32", "cpu")
    assert check.seconds > 0
    try:
        engine.weights(0, trusted(engine).stream(None))
    except WeightsUnknown:
        assert check.result_deviation is None
    else:
        assert check.result_deviation < 1e-5


def test_padding_is_found_to_leave_documents_alone():
    assert self_check(engine_of("gpt2")).padding_deviation < 1e-5
    assert self_check(engine_of("vit")).padding_deviation is None
    assert trusted(engine_of("gpt2")).pads
    assert not trusted(engine_of("vit")).pads


def test_a_model_that_mixes_padding_in_is_found_out():
    class Leaky(hf.BertModel):
        def forward(self, *arguments, attention_mask=None, **keywords):
            return super().forward(*arguments, **keywords)

    config = tiny("bert").config
    engine = engine_of(model=Leaky(config))
    assert self_check(engine).padding_deviation > 1e-3
    assert self_check(engine).passed  # the tap is exact; batches just must not pad
    assert not trusted(engine).pads


def test_it_runs_once_per_engine():
    engine = engine_of()
    runs = []
    engine.model.register_forward_hook(lambda *_: runs.append(1))
    first = self_check(engine)
    count = len(runs)
    assert count == 3  # tapped, eager, and the short document alone
    assert self_check(engine) is first
    capture(engine, [text(engine)])
    assert len(runs) == count  # the capture's own pass stops before its end, so the hook is not reached
    assert self_check(engine_of()) is not first


def dropped_mask(monkeypatch):
    monkeypatch.delitem(AttentionMaskInterface._global_mapping, tap.NAME)


def wrong_mask(monkeypatch):
    def shifted(*arguments, **keywords):
        mask = tap.eager_mask(*arguments, **keywords)
        return mask if mask is None else mask.roll(1, dims=-1)

    monkeypatch.setitem(AttentionMaskInterface._global_mapping, tap.NAME, shifted)


def tapping(change):
    """The tap with its extras or its results changed."""

    def break_it(monkeypatch):
        own = AttentionInterface._global_mapping[tap.NAME]
        monkeypatch.setitem(AttentionInterface._global_mapping, tap.NAME, lambda *a, **k: change(own, a, k))

    return break_it


def no_scaling(own, arguments, extras):
    return own(*arguments, **extras | {"scaling": 1.0})


def no_softcap(own, arguments, extras):
    return own(*arguments, **extras | {"softcap": None})


def no_bias(own, arguments, extras):
    return own(*arguments, **extras | {"position_bias": None})


def tiled(own, arguments, extras):
    module, query, key, value, *rest = arguments
    return own(module, query, key.flip(1), value, *rest, **extras)


def nearly(own, arguments, extras):
    output, weights = own(*arguments, **extras)
    return output * 1.001, weights


BROKEN = {
    "mask dropped": ("gpt2", dropped_mask),
    "mask dropped, padding only": ("bert", dropped_mask),
    "mask shifted": ("llama", wrong_mask),
    "scaling ignored": ("bert", tapping(no_scaling)),
    "soft cap ignored": ("gemma2", tapping(no_softcap)),
    "relative bias ignored": ("t5", tapping(no_bias)),
    "key heads in the wrong order": ("llama", tapping(tiled)),
    "output a little off": ("electra", tapping(nearly)),
}


@pytest.mark.parametrize("how", BROKEN)
def test_a_broken_tap_is_refused_with_the_numbers(how, monkeypatch):
    family, break_it = BROKEN[how]
    break_it(monkeypatch)
    engine = engine_of(family)
    check = self_check(engine)
    assert not check.passed
    assert max(check.pattern_deviation, check.output_deviation) > 1e-4
    for ask in (capture, lambda e, d: pattern(e, d[0]), lambda e, d: observe(e, d, None)):
        with pytest.raises(CheckFailed, match=r"within 1e-05.*pattern deviation \d.*nothing is captured"):
            ask(engine, [text(engine)])


def test_wrong_weights_are_found_by_the_sum_over_heads(monkeypatch):
    engine = engine_of()
    own = engine.weights
    honest = self_check(engine_of()).result_deviation

    def swapped(layer, stream="self"):
        weights = own(layer, stream)
        return type(weights)(**{**vars(weights), "W_O": weights.W_O[::-1]})

    monkeypatch.setattr(Engine, "weights", lambda self, *arguments: swapped(*arguments))
    check = self_check(engine)
    assert honest < 1e-5 < check.result_deviation
    assert not check.passed


def test_unknown_weights_leave_that_comparison_out(monkeypatch):
    def unknown(self, layer, stream="self"):
        raise WeightsUnknown("a known layout", "another", "Go without.")

    monkeypatch.setattr(Engine, "weights", unknown)
    check = self_check(engine_of())
    assert check.result_deviation is None
    assert check.passed


def test_nan_weights_fail_with_a_clear_message():
    model = tiny("bert")
    model.encoder.layer[0].attention.self.query.weight[0, 0] = float("nan")
    engine = engine_of(model=model)
    assert np.isnan(self_check(engine).pattern_deviation)
    assert not self_check(engine).passed
    with pytest.raises(CheckFailed, match="not finite: check the weights for NaN"):
        capture(engine, [text(engine)])


def test_sinks_are_counted_apart_and_a_missing_one_shows(monkeypatch):
    engine = engine_of("gpt_oss")
    calls = []
    with torch.inference_mode(), tap.tapped(engine.model, see=calls.append):
        engine.model(torch.arange(3, 15)[None])
    assert calls[0].sinks.shape == (4,)
    assert (calls[0].pattern.sum(-1) < 0.99).any()  # rows alone do not sum to 1
    assert self_check(engine).row_sum_deviation < 1e-5
    forgotten = tapping(lambda own, a, k: own(*a, **{n: v for n, v in k.items() if n != "s_aux"}))
    forgotten(monkeypatch)
    assert self_check(engine_of("gpt_oss")).row_sum_deviation > 0.01


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 0.01), ("bfloat16", 0.01)])
def test_tolerance_scales_with_precision_up_to_a_hundredth(dtype, tolerance):
    engine = engine_of(model=tiny("bert").to(getattr(torch, dtype)))
    check = self_check(engine)
    assert check.passed
    assert check.tolerance == pytest.approx(tolerance, rel=1e-3)
    assert check.pattern_deviation == 0
    assert 1e-5 < check.row_sum_deviation < check.tolerance
    assert 1e-4 < check.precision_deviation < 0.2
    assert self_check(engine_of()).precision_deviation is None


def test_a_family_that_is_only_partly_on_the_interface_is_refused():
    config = hf.LongT5Config(
        vocab_size=40, d_model=24, d_kv=8, d_ff=32, num_layers=2, num_heads=3, decoder_start_token_id=0
    )
    with pytest.raises(NotTappable, match="stream 'encoder'"):
        self_check(engine_of(model=hf.LongT5ForConditionalGeneration(config)))


def test_padding_is_judged_by_the_rounding_of_the_precision_not_by_the_tolerance(monkeypatch):
    for deviation, pads in ((0.5, True), (10.0, False)):  # ten rounding units of bfloat16 are 6.6
        monkeypatch.setattr(checking, "_padding_deviation", lambda *_, found=deviation: found)
        engine = engine_of(model=tiny("bert").to(torch.bfloat16))
        assert self_check(engine).tolerance < deviation
        assert trusted(engine).pads == pads


def test_an_image_model_off_its_own_grid_is_compared_in_half_precision():
    config = hf.ViTConfig(
        hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=32, image_size=96, patch_size=4
    )
    engine = engine_of("vit", hf.ViTModel(config, add_pooling_layer=False).to(torch.bfloat16))
    asked = probe_inputs(engine).get("interpolate_pos_encoding")
    before = {name: value.clone() for name, value in engine.model.state_dict().items()}
    assert asked
    assert 0 < self_check(engine).precision_deviation < 0.2
    after = engine.model.state_dict()
    assert all(after[n].dtype == v.dtype and torch.equal(after[n], v) for n, v in before.items())


def test_the_exact_copy_shares_nothing_with_the_model():
    engine = engine_of(model=tiny("gpt2").to(torch.bfloat16))
    weight = engine.model.get_input_embeddings().weight
    exact = checking._exact(weight, like=weight)
    assert isinstance(exact, torch.nn.Parameter)
    assert exact.dtype == torch.float32
    assert exact.data_ptr() != weight.data_ptr()
    assert torch.equal(exact, weight.float())
