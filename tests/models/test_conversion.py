import shutil
import struct

import gguf
import numpy as np
import pytest
import torch

from lib.models import conversion, load
from lib.models.folder import BadWeights
from lib.models.gguf_header import BrokenGGUF, read_header
from lib.models.offline import PACKAGES

SMOLLM = PACKAGES[1]
needs_smollm = pytest.mark.skipif(SMOLLM.missing() != "", reason=SMOLLM.missing() or "installed")


def write(path, architecture, **extra):
    """A GGUF file with one tensor."""
    writer = gguf.GGUFWriter(str(path), architecture)
    for name, value in extra.items():
        writer.add_array(name, value) if isinstance(value, list) else writer.add_uint32(name, value)
    writer.add_tensor("token_embd.weight", np.zeros((4, 4), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.mark.parametrize("architecture", ["bert", "rwkv7", "falcon", "mamba", "clip"])
def test_a_wrong_architecture_is_named_with_those_that_work(architecture, tmp_path):
    with pytest.raises(BrokenGGUF, match=rf"“{architecture}”.*llama"):
        load(str(write(tmp_path / "m.gguf", architecture)))


def test_the_architecture_is_found_behind_other_values(tmp_path):
    path = tmp_path / "m.gguf"
    text = b"general.architecture"
    pairs = [
        (b"first", 4, struct.pack("<I", 7)),
        (b"second", 9, struct.pack("<IQ", 8, 2) + b"".join(struct.pack("<Q", len(s)) + s for s in (b"ab", b"c"))),
        (b"third", 9, struct.pack("<IQ", 5, 3) + struct.pack("<3i", 1, 2, 3)),
        (text, 8, struct.pack("<Q", 5) + b"llama"),
    ]
    body = b"".join(struct.pack("<Q", len(key)) + key + struct.pack("<I", kind) + value for key, kind, value in pairs)
    path.write_bytes(struct.pack("<4sIQQ", b"GGUF", 3, 0, len(pairs)) + body)
    assert read_header(path).architecture == "llama"


def test_the_reader_agrees_with_the_library(tmp_path):
    path = write(tmp_path / "m.gguf", "qwen2", **{"general.alignment": 32, "tokenizer.ggml.tokens": ["a", "b"]})
    theirs = gguf.GGUFReader(str(path)).fields["general.architecture"].contents()
    assert read_header(path).architecture == theirs == "qwen2"
    assert read_header(path).numbers == 16


@pytest.mark.parametrize(
    "content",
    [b"", b"GGUF", b"PK\x03\x04" + b"\0" * 60, struct.pack("<4sIQQ", b"GGUF", 99, 0, 1) + b"\0" * 40,
     struct.pack("<4sIQQ", b"GGUF", 3, 0, 1) + struct.pack("<Q", 1 << 60), struct.pack("<4sIQQ", b"GGUF", 3, 0, 0)],
)  # fmt: skip
def test_what_is_not_gguf_is_refused(content, tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(BrokenGGUF, match=r"m\.gguf"):
        load(str(path))


def test_a_file_that_describes_no_model_is_refused_before_memory_fills(tmp_path, monkeypatch):
    """Without its own sizes, the library would make a model of the family's default size: billions of numbers."""
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    with pytest.raises(BadWeights, match="million numbers"):
        load(str(write(tmp_path / "m.gguf", "llama")))
    assert list((tmp_path / "cache").iterdir()) == [], "nothing half-written stays"


@needs_smollm
def test_a_truncated_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    path = tmp_path / "half.gguf"
    with SMOLLM.find().open("rb") as whole:
        path.write_bytes(whole.read(3_000_000))
    with pytest.raises(BrokenGGUF, match="ends after 3,000,000 bytes"):
        load(str(path))


@needs_smollm
def test_a_gguf_file_by_its_path_is_the_same_model(monkeypatch):
    package, own = load(SMOLLM.name), load(str(SMOLLM.find()))
    assert (own.source, own.name) == ("gguf", SMOLLM.find().name)
    assert own.revision == package.revision
    pairs = zip(own.model.parameters(), package.model.parameters(), strict=True)
    assert all(torch.equal(a, b) for a, b in pairs)


@needs_smollm
def test_converted_weights_are_the_files_own():
    """One row of the embedding and one projection, dequantised here by the GGUF library."""
    engine = load(SMOLLM.name)
    tensors = {tensor.name: tensor for tensor in gguf.GGUFReader(str(SMOLLM.find())).tensors}
    embedding = tensors["token_embd.weight"]
    row = gguf.dequantize(embedding.data[504:505], embedding.tensor_type)[0]
    assert np.array_equal(engine.model.get_input_embeddings().weight[504].numpy(), row)
    down = tensors["blk.7.ffn_down.weight"]
    ours = engine.model.model.layers[7].mlp.down_proj.weight.numpy()
    assert np.array_equal(ours, gguf.dequantize(down.data, down.tensor_type))


@needs_smollm
def test_a_damaged_conversion_is_made_again_and_never_served(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path))
    calls = []

    def fill(path, header, folder):
        calls.append(header.architecture)
        (folder / "model.safetensors").write_bytes(b"weights")

    monkeypatch.setattr(conversion, "_write_gguf", fill)
    folder = conversion.from_gguf(SMOLLM.find())
    assert conversion.from_gguf(SMOLLM.find()) == folder
    assert calls == ["llama"]
    (folder / "model.safetensors").write_bytes(b"wEights")
    assert (conversion.from_gguf(SMOLLM.find()) / "model.safetensors").read_bytes() == b"weights"
    assert calls == ["llama", "llama"]
    shutil.rmtree(folder)
