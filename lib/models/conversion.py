"""GGUF and ONNX weights rewritten once as a folder of safetensors; reading that is some hundred times faster."""

from __future__ import annotations

import copy
import json
import struct
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO

from lib.errors import HeadlightError
from lib.models import cache
from lib.models.folder import require_finite
from lib.models.offline import NotInstalled, file_digest

VERSION = 1  # of what is written; part of the cache's folder names
NOT_VISIBLE = frozenset({"bloom", "falcon", "mamba"})  # read by transformers, outside the attention interface
_SCALARS = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}  # GGUF type: bytes
_TEXT, _ARRAY = 8, 9


class BrokenGGUF(HeadlightError):
    """A file that is not GGUF, is cut short, or holds an architecture that cannot be read."""


def from_gguf(path: Path) -> Path:
    """Folder of safetensors with the model and the tokenizer of a GGUF file; quantised weights become float32.

    Raises BrokenGGUF with the architecture's name where it cannot be read.
    """
    name = gguf_cache_name(path)
    found = cache.find(name)
    if found is not None:
        return found
    architecture = require_architecture(path)
    for module in ("gguf", "accelerate"):
        if find_spec(module) is None:
            raise NotInstalled(f"the package {module}, which reads GGUF", "none", f"Run: pip install {module}")
    return cache.convert(name, lambda folder: _write_gguf(path, architecture, folder))


def gguf_cache_name(path: Path) -> str:
    """Name of the cached folder of a GGUF file."""
    return f"gguf-{file_digest(path)[:16]}-v{VERSION}"


def require_architecture(path: Path) -> str:
    """The architecture a GGUF file names; raises BrokenGGUF unless it can be read and looked at."""
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

    works = sorted(set(GGUF_CONFIG_MAPPING) - NOT_VISIBLE - {"general", "tokenizer"})
    try:
        with path.open("rb") as file:
            architecture = read_architecture(file)
    except (OSError, struct.error, UnicodeDecodeError, MemoryError) as error:
        raise BrokenGGUF("a whole GGUF file", f"{path.name}, {error}", "Download it again.") from error
    if architecture.replace("-", "_").replace("moe", "_moe") not in works and architecture not in works:
        raise BrokenGGUF("a GGUF architecture that works", f"“{architecture}”", f"These do: {', '.join(works)}.")
    return architecture


def read_architecture(file: BinaryIO) -> str:
    """The value of ``general.architecture`` in a GGUF header, without reading the rest.

    Source: GGUF specification, versions 2 and 3: magic, version, number of tensors, number of pairs, pairs.
    """
    magic, version, _tensors, pairs = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF" or version not in (2, 3):
        raise struct.error(f"which begins with {magic!r} version {version}, not b'GGUF' version 2 or 3")
    for _ in range(pairs):
        key = _text(file)
        (kind,) = struct.unpack("<I", file.read(4))
        if key == "general.architecture" and kind == _TEXT:
            return _text(file)
        _skip(file, kind)
    raise struct.error("which names no architecture")


def _text(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    if length > 1 << 20:
        raise struct.error(f"whose text is {length} bytes long")
    return file.read(length).decode("utf-8")


def _skip(file: BinaryIO, kind: int) -> None:
    if kind == _TEXT:
        _text(file)
    elif kind == _ARRAY:
        inner, count = struct.unpack("<IQ", file.read(12))
        if inner in _SCALARS:
            file.seek(_SCALARS[inner] * count, 1)
        else:
            for _ in range(count):
                _skip(file, inner)
    elif kind in _SCALARS:
        file.seek(_SCALARS[kind], 1)
    else:
        raise struct.error(f"whose value type {kind} is unknown")


def _write_gguf(path: Path, architecture: str, folder: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForSeq2SeqLM, AutoTokenizer

    auto = AutoModelForSeq2SeqLM if "t5" in architecture else AutoModelForCausalLM
    given: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True}
    try:
        model = auto.from_pretrained(path.parent, dtype=torch.float32, **given)
        tokenizer = AutoTokenizer.from_pretrained(path.parent, **given)
    except (ValueError, KeyError, OSError, RuntimeError, TypeError) as error:
        said = " ".join(str(error).split())[:300]
        raise BrokenGGUF("a whole GGUF file of a known layout", said, "Download it again or choose another.") from error
    require_finite(model, path.name, "float32")
    config = copy.deepcopy(model.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config  # the weights are no longer quantised
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _save({name: weight.detach() for name, weight in model.named_parameters()}, folder)


def from_dinov2_onnx(path: Path) -> Path:
    """Folder of safetensors with the DINOv2 backbone inside an ONNX file, with its image settings."""
    name = dinov2_cache_name(path)
    found = cache.find(name)
    return cache.convert(name, lambda folder: _write_dinov2(path, folder)) if found is None else found


def dinov2_cache_name(path: Path) -> str:
    """Name of the cached folder of a DINOv2 ONNX file."""
    return f"dinov2-{file_digest(path)[:16]}-v{VERSION}"


def _write_dinov2(path: Path, folder: Path) -> None:
    import torch

    weights = {name: torch.from_numpy(array.copy()) for name, array in dinov2_weights(path).items()}
    _save(weights, folder)
    (folder / "config.json").write_text(json.dumps(DINOV2_CONFIG, indent=1), "utf-8")
    (folder / "preprocessor_config.json").write_text(json.dumps(DINOV2_IMAGES, indent=1), "utf-8")


def dinov2_weights(path: Path) -> dict[str, Any]:
    """The backbone's weights as NumPy arrays under the names of ``Dinov2Model``.

    Biases and norms keep their names; a matrix is the second input of a MatMul node, transposed, and named after
    the node; the position table was folded into two constants, the one of CLS and those of the patches.
    """
    try:
        import onnx
    except ImportError as error:
        raise NotInstalled("the package onnx, which reads ONNX", "none", "Run: pip install onnx") from error
    graph = onnx.load(str(path)).graph
    constants = {c.name: c for c in graph.initializer}
    weights = {
        name.removeprefix("backbone."): onnx.numpy_helper.to_array(constant)
        for name, constant in constants.items()
        if name.startswith("backbone.")
    }
    for node in graph.node:
        if node.op_type == "MatMul" and node.name.startswith("/backbone/") and node.input[1] in constants:
            place = node.name.removeprefix("/backbone/").removesuffix("/MatMul").replace("/", ".")
            weights[f"{place}.weight"] = onnx.numpy_helper.to_array(constants[node.input[1]]).T
    positions = [onnx.numpy_helper.to_array(constants[name]) for name in DINOV2_POSITIONS]
    import numpy as np

    weights["embeddings.position_embeddings"] = np.concatenate(positions, axis=1)  # (1, CLS + patch, d_model)
    return weights


def _save(weights: dict[str, Any], folder: Path) -> None:
    from safetensors.torch import save_file

    save_file({name: w.contiguous() for name, w in weights.items()}, folder / "model.safetensors", {"format": "pt"})


DINOV2_POSITIONS = ("onnx::Concat_1957", "onnx::Reshape_1962")
DINOV2_CONFIG = {
    "architectures": ["Dinov2Model"],
    "model_type": "dinov2",
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 6,
    "mlp_ratio": 4,
    "image_size": 518,
    "patch_size": 14,
    "layer_norm_eps": 1e-6,
    "use_mask_token": False,
}
DINOV2_IMAGES = {
    "image_processor_type": "BitImageProcessor",
    "do_resize": True,
    "size": {"shortest_edge": 256},
    "resample": 3,
    "do_center_crop": True,
    "crop_size": {"height": 224, "width": 224},
    "do_rescale": True,
    "rescale_factor": 1 / 255,
    "do_normalize": True,
    "image_mean": [0.485, 0.456, 0.406],
    "image_std": [0.229, 0.224, 0.225],
    "do_convert_rgb": True,
}
