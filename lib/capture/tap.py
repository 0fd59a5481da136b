"""The tap: the only file that knows attention inside transformers.

Every attention module of a family on ``AttentionInterface`` looks up one function by a name in its configuration
and hands it the projected (and rotated) query, key and value, the mask, and whatever else the family needs. The
tap is such a function. It computes nothing of its own: it calls the *family's own* eager function, so relative
biases, soft caps, sinks, windows and types are the family's by construction, and shows what went in and came out.

What it does not do: families that compute attention elsewhere (DeBERTa-v2, MPNet, BLOOM, Falcon, …) are refused;
so are models in training mode, where dropout would change what is seen.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
from transformers import AttentionInterface, AttentionMaskInterface
from transformers.masking_utils import eager_mask

from lib.errors import HeadlightError
from lib.models.attention import attention_sites, eager_function

NAME = "headlight"

See = Callable[["Call"], None]
Edit = Callable[[int, str, torch.Tensor], torch.Tensor]


class NotTappable(HeadlightError):
    """A model whose attention cannot be watched, or not without doubt about which layer is which."""


@dataclass(frozen=True)
class Call:
    """One attention computation, in the shapes and the precision of the model.

    layer     true layer number, 0-based: hybrid models skip numbers
    stream    "self", or "encoder", "decoder", "cross"
    query     (batch · windows, head, query_pos, d_head), after rotation
    key, value  (batch · windows, head, key_pos, d_head), grouped heads repeated: each serves consecutive queries
    z         (batch · windows, head, query_pos, d_head), before W_O and before any edit
    pattern   (batch · windows, head, query_pos, key_pos), after softmax; a sink's column is left out
    windows   windows per document; 1 unless attention is windowed (Swin): then a document's windows follow one another,
              row by row over the picture rolled up and left by ``shift`` tokens
    scaling   what the scores were multiplied by
    sinks     (head,) logit of each head's sink, None without sinks
    """

    layer: int
    stream: str
    query: torch.Tensor
    grouped_key: torch.Tensor
    grouped_value: torch.Tensor
    z: torch.Tensor
    pattern: torch.Tensor
    windows: int
    shift: int
    scaling: float
    sinks: torch.Tensor | None

    @property
    def key(self) -> torch.Tensor:
        """Keys, one per query head."""
        return self._repeated(self.grouped_key)

    @property
    def value(self) -> torch.Tensor:
        """Values, one per query head."""
        return self._repeated(self.grouped_value)

    def _repeated(self, grouped: torch.Tensor) -> torch.Tensor:
        group = self.query.shape[1] // grouped.shape[1]
        return grouped if group == 1 else grouped.repeat_interleave(group, dim=1)


@contextmanager
def tapped(model: Any, see: See | None = None, edit: Edit | None = None) -> Iterator[None]:
    """Watch, and optionally change, every attention computation of a model.

    model: a transformers model in evaluation mode. ``see(call)`` is called once per layer and stream of each forward
    pass; its tensors may share memory with the model's: copy what outlives the call. ``edit(layer, stream, z)``
    returns what takes the place of z, (batch · windows, head, query_pos, d_head), before W_O.

    Inside the context the model computes eager attention. One model may be tapped by one thread at a time (hold the
    engine's lock); other models may run in other threads. Generation is fine: each forward pass counts layers anew.

    Raises NotTappable for families outside the attention interface, for training mode, and for a model whose calls
    cannot be told apart.
    """
    tap = _Tap(model, see, edit)
    previous = getattr(_current, "tap", None)
    hook = model.register_forward_pre_hook(tap.begin, with_kwargs=True)
    try:
        with implementation(model, NAME):
            _current.tap = tap
            yield
    finally:
        _current.tap = previous
        hook.remove()
    tap.end()


def require_tappable(model: Any) -> None:
    """Raise NotTappable for a model that ``tapped`` would refuse, before anything is run."""
    _Tap(model, None, None)


@contextmanager
def implementation(model: Any, name: str) -> Iterator[None]:
    """Run a model with the named attention implementation and give every part its own back afterwards."""
    before = [(config, config._attn_implementation) for config in _configs(model)]
    try:
        for config, _ in before:
            config._attn_implementation_internal = name  # the public setter would also write sub-configurations
        yield
    finally:
        for config, own in before:
            config._attn_implementation_internal = own


def _configs(model: Any) -> list[Any]:
    """Every configuration that a part of the model consults, each once."""
    found: dict[int, Any] = {}
    waiting = [model.config, *(module.config for module in model.modules() if hasattr(module, "config"))]
    while waiting:
        config = waiting.pop()
        if id(config) in found or not hasattr(config, "_attn_implementation_internal"):
            continue
        found[id(config)] = config
        waiting += [getattr(config, name, None) for name in config.sub_configs]
    return list(found.values())


class _Tap:
    """What one ``tapped`` context knows while its model runs."""

    def __init__(self, model: Any, see: See | None, edit: Edit | None) -> None:
        if model.training:
            raise NotTappable(
                "a model in evaluation mode", f"{type(model).__name__} in training mode", "Call .eval() first."
            )
        if any(config._attn_implementation == NAME for config in _configs(model)):
            raise NotTappable("one tap at a time", f"a second tap on {type(model).__name__}", "Hold the engine's lock.")
        self.family = model.config.model_type
        self.sites = {id(site.module): site for site in attention_sites(model)}
        if not self.sites:
            raise self.refusal(f"{type(model).__name__} of family '{self.family}', which computes it elsewhere")
        self.see, self.edit = see, edit
        self.batch: int | None = None
        self.passes = self.calls = 0
        self.done: set[tuple[str, int]] = set()
        self.counted: Counter[int] = Counter()
        self.towers: dict[str, Any] = {}

    def begin(self, model: Any, arguments: tuple, keywords: dict[str, Any]) -> None:
        """Before each forward pass: count layers from 0 again."""
        tensors = [v for v in (*arguments, *keywords.values()) if isinstance(v, torch.Tensor) and v.ndim]
        self.batch = len(tensors[0]) if tensors else None
        self.passes += 1
        self.done.clear()
        self.counted.clear()
        self.towers.clear()

    def end(self) -> None:
        """After a context without an error: attention must have come by."""
        if self.passes and not self.calls:
            raise self.refusal(f"a forward pass of family '{self.family}' that never called it")

    def locate(self, module: Any) -> tuple[str, int]:
        """Stream and layer of a call."""
        site, call = self.sites[id(module)], self.counted[id(module)]
        self.counted[id(module)] += 1
        self.calls += 1
        layer = site.layers[min(call, len(site.layers) - 1)]
        tower = self.towers.setdefault(site.stream, module.config)
        if tower is not module.config or (site.stream, layer) in self.done:
            raise NotTappable(
                "one attention computation per layer and stream",
                f"a second one in layer {layer}, stream '{site.stream}' of family '{self.family}'",
                "Load one tower of the model alone (its text or its vision part).",
            )
        self.done.add((site.stream, layer))
        return site.stream, layer

    def windows(self, rows: int) -> int:
        """Windows per document of a call over so many rows."""
        batch = rows if self.batch is None else self.batch
        if rows % batch:
            raise NotTappable(
                f"attention over a multiple of the {batch} documents of the batch",
                f"{rows} in family '{self.family}'",
                "Run one document at a time.",
            )
        return rows // batch

    @staticmethod
    def refusal(got: str) -> NotTappable:
        """The error for families that do not follow the interface."""
        return NotTappable(
            "attention computed through transformers' AttentionInterface",
            got,
            "BERT, RoBERTa, DistilBERT, ELECTRA, ALBERT, ModernBERT, GPT-2, GPT-NeoX, Llama, Qwen, Gemma, T5, BART, "
            "ViT, DINOv2 and some 300 more families work.",
        )


_current = threading.local()  # each thread taps its own model


def _attend(
    module: Any,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    **extras: Any,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What the attention modules call; returns the output (batch, query_pos, head, d_head) and the pattern."""
    output, pattern = eager_function(type(module))(module, query, key, value, attention_mask, **extras)
    tap = getattr(_current, "tap", None)
    if tap is None or id(module) not in tap.sites:
        return output, pattern  # another thread's call
    stream, layer = tap.locate(module)
    z = output.transpose(1, 2)
    if tap.see is not None:
        scaling = extras.get("scaling")
        call = Call(
            layer=layer,
            stream=stream,
            query=query,
            grouped_key=key,
            grouped_value=value,
            z=z,
            pattern=pattern,
            windows=tap.windows(len(query)),
            shift=int(getattr(tap.sites[id(module)].parent, "shift_size", 0)),
            scaling=query.shape[-1] ** -0.5 if scaling is None else float(scaling),
            sinks=extras.get("s_aux"),
        )
        tap.see(call)
    if tap.edit is not None:
        output = tap.edit(layer, stream, z).transpose(1, 2)
    return output, pattern


AttentionInterface.register(NAME, _attend)
AttentionMaskInterface.register(NAME, eager_mask)  # without it transformers drops every mask, silently
