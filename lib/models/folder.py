"""A folder with a configuration and safetensors becomes a model; everything else is refused with the reason."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.errors import HeadlightError, first_line
from lib.models import families
from lib.models.devices import require_memory, torch_dtype
from lib.models.offline import file_digest
from lib.models.preparation import BrokenFolder, read_processor, read_tokenizer

PICKLED = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack")
INDEX = "model.safetensors.index.json"
PREPARING = ("*token*.json", "*.tiktoken", "*.model", "vocab*", "merges*", "*processor_config.json")
DEPTHS = ("num_hidden_layers", "num_layers", "encoder_layers", "decoder_layers", "num_decoder_layers")
MOST_LAYERS = 1000  # no published model comes near; building more takes minutes
SLACK = 1_000_000  # numbers
NOT_QUANTISED = "Choose the model that this one was quantised from, or a GGUF file of it."
SAFE_ONLY = "Save it as safetensors: model.save_pretrained(folder)."


class PickledWeights(HeadlightError):
    """Weights only in a format that can run code when it is read."""


class BadWeights(HeadlightError):
    """Weights that are damaged, incomplete or not finite."""


@dataclass(frozen=True)
class Parts:
    """What a folder held: model on the CPU, tokenizer, processor, and what the user should know about them."""

    model: Any
    tokenizer: Any | None
    processor: Any | None
    notes: tuple[str, ...]


def read_folder(folder: Path, dtype: str, device: str, name: str) -> Parts:
    """Model, tokenizer and image processor of a folder; dtype, device: where the model will live.

    Raises BrokenFolder, PickledWeights, BadWeights, UnsupportedFamily or OutOfMemory.
    """
    config = read_config(folder)
    classes = families.candidates(families.image_tower(config))
    files = weight_files(folder)
    numbers = sum(count_numbers(file) for file in files)
    require_memory(numbers, dtype, device, name)
    require_size(classes[-1], families.image_tower(config), numbers)
    model, notes = _read_model(folder, classes, torch_dtype(dtype))
    require_finite(model, name, dtype)
    if model.main_input_name == "pixel_values":
        return Parts(model, None, read_processor(folder, name), tuple(notes))
    return Parts(model, read_tokenizer(folder, name, model), None, tuple(notes))


def read_config(folder: Path) -> Any:
    """The transformers configuration of a folder; raises BrokenFolder or BrokenConfig."""
    from transformers import AutoConfig

    path = folder / "config.json"
    if not path.is_file():
        where = folder.resolve().name or str(folder)
        raise BrokenFolder(f"config.json and safetensors in {where}", "no config.json", _no_config(folder))
    try:
        said = json.loads(path.read_text("utf-8"))
    except (ValueError, RecursionError) as error:
        raise families.BrokenConfig("JSON in config.json", first_line(error), "Copy the file again.") from error
    if not isinstance(said, dict):
        raise families.BrokenConfig("an object {…} in config.json", f"a {type(said).__name__}", "Copy the file again.")
    model_type = said.get("model_type", "")
    if not isinstance(model_type, str):
        raise families.BrokenConfig(
            "the name of a family as model_type", repr(model_type)[:200], "Correct config.json."
        )
    families.register(model_type)
    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # every configuration class validates with its own exceptions
        if not model_type:
            said = "a config.json without model_type"
        else:
            said = f"the family “{model_type}” ({first_line(error)})"
        raise families.BrokenConfig("a family this version of transformers knows", said, families.WHAT_WORKS) from error


def weight_files(folder: Path) -> list[Path]:
    """The safetensors files of a folder, every header read; raises PickledWeights, BrokenFolder or BadWeights."""
    single, index = folder / "model.safetensors", folder / INDEX
    if single.is_file():
        files = [single]
    elif index.is_file():
        try:
            said = json.loads(index.read_text("utf-8"))
        except (ValueError, RecursionError) as error:
            raise BadWeights(f"JSON in {INDEX}", first_line(error), "Copy it again.") from error
        parts = said.get("weight_map") if isinstance(said, dict) else None
        if not isinstance(parts, dict) or not parts:
            raise BadWeights(f"a map from weights to files in {INDEX}", "none", "Copy it again.")
        files = sorted({_beside(folder, part) for part in parts.values()})
        lost = [file.name for file in files if not file.is_file()]
        if lost:
            raise BrokenFolder(f"{len(files)} safetensors files", f"{', '.join(lost[:3])} missing", "Copy all of them.")
    else:
        pickled = sorted(p.name for p in folder.iterdir() if p.suffix in PICKLED)
        if pickled:
            raise PickledWeights("model.safetensors", f"only {', '.join(pickled[:3])}, which can run code", SAFE_ONLY)
        raise BrokenFolder("model.safetensors beside config.json", "no weights", "Copy the weights too.")
    for file in files:
        count_numbers(file)
    return files


def _beside(folder: Path, part: Any) -> Path:
    """A file that an index names, which has to lie in the folder itself."""
    if not isinstance(part, str) or part in ("", ".", "..") or any(sign in part for sign in "/\\:\0"):
        raise BadWeights(f"names of files beside {INDEX}", repr(part)[:200], "Save the model again.")
    return folder / part


def count_numbers(file: Path) -> int:
    """How many numbers a safetensors file holds; raises BadWeights where it is damaged or cut short."""
    from math import prod

    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, framework="np") as tensors:
            return sum(prod(tensors.get_slice(name).get_shape()) for name in tensors.keys())  # noqa: SIM118 (no mapping)
    except (SafetensorError, OSError) as error:
        raise BadWeights(f"a whole safetensors file {file.name}", str(error), "Copy or download it again.") from error


def folder_digest(folder: Path) -> str:
    """First 12 hex digits of a digest of configuration, weights, and what prepares the input."""
    preparing = {file for pattern in PREPARING for file in folder.glob(pattern) if file.is_file()}
    files = [folder / "config.json", *weight_files(folder), *sorted(preparing)]
    names = " ".join(f"{file.name} {file_digest(file)}" for file in files)
    return hashlib.sha256(names.encode()).hexdigest()[:12]


def require_size(model_class: Any, config: Any, numbers: int) -> None:
    """Refuse a configuration far larger than its weights: what is missing would be drawn, and fill the memory."""
    import torch

    layers = max((n for name in DEPTHS if isinstance(n := getattr(config, name, None), int)), default=0)
    if layers > MOST_LAYERS:
        raise families.BrokenConfig(f"at most {MOST_LAYERS} layers", f"{layers}", "Correct config.json.")
    try:
        with torch.device("meta"):
            asked = sum(weight.numel() for weight in model_class(config).parameters())
    except Exception as error:  # every class validates its configuration with its own exceptions, or not at all
        said = f"one that it cannot be built from ({type(error).__name__}: {first_line(error)})"
        raise families.BrokenConfig(
            f"a configuration of {model_class.__name__}", said, "Correct config.json."
        ) from error
    if asked > 2 * numbers + SLACK:
        raise BadWeights(
            f"weights for the {asked / 1e6:,.1f} million numbers the configuration asks for",
            f"{numbers / 1e6:,.1f} million",
            "Check that configuration and weights belong together.",
        )


def require_finite(model: Any, name: str, dtype: str) -> None:
    """Refuse weights with NaN or infinity: every picture made of them would be wrong or empty."""
    import torch

    for weight, values in model.named_parameters():
        if torch.isfinite(values.sum()) or bool(torch.isfinite(values).all()):  # a sum may overflow in half precision
            continue
        remedy = "Choose float32." if dtype == "float16" else "Train or download the model again."
        raise BadWeights(f"finite weights in {name}", f"NaN or infinity in {weight}", remedy)


def _read_model(folder: Path, classes: list[Any], dtype: Any) -> tuple[Any, list[str]]:
    for model_class in classes:
        try:
            model, info = model_class.from_pretrained(
                folder,
                dtype=dtype,
                use_safetensors=True,
                local_files_only=True,
                trust_remote_code=False,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # they are told below, in words
            )
        except ImportError as error:  # quantised in a format that a package of its own reads
            raise BadWeights("weights in float32, float16 or bfloat16", first_line(error), NOT_QUANTISED) from error
        except (OSError, ValueError, RuntimeError, KeyError) as error:
            if isinstance(error, RuntimeError) and "memory" in str(error).lower():
                raise
            said = " ".join(str(error).split())[:300]
            raise BadWeights("weights that fit the configuration", said, "Check config.json.") from error
        for key, stored, asked in sorted(info["mismatched_keys"]):
            raise BadWeights(
                f"weights of the shapes that config.json asks for, {tuple(asked)} of {key}",
                f"{tuple(stored)}",
                "Copy the config.json that belongs to these weights.",
            )
        missing = {key for key in info["missing_keys"] if "pooler" not in key}
        if not missing:
            _require_whole_stack(model, info["unexpected_keys"])
            return model, _notes(model, info)
        del model
    few = ", ".join(sorted(missing)[:3])
    raise BadWeights(
        "all weights the configuration asks for", f"{len(missing)} missing ({few} …)", "Check config.json."
    )


def _require_whole_stack(model: Any, left: set[str]) -> None:
    """Refuse a configuration that asks for fewer layers than the weights hold; left: names of weights left out."""
    import torch

    own = f"{model.base_model_prefix}."
    stacks = {n.removeprefix(own): len(m) for n, m in model.named_modules() if isinstance(m, torch.nn.ModuleList)}
    for key in sorted(left):
        for number in re.finditer(r"\.(\d+)\.", key):
            stack = key[: number.start()].removeprefix(own)
            if int(number[1]) >= stacks.get(stack, int(number[1]) + 1):
                raise BadWeights(
                    f"weights of {stacks[stack]} layers, as config.json says",
                    f"{key} as well",
                    "Copy the config.json that belongs to these weights.",
                )


def _notes(model: Any, info: dict[str, Any]) -> list[str]:
    notes = []
    if any("pooler" in key for key in info["missing_keys"]):
        drop_pooler(model)
        notes.append("The checkpoint has no pooling layer; none was added.")
    heads = sorted({key.split(".")[0] for key in info["unexpected_keys"]} - {"cls", "lm_head"})
    if heads:
        notes.append(f"Left out, because the pages do not use it: {', '.join(heads[:5])}.")
    return notes


def drop_pooler(model: Any) -> None:
    """Take away a pooling layer, which would hold random numbers."""
    for module in model.modules():
        if getattr(module, "pooler", None) is not None:
            module.pooler = None


def _no_config(folder: Path) -> str:
    inside = {p.name for p in folder.iterdir()}
    gguf = sorted(file for file in inside if file.endswith(".gguf"))
    if gguf:
        return f"To read a GGUF file, give its path: {gguf[0]}."
    if "adapter_config.json" in inside:
        return "This folder holds an adapter: merge it into its model and save that."
    return "Give the folder that save_pretrained wrote."
