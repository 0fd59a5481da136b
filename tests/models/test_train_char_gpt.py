import json
from dataclasses import asdict

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM, AutoTokenizer

from lib.errors import HeadlightError
from lib.models.char_gpt import training
from lib.models.char_gpt.card import card, command
from lib.models.char_gpt.settings import Settings
from lib.models.char_gpt.text import read_text, split, text_name, training_windows, validation_windows
from lib.models.char_gpt.training import build, learning_rate, train, validation_loss
from lib.models.sample_char_gpt import main as sample_main
from lib.models.shipped import PLACE, shipped

TEXT = "To be, or not to be: that is the question.\nWhether 'tis nobler in the mind to suffer\n" * 30
SIZES = {"width": 16, "layers": 1, "heads": 2, "context": 32, "batch": 4, "warmup": 2}


def weights(folder):
    return load_file(folder / "checkpoint" / "weights.safetensors")


class Interrupted(Exception):
    pass


@pytest.mark.parametrize("bfloat16", [True, False])
def test_a_resumed_run_ends_where_an_uninterrupted_one_does(tmp_path, monkeypatch, bfloat16):
    settings = Settings(variant="ega1", steps=7, bfloat16=bfloat16, **SIZES)
    whole = train(settings, TEXT, tmp_path / "whole", save_every=3, validate_every=2)

    real = training.training_step

    def failing(model, optimizer, ids, step, settings):
        if step == 5:
            raise Interrupted
        return real(model, optimizer, ids, step, settings)

    monkeypatch.setattr(training, "training_step", failing)
    with pytest.raises(Interrupted):
        train(settings, TEXT, tmp_path / "parts", save_every=3, validate_every=2)
    monkeypatch.setattr(training, "training_step", real)
    parts = train(settings, TEXT, tmp_path / "parts", resume=True, save_every=3, validate_every=2)

    first, second = weights(tmp_path / "whole"), weights(tmp_path / "parts")
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    losses = [[(h["step"], h["train_loss"], h["validation_loss"]) for h in s["history"]] for s in (whole, parts)]
    assert losses[0] == losses[1]


def test_a_checkpoint_of_other_settings_is_refused(tmp_path):
    train(Settings(steps=2, **SIZES), TEXT, tmp_path)
    with pytest.raises(HeadlightError, match="settings of the checkpoint"):
        train(Settings(steps=3, **SIZES), TEXT, tmp_path, resume=True)


def test_the_order_of_the_text_depends_on_seed_and_step_alone(monkeypatch, tmp_path):
    seen = {}

    def watch(ids, step, seed, batch, context):
        windows = training_windows(ids, step, seed, batch, context)
        seen.setdefault(current, []).append(windows)
        return windows

    monkeypatch.setattr(training, "training_windows", watch)
    for current in ("base", "ega1", "ega1-window", "ega4"):
        train(Settings(variant=current, steps=3, **SIZES), TEXT, tmp_path / current)
    assert all(np.array_equal(seen["base"], windows) for windows in seen.values())
    assert not np.array_equal(seen["base"][0], seen["base"][1])
    ids = np.arange(500)
    assert not np.array_equal(training_windows(ids, 0, 0, 4, 32), training_windows(ids, 0, 1, 4, 32))


def test_windows_hold_inputs_and_their_next_characters():
    ids = np.arange(100)
    training, validation = split(ids)
    assert (len(training), len(validation)) == (90, 10)
    windows = training_windows(training, 3, 0, 6, 8)
    assert windows.shape == (6, 9)
    assert (np.diff(windows, axis=1) == 1).all()
    assert windows.max() < 90
    assert validation_windows(validation, 4).tolist() == [[90, 91, 92, 93, 94], [94, 95, 96, 97, 98]]


def test_learning_rate_warms_up_and_ends_at_a_hundredth():
    settings = Settings(steps=100, warmup=10, learning_rate=1.0)
    rates = [learning_rate(step, settings) for step in range(101)]
    assert rates[:3] == pytest.approx([0.1, 0.2, 0.3])
    assert max(rates) == pytest.approx(1.0)
    assert rates[55] == pytest.approx(0.01 + 0.99 * 0.5)
    assert rates[100] == pytest.approx(0.01)


def test_weights_decay_and_gates_biases_and_norms_do_not():
    model, optimizer = build(Settings(variant="ega4", **SIZES), 20)
    names = {parameter: name for name, parameter in model.named_parameters()}
    decayed, plain = ({names[parameter] for parameter in group["params"]} for group in optimizer.param_groups)
    assert "model.layers.0.attn.q_proj.weight" in decayed
    assert {"model.layers.0.attn.gate.alpha", "model.norm.weight", "model.layers.0.up_proj.bias"} <= plain
    assert len(decayed) + len(plain) == len(names)


def test_a_run_learns_and_exports_what_it_measured(tmp_path):
    settings = Settings(variant="ega1-window", steps=60, **{**SIZES, "warmup": 10}, learning_rate=1e-2)
    summary = train(settings, TEXT, tmp_path, early_step=5)
    assert summary["validation_loss"] < 2.4 < np.log(len(set(TEXT)))
    early = json.loads((tmp_path / "early" / "training.json").read_text())
    assert early["step"] == 5
    assert early["validation_loss"] > summary["validation_loss"]

    folder = tmp_path / "model"
    assert load_file(folder / "model.safetensors")["model.norm.weight"].dtype == torch.float16
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    held_out = validation_windows(split(np.array(tokenizer(TEXT)["input_ids"]))[1], 32)
    assert validation_loss(model, held_out).mean() == pytest.approx(summary["validation_loss"], abs=1e-5)
    told = (folder / "README.md").read_text()
    assert "leaks the future" in told
    assert f"{summary['validation_loss']:.4f}" in told
    assert str(tmp_path) not in told
    assert "Shakespeare" not in told

    sample_main(["--model", str(folder), "--out", str(tmp_path / "a.txt"), "--passages", "2", "--length", "50"])
    sample_main(["--model", str(folder), "--out", str(tmp_path / "b.txt"), "--passages", "2", "--length", "50"])
    assert (tmp_path / "a.txt").read_text() == (tmp_path / "b.txt").read_text()
    assert "Not written by anyone: 2 passages" in (tmp_path / "a.md").read_text()


SUMMARY = {
    "settings": asdict(Settings()), "step": 6000, "tokens": 1, "parameters": 1, "validation_loss": 1.0,
    "validation_windows": 1, "train_loss": 1.0, "seconds": 1, "cpu_seconds": 1, "threads": 1, "cores": 1,
    "characters": 1, "text_sha256": "0" * 64, "text_name": "mine.txt",
}  # fmt: skip


def test_a_card_repeats_every_setting_that_is_not_the_default_and_names_its_text():
    changed = {"layers": 2, "context": 64, "beta2": 0.9, "bfloat16": False, "seed": 4, "variant": "ega4"}
    told = card(SUMMARY | {"settings": SUMMARY["settings"] | changed, "step": 500})
    repeated = next(line for line in told.splitlines() if line.startswith("Repeat with"))
    for option in ("--layers 2", "--context 64", "--beta2 0.9", "--float32", "--seed 4", "--variant ega4"):
        assert option in repeated
    assert "--early-step 500" in repeated
    assert "--text FILE" in repeated
    assert "--heads" not in repeated
    assert "`mine.txt`, 1 characters" in told
    assert "Shakespeare" not in told
    assert "characters of a text of its owner" in card({k: v for k, v in SUMMARY.items() if k != "text_name"})


@pytest.mark.parametrize("name", sorted(shipped()))
def test_shipped_cards_are_what_their_training_says(name):
    summary = json.loads((PLACE / name / "training.json").read_text())
    told = (PLACE / name / "README.md").read_text("utf-8")
    assert command(summary) in told
    assert f"**{summary['validation_loss']:.4f}**" in told
    assert f"{summary['tokens']:,}" in told


def test_a_text_is_called_by_its_file():
    assert text_name(None) == "tinyshakespeare.txt"
    assert text_name("/a/private/folder/plays.txt") == text_name("hub:owner/name:parts/plays.txt") == "plays.txt"


def test_text_is_read_from_a_file_or_the_data_folder_and_a_missing_one_is_named(tmp_path, monkeypatch):
    (tmp_path / "tinyshakespeare.txt").write_text("Speak, speak.")
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    assert read_text() == read_text(str(tmp_path / "tinyshakespeare.txt")) == "Speak, speak."
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(HeadlightError, match="--text FILE"):
        read_text()
