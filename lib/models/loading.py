"""load: from a name, a Hub id, a folder or a GGUF file to an Engine."""

from __future__ import annotations

from typing import Any

from lib.errors import HeadlightError
from lib.models.engine import Engine
from lib.models.offline import PACKAGES, Package

__all__ = ["Engine", "UnknownModel", "load"]


class UnknownModel(HeadlightError):
    """No model answers to a name."""


def load(name_or_path: str, device: str = "auto", dtype: str = "float32") -> Engine:
    """Load a model.

    name_or_path: a name of the catalogue; device: "auto" | "cuda" | "mps" | "cpu";
    dtype: "float32" | "float16" | "bfloat16".
    Raises a HeadlightError that says what was expected, what came, and what works instead.
    """
    for package in PACKAGES:
        if package.name == name_or_path:
            return _packaged(package, device, dtype)
    raise UnknownModel("the name of a model", repr(name_or_path), "See the catalogue.")


def _packaged(package: Package, device: str, dtype: str) -> Engine:
    import torch
    from transformers import AutoModel, AutoTokenizer

    folder = package.verified().parent
    model: Any = AutoModel.from_pretrained(
        folder, dtype=getattr(torch, dtype), use_safetensors=True, local_files_only=True
    )
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return Engine.from_parts(
        model.to(device), tokenizer, name=package.name, source="offline", revision=package.sha256[:12]
    )
