"""Where a model's attention is: every module on transformers' attention interface, with its stream and layer numbers.

A module is one of them where its code asks the interface for the function that computes attention; that is read off
the code, so families which join or leave the interface are known.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

# encoder_attn, crossattention, cross_attn, EncDecAttention, encoder_decoder_attention …
_CROSS = re.compile(r"cross_?att|enc(oder)?_?(dec(oder)?_?)?att", re.IGNORECASE)


@dataclass(frozen=True)
class Site:
    """One attention module: its stream, the layers it computes in the order it is called, and what encloses it."""

    module: Any
    parent: Any
    stream: str
    layers: tuple[int, ...]


def attention_sites(model: Any) -> list[Site]:
    """Every attention module of a transformers model, in the order of its parts.

    Layer numbers are true ones, 0-based: hybrid models skip those of layers without attention. Streams are "self" for
    one stack, "encoder", "decoder" and "cross" for two.
    """
    two_stacks = bool(getattr(model.config, "is_encoder_decoder", False))
    encoder = {id(module) for module in model.get_encoder().modules()} if two_stacks else set()
    found: dict[str, list[tuple[str, Any]]] = {}
    for name, module in model.named_modules():
        if eager_function(type(module)) is not None:
            own = "encoder" if id(module) in encoder else "decoder" if two_stacks else "self"
            found.setdefault("cross" if _CROSS.search(name) else own, []).append((name, module))
    return [
        Site(module, model.get_submodule(name.rpartition(".")[0]), stream, layers)
        for stream, modules in found.items()
        for (name, module), layers in zip(modules, _layers(model.config, modules), strict=True)
    ]


@cache
def eager_function(kind: type) -> Callable | None:
    """The eager attention function that a module class falls back on; None if it does not ask the interface."""
    forward = inspect.unwrap(kind.forward)
    code = getattr(forward, "__code__", None)
    if code is None or "get_interface" not in code.co_names:
        return None
    named = [name for name in code.co_names if "eager_attention" in name]
    return forward.__globals__.get(named[0]) if named else None


def _layers(config: Any, modules: Sequence[tuple[str, Any]]) -> list[tuple[int, ...]]:
    """Layer numbers of one stream's modules: their own, else what their names say, else their order."""
    own = [getattr(module, "layer_idx", None) for _, module in modules]
    if _distinct(own):
        return [(number,) for number in own]
    if getattr(config, "num_hidden_groups", None) == len(modules):  # ALBERT: consecutive layers share one module
        each = config.num_hidden_layers // len(modules)
        return [tuple(range(i * each, (i + 1) * each)) for i in range(len(modules))]
    named = [next((int(part) for part in name.split(".") if part.isdigit()), None) for name, _ in modules]
    return [(number,) for number in (named if _distinct(named) else range(len(modules)))]


def _distinct(numbers: Sequence[int | None]) -> bool:
    """Whether these can be the numbers of different layers; Zamba2 gives -1 to every one."""
    return all(isinstance(number, int) and number >= 0 for number in numbers) and len(set(numbers)) == len(numbers)
