import numpy as np
import pytest
import torch

from lib.capture import self_check, tapped
from lib.models import Engine, load, untrained_twin
from tests.capture.families import FAMILIES, inputs, tiny


@pytest.fixture(scope="module")
def minilm() -> Engine:
    return load("all-MiniLM-L6-v2")


def flat(engine):
    return torch.cat([weight.reshape(-1) for weight in engine.model.parameters()])


def test_the_same_seed_gives_the_same_twin_and_another_seed_another(minilm):
    first, again, other = untrained_twin(minilm), untrained_twin(minilm, seed=0), untrained_twin(minilm, seed=1)
    assert torch.equal(flat(first), flat(again))
    assert not torch.equal(flat(first), flat(other))
    assert not torch.equal(flat(first), flat(minilm))
    assert first.key == again.key
    assert len({minilm.key, first.key, other.key}) == 3


def test_a_twin_differs_in_nothing_but_its_weights(minilm):
    twin = untrained_twin(minilm)
    assert twin.name == "all-MiniLM-L6-v2 (untrained, seed 0)"
    assert twin.anatomy == minilm.anatomy
    assert twin.tokenizer is minilm.tokenizer
    assert (twin.device, twin.dtype, twin.attention) == (minilm.device, minilm.dtype, minilm.attention)
    assert twin.lock is not minilm.lock
    assert not twin.model.training
    assert twin.model.config is not minilm.model.config


def test_a_twin_made_while_the_model_is_watched_can_be_watched_itself(minilm):
    with tapped(minilm.model):
        twin = untrained_twin(minilm)
    assert twin.attention == minilm.attention
    assert self_check(twin).passed


def test_twin_weights_follow_the_architectures_rule(minilm):
    twin = untrained_twin(minilm)
    matrices = [w for name, w in twin.model.named_parameters() if name.endswith("query.weight")]
    assert all(abs(float(w.std()) - twin.model.config.initializer_range) < 1e-3 for w in matrices)
    assert all(abs(float(w.mean())) < 1e-3 for w in matrices)
    norms = [w for name, w in twin.model.named_parameters() if name.endswith("LayerNorm.weight")]
    assert all(torch.equal(w, torch.ones_like(w)) for w in norms)


def test_the_global_generator_is_left_as_it_was(minilm):
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    untrained_twin(minilm, seed=9)
    assert torch.equal(torch.rand(3), expected)


def test_the_trained_model_is_left_as_it_was(minilm):
    before = flat(minilm).clone()
    untrained_twin(minilm)
    assert torch.equal(flat(minilm), before)


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_a_twin_that_runs(family):
    engine = Engine.from_parts(tiny(family), name=family)
    twin, again = untrained_twin(engine, seed=3), untrained_twin(engine, seed=3)
    assert torch.equal(flat(twin), flat(again))
    with torch.inference_mode():
        out = twin.model(**inputs(family))[0]
    assert np.isfinite(out.numpy()).all()
    assert out.shape == engine.model(**inputs(family))[0].shape


def test_a_twin_has_its_models_precision():
    engine = Engine.from_parts(tiny("bert").to(torch.bfloat16))
    twin = untrained_twin(engine)
    assert twin.dtype == engine.dtype == "bfloat16"
    assert torch.equal(flat(twin), flat(untrained_twin(Engine.from_parts(tiny("bert")))).to(torch.bfloat16))


def test_a_twin_has_no_pooler_where_its_model_has_none():
    model = tiny("bert")
    model.pooler = None
    assert untrained_twin(Engine.from_parts(model)).model.pooler is None
    assert untrained_twin(Engine.from_parts(tiny("bert"))).model.pooler is not None
