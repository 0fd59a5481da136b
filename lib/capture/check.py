"""The trust badge: one short forward pass through the tap, compared with the model's own eager attention.

Four comparisons decide whether captures may be trusted: the pattern and the model's output against ``eager`` with
``output_attentions=True``; the sum of every row (a sink's share apart); the sum over heads of z·W_O plus bias against
what the attention's output projection gave, where the weights' layout is known. Two more are told: a padded document
against the same document alone decides whether batches may pad, and a copy of the model in float32 on the CPU says what
another precision or device changes.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch

from lib.capture.batching import model_inputs
from lib.capture.layout import Layout
from lib.capture.probe import probe_encodings, probe_inputs
from lib.capture.tap import Call, NotTappable, implementation, require_tappable, tapped
from lib.errors import HeadlightError
from lib.models import Engine, WeightsUnknown
from lib.models.devices import free_bytes

TOLERANCE = 1e-5  # in float32
COARSEST = 1e-2  # in any precision: the small models' rows sum to 1 within 3.1e-3 in bfloat16, results within 3.5e-3
PADDING = 10  # rounding units, each as large as TOLERANCE is in float32, by which padding may move z
FIELDS = {
    "attentions": "self",
    "encoder_attentions": "encoder",
    "decoder_attentions": "decoder",
    "cross_attentions": "cross",
}  # of a model's output, to streams


class CheckFailed(HeadlightError):
    """The tap's numbers are not the model's own; nothing is captured."""


@dataclass(frozen=True)
class Check:
    """Largest deviations found; NaN where numbers were not finite or eager gave nothing to compare with.

    pattern_deviation  of any attention weight
    output_deviation   of any number in the model's output, relative to the largest where that exceeds 1
    row_sum_deviation  of any row's sum (with its sink's share) from 1
    result_deviation   of Σ_heads z·W_O + b from the output projection's result, relative likewise; None where W_O or
                       the projection is unknown. First, middle and last layer of each stream
    padding_deviation  of any z of a padded document from the same document alone, relative likewise; None for images
    precision_deviation  of any attention weight from those of the same model in float32 on the CPU; None where this is
                       that, or no memory is free for a copy
    """

    pattern_deviation: float
    output_deviation: float
    row_sum_deviation: float
    result_deviation: float | None
    padding_deviation: float | None
    precision_deviation: float | None
    tolerance: float
    seconds: float
    dtype: str
    device: str

    @property
    def passed(self) -> bool:
        """Whether every deviation that concerns the tap is within tolerance."""
        found = (self.pattern_deviation, self.output_deviation, self.row_sum_deviation, self.result_deviation or 0.0)
        return all(deviation <= self.tolerance for deviation in found)  # False for NaN


def self_check(engine: Engine) -> Check:
    """Compare the tap with the model's own eager attention, once per engine; later calls return the same Check.

    Raises NotTappable where the model's family does not follow the attention interface, or only in part.
    """
    return _examined(engine)[0]


def trusted(engine: Engine) -> Layout:
    """The layout of a model whose check passed; raises CheckFailed with the numbers where it did not."""
    check, layout = _examined(engine)
    if not check.passed:
        numbers = ", ".join(
            f"{name.replace('_', ' ')} {value:.1e}"
            for name in ("pattern_deviation", "output_deviation", "row_sum_deviation", "result_deviation")
            if (value := getattr(check, name)) is not None
        )
        broken = np.isnan([check.pattern_deviation, check.output_deviation]).any()
        raise CheckFailed(
            f"attention of {engine.name} within {check.tolerance:.0e} of the model's own",
            f"{numbers} ({check.dtype}, {check.device}); nothing is captured",
            "Numbers are not finite: check the weights for NaN, or try float32."
            if broken
            else "Try float32 on the CPU; if it persists, this family is not supported.",
        )
    return layout


def _examined(engine: Engine) -> tuple[Check, Layout]:
    with engine.lock:
        if engine not in _known:
            engine.require_loaded()
            _known[engine] = _examine(engine)
        return _known[engine]


_known: WeakKeyDictionary[Engine, tuple[Check, Layout]] = WeakKeyDictionary()


@dataclass
class _Pass:
    """What a tapped forward pass showed: its calls, its output, and each output projection's result by place."""

    calls: list[Call] = field(default_factory=list)
    results: dict[tuple[str, int], torch.Tensor] = field(default_factory=dict)
    output: Any = None


@torch.inference_mode()
def _examine(engine: Engine) -> tuple[Check, Layout]:
    require_tappable(engine.model)
    start, inputs = time.perf_counter(), probe_inputs(engine)
    seen = _watch(engine.model, inputs)
    with implementation(engine.model, "eager"):
        eager = engine.model(**inputs, output_attentions=True)
    padding = _padding_deviation(engine, seen)
    rounding = TOLERANCE * torch.finfo(getattr(torch, engine.dtype)).eps / torch.finfo(torch.float32).eps
    check = Check(
        pattern_deviation=_pattern_deviation(seen.calls, eager),
        output_deviation=_worst(
            _relative(seen.output[name], tensor) for name, tensor in eager.items() if isinstance(tensor, torch.Tensor)
        ),
        row_sum_deviation=_worst(_row_sum_deviation(call) for call in seen.calls),
        result_deviation=_result_deviation(engine, seen),
        padding_deviation=padding,
        precision_deviation=_precision_deviation(engine, inputs, seen.calls),
        tolerance=min(rounding, COARSEST),
        seconds=time.perf_counter() - start,
        dtype=engine.dtype,
        device=engine.device,
    )
    return check, Layout.of(engine.family, seen.calls, pads=padding is not None and padding <= PADDING * rounding)


def _watch(model: Any, inputs: dict[str, Any]) -> _Pass:
    """A tapped forward pass that also notes what each output projection makes of z."""
    seen = _Pass()
    with _projections(model, seen), tapped(model, see=seen.calls.append):
        seen.output = model(**inputs)
    return seen


@contextmanager
def _projections(model: Any, seen: _Pass) -> Iterator[None]:
    """The first matrix to receive exactly the heads' outputs, side by side, is the output projection."""

    def note(module: Any, arguments: tuple, output: torch.Tensor) -> None:
        if not arguments or not seen.calls or (place := (seen.calls[-1].stream, seen.calls[-1].layer)) in seen.results:
            return
        z = seen.calls[-1].z.transpose(1, 2).flatten(2)  # (batch, query_pos, head · d_head)
        if arguments[0].numel() == z.numel() and torch.equal(arguments[0].reshape(z.shape), z):
            seen.results[place] = output.reshape(*z.shape[:2], -1)

    matrices = [m for m in model.modules() if getattr(getattr(m, "weight", None), "ndim", 0) == 2]
    hooks = [m.register_forward_hook(note) for m in matrices if not isinstance(m, torch.nn.Embedding)]
    try:
        yield
    finally:
        for hook in hooks:
            hook.remove()


def _pattern_deviation(calls: Sequence[Call], eager: Any) -> float:
    """Patterns are compared by stream and layer; Swin returns only the last of each stage, found by its shape."""
    found = []
    for name, stream in FIELDS.items():
        own = sorted((call for call in calls if call.stream == stream), key=lambda call: call.layer)
        reference = [pattern for pattern in getattr(eager, name, None) or () if pattern is not None]
        if bool(own) != bool(reference):
            raise NotTappable(
                f"stream '{stream}' both through the attention interface and from eager attention",
                f"{len(own)} layers through the one, {len(reference)} from the other",
                "This family cannot be verified: choose another.",
            )
        if len(own) == len(reference):
            found += [_deviation(call.pattern, pattern) for call, pattern in zip(own, reference, strict=True)]
        else:
            found += [min(_deviation(call.pattern, pattern) for call in own) for pattern in reference]
    return _worst(found)


def _row_sum_deviation(call: Call) -> float:
    """|Σ_j A_ij + sink − 1|; the sink's share follows from one key's: A_ij · exp(sink − s_ij)."""
    pattern = call.pattern.float()
    total = pattern.sum(-1)
    if call.sinks is not None:
        share, best = pattern.max(-1)  # (batch, head, query_pos)
        key = call.key.float().gather(2, best[..., None].expand(-1, -1, -1, call.key.shape[-1]))
        score = (call.query.float() * key).sum(-1) * call.scaling
        sink = share * (call.sinks.float().reshape(1, -1, 1) - score).exp()
        total = total + torch.where(share > 0, sink, 1.0)
    return float((total - 1).abs().max())


def _result_deviation(engine: Engine, seen: _Pass) -> float | None:
    """Σ_heads z·W_O + b against the output projection, in the first, middle and last layer of each stream."""
    found = []
    for stream in dict.fromkeys(call.stream for call in seen.calls):
        calls = [call for call in seen.calls if call.stream == stream]
        for call in {c.layer: c for c in (calls[0], calls[len(calls) // 2], calls[-1])}.values():
            result = seen.results.get((stream, call.layer))
            if result is None:
                return None
            try:
                weights = engine.weights(call.layer, stream)
            except WeightsUnknown:
                return None
            z = call.z.float().cpu().numpy()  # (batch, head, query_pos, d_head)
            ours = np.einsum("bhqd,hdm->bqm", z, weights.W_O, optimize=True) + weights.b_O
            found.append(_relative(torch.from_numpy(ours), result.cpu()))
    return _worst(found)


def _padding_deviation(engine: Engine, seen: _Pass) -> float | None:
    """z of the short document inside its padded batch against the same document alone."""
    if engine.model.main_input_name != "input_ids":
        return None
    alone = _watch(engine.model, model_inputs(engine, probe_encodings(engine)[1:]))
    pairs = zip(seen.calls, alone.calls, strict=True)
    return _worst(_relative(padded.z[1:, :, : own.z.shape[2]], own.z) for padded, own in pairs)


def _precision_deviation(engine: Engine, inputs: dict[str, Any], calls: Sequence[Call]) -> float | None:
    """Patterns against those of a copy in float32 on the CPU, which is dropped afterwards."""
    needed = 4 * sum(parameter.numel() for parameter in engine.model.parameters())
    if (engine.device, engine.dtype) == ("cpu", "float32") or needed > free_bytes("cpu") / 2:
        return None
    memo = {
        id(tensor): _exact(tensor, like=tensor) for tensor in (*engine.model.parameters(), *engine.model.buffers())
    }  # so that the copy never takes memory of the accelerator
    exact = copy.deepcopy(engine.model, memo).to("cpu", torch.float32)
    given = {name: _exact(value) if torch.is_tensor(value) else value for name, value in inputs.items()}
    pairs = zip(calls, _watch(exact, given).calls, strict=True)
    return _worst(_deviation(call.pattern.cpu(), reference.pattern) for call, reference in pairs)


def _exact(tensor: torch.Tensor, like: torch.Tensor | None = None) -> torch.Tensor:
    """A copy on the CPU, in float32 where it holds fractions; a Parameter where ``like`` is one."""
    copied = tensor.detach().to("cpu", torch.float32 if tensor.is_floating_point() else tensor.dtype, copy=True)
    return torch.nn.Parameter(copied, requires_grad=False) if isinstance(like, torch.nn.Parameter) else copied


def _deviation(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Largest absolute difference; infinite where shapes differ."""
    if ours.shape != theirs.shape:
        return float("inf")
    return float((ours.float() - theirs.float()).abs().max())


def _relative(ours: torch.Tensor, theirs: torch.Tensor) -> float:
    """Largest absolute difference, relative to the largest reference value where that exceeds 1."""
    return _deviation(ours, theirs) / max(1.0, float(theirs.float().abs().max()))


def _worst(deviations: Any) -> float:
    """The largest, NaN if any is."""
    return float(np.max([*deviations]))
