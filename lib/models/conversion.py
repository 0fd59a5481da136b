"""GGUF and ONNX weights rewritten once as a folder of safetensors; reading that is some hundred times faster."""

from __future__ import annotations

import copy
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from lib.errors import HeadlightError
from lib.models import cache
from lib.models.devices import BUILDING, require_memory
from lib.models.folder import require_finite, require_size
from lib.models.gguf_header import BrokenGGUF, Header, read_header
from lib.models.offline import NotInstalled, file_digest

VERSION = 1  # of what is written; part of the cache's folder names
NOT_VISIBLE = frozenset({"bloom", "falcon", "mamba"})  # read by transformers, outside the attention interface


def from_gguf(path: Path) -> Path:
    """Folder of safetensors with the model and the tokenizer of a GGUF file; quantised weights become float32.

    Raises BrokenGGUF with the architecture's name where it cannot be read.
    """
    name = gguf_cache_name(path)
    found = cache.find(name)
    if found is not None:
        return found
    header = read_header(path)
    require_architecture(header)
    require_memory(header.numbers, "float32", "cpu", path.name)
    for module in ("gguf", "accelerate"):
        if find_spec(module) is None:
            raise NotInstalled(f"the package {module}, which reads GGUF", "none", f"Run: pip install {module}")
    return cache.convert(name, lambda folder: _write_gguf(path, header, folder))


def gguf_cache_name(path: Path) -> str:
    """Name of the cached folder of a GGUF file."""
    return f"gguf-{file_digest(path)[:16]}-v{VERSION}"


def require_architecture(header: Header) -> None:
    """Refuse a GGUF architecture that cannot be read or looked at, by its name."""
    from transformers.integrations.ggml import GGUF_CONFIG_MAPPING

    works = sorted(set(GGUF_CONFIG_MAPPING) - NOT_VISIBLE - {"general", "tokenizer"})
    spelt = header.architecture.replace("-", "_")
    if spelt not in works and spelt.replace("moe", "_moe") not in works:
        raise BrokenGGUF("a GGUF architecture that works", f"“{header.architecture}”", f"These do: {', '.join(works)}.")


def _write_gguf(path: Path, header: Header, folder: Path) -> None:
    with BUILDING:
        model, tokenizer = _read_gguf(path, header)
    require_finite(model, path.name, "float32")
    config = copy.deepcopy(model.config)
    if hasattr(config, "quantization_config"):
        del config.quantization_config  # the weights are no longer quantised
    config.architectures = [type(model).__name__]
    config.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    _save({name: weight.detach() for name, weight in model.named_parameters()}, folder)


def _read_gguf(path: Path, header: Header) -> tuple[Any, Any]:
    import torch
    import transformers as hf

    given: dict[str, Any] = {"gguf_file": path.name, "local_files_only": True, "trust_remote_code": False}
    try:
        config = hf.AutoConfig.from_pretrained(path.parent, **given)
        two_stacks = config.is_encoder_decoder
        classes = hf.MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING if two_stacks else hf.MODEL_FOR_CAUSAL_LM_MAPPING
        require_size(classes[type(config)], config, header.numbers)
        model = classes[type(config)].from_pretrained(path.parent, config=config, dtype=torch.float32, **given)
        tokenizer = hf.AutoTokenizer.from_pretrained(path.parent, **given)
    except HeadlightError:
        raise
    except (ValueError, KeyError, OSError, RuntimeError, TypeError, AttributeError) as error:
        said = " ".join(str(error).split())[:300]
        raise BrokenGGUF("a whole GGUF file of a known layout", said, "Download it again or choose another.") from error
    return model, tokenizer


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
        raise NotInstalled(
            "the package onnx, which reads ONNX", "none", "Run: pip install --no-deps -r requirements-models.txt"
        ) from error
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
