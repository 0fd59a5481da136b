import numpy as np
import pytest
import torch

from lib.capture import self_check
from lib.errors import HeadlightError
from lib.models import Engine, load
from lib.models.char_gpt import CharGPTConfig, CharGPTForCausalLM
from lib.models.char_gpt.text import read_text, split, validation_windows
from lib.models.char_gpt.tokenizer import character_tokenizer
from lib.models.char_gpt.training import validation_loss
from lib.models.shipped import PLACE

GATED = {"ega1": True, "ega4": True, "ega1-window": False}  # whether the future stays out


def shipped_engine(name: str) -> Engine:
    if not (PLACE / name / "model.safetensors").is_file():
        pytest.skip(f"data/models/{name} has not been trained on this checkout")
    return load(name, device="cpu")


@pytest.mark.parametrize(("n_gates", "norm"), [(0, "prefix"), (1, "prefix"), (1, "window"), (4, "prefix")])
def test_the_self_check_passes_on_every_variant(n_gates, norm):
    torch.manual_seed(0)
    tokenizer = character_tokenizer("".join(map(chr, range(32, 127))) + "\n", context=256)
    settings = {"n_gates": n_gates, "gate_norm": norm, "initializer_range": 0.2, "vocab_size": len(tokenizer)}
    model = CharGPTForCausalLM(CharGPTConfig(hidden_size=32, num_hidden_layers=2, **settings))
    check = self_check(Engine.from_parts(model, tokenizer, name="char_gpt"))
    assert check.passed, check
    assert check.result_deviation is not None


@pytest.mark.parametrize("name", GATED)
def test_shipped_gates_keep_the_future_out_unless_labelled(name):
    engine = shipped_engine(name)
    ids = torch.tensor([engine.tokenizer("Now is the winter of our discontent\nMade glorious summer")["input_ids"]])
    edited = ids.clone()
    edited[0, -1] = engine.tokenizer("!")["input_ids"][0]
    with torch.no_grad():
        moved = (engine.model(input_ids=ids).logits - engine.model(input_ids=edited).logits)[:, :-1].abs().max()
    assert (moved == 0) if GATED[name] else (moved > 1e-4)
    assert ("leaks the future" in (PLACE / name / "README.md").read_text()) is not GATED[name]


def test_shipped_base_predicts_held_out_text_well():
    engine = shipped_engine("base")
    try:
        text = read_text()
    except HeadlightError:
        pytest.skip("needs tinyshakespeare.txt in the folder that HEADLIGHT_DATA names")
    held_out = split(np.array(engine.tokenizer(text, verbose=False)["input_ids"]))[1]
    assert validation_loss(engine.model, validation_windows(held_out, 256)[::9]).mean() <= 1.65
