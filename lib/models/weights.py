"""Per-head projection matrices, whatever way a family stores them.

A layout is recognised by the names and shapes of an attention module's parts, not by the family's name. A module
with a part that is not known here may transform z before W_O, so it is refused rather than misread.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lib.errors import HeadlightError
from lib.models.anatomy import Anatomy
from lib.models.attention import attention_sites

SEPARATE = (
    ("q_proj", "k_proj", "v_proj"),  # Llama, Mistral, Qwen, Gemma, gpt-oss, BART, Whisper, CLIP, ViT, DINOv2, Swin, …
    ("query", "key", "value"),  # BERT, RoBERTa, ELECTRA, ALBERT
    ("q_lin", "k_lin", "v_lin"),  # DistilBERT
    ("q", "k", "v"),  # T5
)
STACKED = ("Wqkv", "c_attn")  # rows of all queries, then all keys, then all values: ModernBERT; GPT-2 transposed
INTERLEAVED = ("query_key_value",)  # query, key, value rows of head 0, then of head 1, …: GPT-NeoX
OUTPUTS = ("o_proj", "out_proj", "out_lin", "o", "Wo", "c_proj", "dense")
HARMLESS = frozenset(
    {"q_norm", "k_norm", "gate", "LayerNorm", "rotary_emb", "relative_attention_bias", "relative_position_bias"}
)


class WeightsUnknown(HeadlightError):
    """The layout of a family's projections is not known."""


@dataclass(frozen=True)
class Weights:
    """Projections of one attention layer, float32 and read-only.

    W_Q, W_K, W_V, W_O: (head, d_head, d_model); b_Q, b_K, b_V: (head, d_head); b_O: (d_model,).
    For head h and the module's input x (pos, d_model): q = x @ W_Q[h].T + b_Q[h], before any norm, rotation or scale;
    result = z @ W_O[h], and the results of all heads plus b_O are the output of the module's last projection.
    Grouped key/value heads are repeated, so that every query head finds its own. Missing biases are zeros.
    """

    W_Q: np.ndarray
    W_K: np.ndarray
    W_V: np.ndarray
    W_O: np.ndarray
    b_Q: np.ndarray
    b_K: np.ndarray
    b_V: np.ndarray
    b_O: np.ndarray

    def __post_init__(self) -> None:
        for part in fields(self):
            getattr(self, part.name).setflags(write=False)


def head_weights(model: Any, layer: int, stream: str, anatomy: Anatomy) -> Weights:
    """Projections of one attention layer of a model.

    layer: 0-based; stream: "self" for one stack, "encoder" (the same as "self"), "decoder" or "cross" for two.
    Raises WeightsUnknown for a layer that is not there and for a layout that is not known.
    """
    two_stacks = anatomy.kind == "encoder-decoder"
    wanted = "encoder" if two_stacks and stream == "self" else stream if two_stacks else "self"
    modules = {
        number: (site.module, site.parent)
        for site in attention_sites(model)
        if site.stream == wanted
        for number in site.layers
    }
    if layer not in modules:
        raise WeightsUnknown(
            f"a layer of stream “{stream}” of {anatomy.family}",
            f"L{layer}; there are {len(modules)} attention layers",
            "Choose one of them.",
        )
    module, parent = modules[layer]
    query, key, value = _projections(module, anatomy.family)
    matrix, bias = _output(module, parent, anatomy.family)
    d_head = _width(module, anatomy)
    n_heads = query[0].shape[0] // d_head
    sizes = [part[0].shape[0] for part in (query, key, value)]
    if any(size % d_head for size in sizes) or n_heads * d_head != matrix.shape[1] or sizes[1] != sizes[2]:
        raise _unknown(anatomy.family, f"{sizes} rows for queries, keys and values, {matrix.shape[1]} columns for z")
    split = [_per_head(*part, d_head, n_heads) for part in (query, key, value)]
    return Weights(
        W_Q=split[0][0],
        W_K=split[1][0],
        W_V=split[2][0],
        W_O=np.ascontiguousarray(matrix.T).reshape(n_heads, d_head, -1),
        b_Q=split[0][1],
        b_K=split[1][1],
        b_V=split[2][1],
        b_O=bias,
    )


def _projections(module: Any, family: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """(rows, d_model) matrix and (rows,) bias of queries, keys and values."""
    parts = dict(module.named_children())
    names = next((names for names in SEPARATE if all(name in parts for name in names)), None)
    if names is not None:
        _no_others(parts, names, family)
        return [_linear(parts[name]) for name in names]
    if hasattr(module, "multi_query"):  # GPT-BigCode: one key head for all, or rows ordered head by head
        raise _unknown(family, "queries, keys and values in one matrix of its own order")
    fused = next((name for name in (*STACKED, *INTERLEAVED) if name in parts), None)
    if fused is None or (fused in INTERLEAVED and family != "gpt_neox"):  # others order their rows differently
        raise _unknown(family, ", ".join(parts) or "no parts")
    _no_others(parts, (fused,), family)
    matrix, bias = _linear(parts[fused])
    if fused in INTERLEAVED:
        matrix = matrix.reshape(-1, 3, module.head_size, matrix.shape[1]).swapaxes(0, 1).reshape(matrix.shape)
        bias = bias.reshape(-1, 3, module.head_size).swapaxes(0, 1).reshape(bias.shape)
    return list(zip(np.split(matrix, 3), np.split(bias, 3), strict=True))


def _no_others(parts: dict[str, Any], names: tuple[str, ...], family: str) -> None:
    """Refuse parts with weights that are neither projections nor known to leave z alone."""
    known = {*names, *OUTPUTS} | HARMLESS
    others = [name for name, part in parts.items() if name not in known and next(part.parameters(), None) is not None]
    if others:
        raise _unknown(family, f"the further parts {', '.join(others)}")


def _output(module: Any, parent: Any, family: str) -> tuple[np.ndarray, np.ndarray]:
    """(d_model, head · d_head) matrix and (d_model,) bias after z; BERT keeps them beside the attention module."""
    parts = dict(module.named_children())
    beside = dict(getattr(parent, "output", parent).named_children())
    for place in (parts, {"dense": beside["dense"]} if "dense" in beside else {}):
        for name in OUTPUTS:
            if name in place:
                return _linear(place[name])
    raise _unknown(family, "no output projection")


def _linear(part: Any) -> tuple[np.ndarray, np.ndarray]:
    """(out, in) matrix and (out,) bias of a Linear layer or of GPT-2's transposed one."""
    matrix = _numbers(part.weight)
    if type(part).__name__ == "Conv1D":
        matrix = matrix.T
    bias = getattr(part, "bias", None)
    return matrix, np.zeros(len(matrix), np.float32) if bias is None else _numbers(bias)


def _numbers(tensor: Any) -> np.ndarray:
    return tensor.detach().float().cpu().numpy().copy()


def _width(module: Any, anatomy: Anatomy) -> int:
    """d_head of one module: stages of a model may differ."""
    for name in ("head_dim", "attention_head_size", "head_size", "key_value_proj_dim"):
        width = getattr(module, name, None)
        if isinstance(width, int):
            return width
    return anatomy.d_head


def _per_head(matrix: np.ndarray, bias: np.ndarray, d_head: int, n_heads: int) -> tuple[np.ndarray, np.ndarray]:
    """(head, d_head, d_model) and (head, d_head); each key/value head is repeated for its consecutive query heads."""
    repeats = n_heads * d_head // len(matrix)
    matrix, bias = matrix.reshape(-1, d_head, matrix.shape[1]), bias.reshape(-1, d_head)
    return np.repeat(matrix, repeats, axis=0), np.repeat(bias, repeats, axis=0)


def _unknown(family: str, said: str) -> WeightsUnknown:
    return WeightsUnknown(
        "a known layout of query, key, value and output projections",
        f"“{family}” with {said}",
        "Everything but the weights themselves can still be looked at.",
    )
