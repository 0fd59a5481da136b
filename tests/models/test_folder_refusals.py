"""Folders that are damaged, incomplete or hostile are refused in words, before anything is read or run."""

import json
import shutil

import pytest
import transformers as hf
from safetensors.torch import load_file, save_file

from lib.errors import HeadlightError
from lib.models import devices, load
from lib.models.families import BrokenConfig
from lib.models.folder import BadWeights, PickledWeights
from lib.models.loading import Unreadable
from lib.models.preparation import BrokenFolder
from tests.models.conftest import SMALL
from tests.models.test_folder import decoder


def test_pickled_weights_are_never_opened(bert, save):
    folder = save(bert)
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"cos\nsystem\n(S'touch pwned'\ntR.")
    with pytest.raises(PickledWeights, match=r"pytorch_model.bin.*save_pretrained"):
        load(str(folder))
    with pytest.raises(PickledWeights, match="run code"):
        load(str(folder / "pytorch_model.bin"))


@pytest.mark.parametrize("keep", [0, 4, 200, 0.5, 0.999])
def test_truncated_safetensors_are_refused(bert, save, keep):
    folder = save(bert)
    whole = (folder / "model.safetensors").read_bytes()
    kept = keep if isinstance(keep, int) else int(keep * len(whole))
    (folder / "model.safetensors").write_bytes(whole[:kept])
    with pytest.raises(BadWeights, match=r"model\.safetensors"):
        load(str(folder))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_not_finite_are_refused_by_name(bert, save, value):
    folder = save(bert)
    weights = load_file(folder / "model.safetensors")
    weights["bert.encoder.layer.1.attention.self.key.weight"][3, 4] = value
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(BadWeights, match=r"layer\.1\.attention\.self\.key\.weight"):
        load(str(folder))


def test_missing_weights_are_refused_rather_than_drawn(bert, save):
    folder = save(bert)
    weights = load_file(folder / "model.safetensors")
    del weights["bert.encoder.layer.0.attention.self.query.weight"]
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    with pytest.raises(BadWeights, match=r"1 missing .*layer\.0\.attention\.self\.query"):
        load(str(folder))


def test_weights_of_another_size_are_refused(bert, save):
    with pytest.raises(BadWeights, match=r"shapes that config\.json asks for, \(64\S* of \S+intermediate\.dense\.bias"):
        load(str(save(bert, intermediate_size=64)))


def test_a_folder_without_config_says_what_to_give(bert, save, tmp_path):
    folder = save(bert)
    (folder / "config.json").unlink()
    with pytest.raises(BrokenFolder, match=r"no config\.json.*save_pretrained"):
        load(str(folder))
    (folder / "weights.gguf").touch()
    with pytest.raises(BrokenFolder, match=r"weights\.gguf"):
        load(str(folder))
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").touch()
    with pytest.raises(BrokenFolder, match="merge"):
        load(str(adapter))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "JSON"),
        ("[]", "an object.*a list"),
        ("{}", "without model_type"),
        ('{"model_type": "perceptron9"}', "perceptron9"),
    ],
)
def test_a_broken_configuration_is_explained(bert, save, text, said):
    folder = save(bert)
    (folder / "config.json").write_text(text, "utf-8")
    with pytest.raises(BrokenConfig, match=said):
        load(str(folder))


def test_code_in_a_folder_is_never_run(bert, save):
    folder = save(bert, model_type="my_bert", auto_map={"AutoConfig": "mine.Config", "AutoModel": "mine.Model"})
    (folder / "mine.py").write_text("raise SystemExit('the code ran')", "utf-8")
    with pytest.raises(BrokenConfig, match="my_bert"):
        load(str(folder))


def test_too_little_memory_is_said_before_reading(bert, save, monkeypatch):
    monkeypatch.setattr(devices, "free_bytes", lambda device: 1000)
    with pytest.raises(devices.OutOfMemory, match="smaller model"):
        load(str(save(bert)))


def test_every_error_belongs_to_the_one_family(bert, save):
    folder = save(bert)
    shutil.rmtree(folder)
    folder.mkdir()
    with pytest.raises(HeadlightError) as caught:
        load(str(folder))
    assert all((caught.value.expected, caught.value.got, caught.value.remedy))


def test_a_configuration_far_larger_than_its_weights_is_refused_before_memory_fills(save):
    folder = save(decoder())
    (folder / "config.json").write_text('{"model_type": "llama"}', "utf-8")  # seven billion numbers by default
    with pytest.raises(BadWeights, match=r"6,\d\d\d.\d million"):
        load(str(folder))


@pytest.mark.parametrize(
    ("changes", "error", "said"),
    [
        ({"num_attention_heads": 5}, BrokenConfig, "multiple"),
        ({"hidden_act": "foo"}, BrokenConfig, "KeyError"),
        ({"pad_token_id": 99}, BrokenConfig, "AssertionError"),
        ({"hidden_size": 0}, BrokenConfig, "ZeroDivisionError"),
        ({"hidden_size": -3}, BrokenConfig, "negative"),
        ({"num_hidden_layers": 20_000}, BrokenConfig, "at most 1000 layers"),
        ({"model_type": ["bert"]}, BrokenConfig, "name of a family"),
        ({"architectures": [5]}, BrokenConfig, "class names"),
        ({"attn_implementation": "flash_attention_2"}, HeadlightError, "FlashAttention2"),
        ({"quantization_config": {"quant_method": "gptq", "bits": 4}}, BadWeights, "quantised from"),
        ({"quantization_config": {"quant_method": "awq", "bits": 4}}, BadWeights, "float32"),
    ],
)
def test_configurations_that_break_transformers_are_explained(changes, error, said, bert, save):
    with pytest.raises(error, match=said):
        load(str(save(bert, **changes)))


def test_nesting_without_end_is_explained(bert, save):
    folder = save(bert)
    (folder / "config.json").write_text("[" * 100_000, "utf-8")
    with pytest.raises(BrokenConfig, match="JSON"):
        load(str(folder))


@pytest.mark.parametrize("part", [5, None, "../other/model.safetensors", "/etc/model.safetensors", "a\\b", ".."])
def test_an_index_names_only_files_beside_it(part, bert, save):
    folder = save(bert)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(json.dumps({"weight_map": {"a": part}}), "utf-8")
    with pytest.raises(BadWeights, match="files beside"):
        load(str(folder))


@pytest.mark.parametrize("broken", ["[]", "5", '{"weight_map": 5}', '{"weight_map": {}}', "{}", "", "[" * 100_000])
def test_an_index_that_is_no_map_is_explained(broken, bert, save):
    folder = save(bert)
    (folder / "model.safetensors").unlink()
    (folder / "model.safetensors.index.json").write_text(broken, "utf-8")
    with pytest.raises(BadWeights, match=r"map from weights to files in \S+ got none|JSON in"):
        load(str(folder))


def test_what_nobody_foresaw_is_named_and_logged(bert, save, monkeypatch, caplog):
    class Odd(Exception):
        pass

    def fail(*args, **kwargs):
        raise Odd("first line\nsecond line")

    monkeypatch.setattr("lib.models.folder.require_finite", fail)
    with pytest.raises(Unreadable, match=r"got Odd: first line\. Check"):
        load(str(save(bert)))
    assert "second line" in caplog.text


@pytest.mark.parametrize("make", [lambda: hf.BertForMaskedLM(hf.BertConfig(**SMALL)), decoder])
def test_a_configuration_of_fewer_layers_than_the_weights_hold_is_refused(make, save):
    with pytest.raises(BadWeights, match=r"weights of 1 layers.*layers?\.1\."):
        load(str(save(make(), num_hidden_layers=1)))
