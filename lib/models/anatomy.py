"""What a model says about itself: its kind, its layers and heads, its limits.

Read from the configuration and the modules, because names lie: a "…-base" can have 6 layers, a decoder can be
an encoder, and a position table can hold more rows than the model accepts tokens.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lib.errors import HeadlightError

CAUSAL_ENCODERS = frozenset({"clip", "clip_text_model"})  # the causal mask is made outside the attention modules


class UnknownAnatomy(HeadlightError):
    """The configuration does not say how many layers or heads a model has."""


@dataclass(frozen=True)
class Anatomy:
    """The facts about a model that the pages need; the meaning of each is given by ``Engine``."""

    family: str
    kind: str
    causal: bool
    n_layers: int
    n_decoder_layers: int
    n_heads: int
    n_key_heads: int
    d_head: int
    max_length: int | None
    head: str | None
    special_ids: frozenset[int]
    patch_size: int | None
    n_prefix: int


def anatomy_of(model: Any, tokenizer: Any | None = None) -> Anatomy:
    """Anatomy of a transformers model."""
    config = model.config
    vision = model.main_input_name == "pixel_values"
    two_stacks = bool(getattr(config, "is_encoder_decoder", False))
    causal = not vision and not two_stacks and is_causal(model)
    n_heads = heads(config)
    return Anatomy(
        family=config.model_type,
        kind="vision"
        if vision
        else "encoder-decoder"
        if two_stacks
        else "decoder"
        if decodes(config, causal)
        else "encoder",
        causal=causal,
        n_layers=_layers(config),
        n_decoder_layers=_first(config, "decoder_layers", "num_decoder_layers", "num_hidden_layers")
        if two_stacks
        else 0,
        n_heads=n_heads,
        n_key_heads=getattr(config, "num_key_value_heads", None) or n_heads,
        d_head=width(config, n_heads),
        max_length=None if vision else _max_length(model),
        head=_head(model),
        special_ids=_special_ids(config, tokenizer),
        patch_size=_patch_size(config) if vision else None,
        n_prefix=_prefix(model) if vision else 0,
    )


def is_causal(model: Any) -> bool:
    """Whether every attention module of a one-stack model masks the future."""
    flags = [m.is_causal for m in model.modules() if isinstance(getattr(m, "is_causal", None), bool)]
    return model.config.model_type in CAUSAL_ENCODERS or (bool(flags) and all(flags))


def decodes(config: Any, causal: bool) -> bool:
    """Whether a causal model is a decoder rather than an encoder with a causal mask."""
    return causal and config.model_type not in CAUSAL_ENCODERS


def heads(config: Any) -> int:
    """Query heads per layer; of the last stage where stages differ."""
    count = _first(config, "num_attention_heads", "encoder_attention_heads", "num_heads")
    return count[-1] if isinstance(count, list | tuple) else count


def width(config: Any, n_heads: int) -> int:
    """Width of one head."""
    given = getattr(config, "head_dim", None) or getattr(config, "d_kv", None)
    return given or _first(config, "hidden_size", "d_model") // n_heads


def _layers(config: Any) -> int:
    depths = getattr(config, "depths", None)
    if depths:
        return sum(depths)
    return _first(config, "encoder_layers", "num_hidden_layers", "num_layers")


def _first(config: Any, *names: str) -> Any:
    for name in names:
        value = getattr(config, name, None)
        if value is not None:
            return value
    raise UnknownAnatomy(
        f"one of {', '.join(names)} in the configuration",
        f"a {config.model_type} configuration without any",
        "Choose a transformer whose attention has heads and layers.",
    )


def _max_length(model: Any) -> int | None:
    """Longest input in tokens; None for relative positions without a limit."""
    limit = getattr(model.config, "max_position_embeddings", None)
    for name, module in model.named_modules():
        padding = getattr(module, "padding_idx", None)
        if limit and name.endswith("position_embeddings") and padding is not None:
            return limit - padding - 1  # RoBERTa counts positions from padding_idx + 1
    return limit


def _head(model: Any) -> str | None:
    kind = type(model).__name__
    if kind.endswith(("ForCausalLM", "LMHeadModel")):
        return "causal-lm"
    if kind.endswith("ForMaskedLM"):
        return "masked-lm"
    return "seq2seq-lm" if kind.endswith("ForConditionalGeneration") else None


def _special_ids(config: Any, tokenizer: Any | None) -> frozenset[int]:
    if tokenizer is not None:
        # an unknown word is a word
        added = {name: i for name, i in tokenizer.special_tokens_map.items() if name != "unk_token"}
        tokens = [t for i in added.values() for t in (i if isinstance(i, list) else [i])]
        return frozenset(int(i) for i in tokenizer.convert_tokens_to_ids([str(t) for t in tokens]))
    ids: set[int] = set()
    for name in ("bos", "eos", "pad", "cls", "sep", "mask"):
        value = getattr(config, f"{name}_token_id", None)
        if value is not None:
            ids.update(value if isinstance(value, list) else [value])
    return frozenset(i for i in ids if i >= 0)


def _patch_size(config: Any) -> int:
    size = _first(config, "patch_size", "patch_sizes")
    return size[0] if isinstance(size, list | tuple) else size


def _prefix(model: Any) -> int:
    """Tokens before the patches, counted from the learned vectors that stand for them."""
    ones = ("cls_token", "distillation_token", "class_embedding")
    named = dict(model.named_parameters())
    registers = [p for n, p in named.items() if n.endswith("register_tokens")]
    return sum(n.endswith(ones) for n in named) + (registers[0].shape[-2] if registers else 0)
