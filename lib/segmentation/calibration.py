"""Calibrations: what a small training run learnt about reading boundaries from a model's heads, as readable JSON.

One file per model and condition of text, and one per condition for surface cues alone, in data/calibration. Weights are
told per standard deviation of their feature, so that they can be compared.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .errors import SegmentationError
from .features import PARTS
from .ridge import CONTEXT, Linear
from .signals import signal_names
from .trees import Trees

FOLDER = Path(__file__).parents[2] / "data" / "calibration"
VERSION = 2


@dataclass(frozen=True)
class HeadWeights:
    """A linear reading of all heads of one model.

    signals (layer, head, signal, context), and outputs z, queries, keys, values (layer, head, d_head, context): weight
    per standard deviation; means and deviations have the same shapes without context. context: tokens relative to the
    one before the gap. threshold: log-odds at and above which there is a boundary. names: of axis signal.
    """

    names: tuple[str, ...]
    signals: np.ndarray
    signal_mean: np.ndarray
    signal_deviation: np.ndarray
    outputs: np.ndarray
    output_mean: np.ndarray
    output_deviation: np.ndarray
    queries: np.ndarray
    query_mean: np.ndarray
    query_deviation: np.ndarray
    keys: np.ndarray
    key_mean: np.ndarray
    key_deviation: np.ndarray
    values: np.ndarray
    value_mean: np.ndarray
    value_deviation: np.ndarray
    bias: float
    threshold: float

    @property
    def linear(self) -> Linear:
        """The same on raw features, in the order of features.layer_parts."""
        weights = np.concatenate(
            [getattr(self, w).reshape(len(self.signals), -1, len(CONTEXT)) for w, _, _ in _NAMED], 1
        )
        mean, deviation = (
            np.concatenate([getattr(self, name).reshape(len(self.signals), -1) for name in column], axis=1).ravel()
            for column in tuple(zip(*_NAMED, strict=True))[1:]
        )
        raw = weights.reshape(-1, len(CONTEXT)).T / deviation
        return Linear(raw.astype(np.float32), mean.astype(np.float32), self.bias)


# fields of the weights, means and deviations of each of features.PARTS
_NAMED = tuple(
    (part, f"{one}_mean", f"{one}_deviation")
    for part, one in zip(PARTS, ("signal", "output", "query", "key", "value"), strict=True)
)
_ARRAYS = tuple(name for names in _NAMED for name in names)


@dataclass(frozen=True)
class Calibration:
    """What is known about reading boundaries under one condition.

    model       name of the model, "" where only surface cues are read
    condition   see conditions.py
    heads       reading of all heads, None without a model
    surface     trees over surface cues, with attention's scores where there is a model; threshold beside them
    documents   digests of the texts it was fitted on: none of them may be used to judge it
    measured    cross-validated scores by name, and what they were measured on
    """

    model: str
    condition: str
    heads: HeadWeights | None
    surface: Trees
    surface_threshold: float
    documents: frozenset[str]
    measured: Mapping[str, object] = field(default_factory=dict)


def head_weights(
    linear: Linear,
    deviation: np.ndarray,
    shapes: Mapping[str, tuple[int, int]],
    names: tuple[str, ...],
    threshold: float,
) -> HeadWeights:
    """A fitted linear score, taken apart by layer, part and head. shapes: of the parts of a layer, by name."""
    ends = np.cumsum([heads * numbers for heads, numbers in shapes.values()])
    layers = len(linear.mean) // ends[-1]
    columns = ((linear.weights * deviation).T, linear.mean, deviation)  # (feature, context) and twice (feature,)
    arrays = {}
    for column, values in enumerate(columns):
        by_layer = values.reshape(layers, ends[-1], *values.shape[1:])
        for named, part, shape in zip(_NAMED, np.split(by_layer, ends[:-1], axis=1), shapes.values(), strict=True):
            arrays[named[column]] = part.reshape(layers, *shape, *values.shape[1:])
    return HeadWeights(names=names, bias=linear.bias, threshold=threshold, **arrays)


def save(calibration: Calibration, folder: Path = FOLDER) -> Path:
    """Write a calibration as JSON; numbers are rounded to 3 (weights) or 4 significant digits."""
    heads = calibration.heads
    data: dict[str, Any] = {
        "version": VERSION,
        "model": calibration.model,
        "condition": calibration.condition,
        "measured": dict(calibration.measured),
        "documents": sorted(calibration.documents),
        "surface": calibration.surface.as_json() | {"threshold": round(calibration.surface_threshold, 4)},
    }
    if heads is not None:
        data["heads"] = {"names": heads.names, "bias": round(heads.bias, 4), "threshold": round(heads.threshold, 4)}
        data["heads"] |= {name: _rounded(getattr(heads, name), 3 if name in PARTS else 4) for name in _ARRAYS}
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{calibration.model or 'surface'}-{calibration.condition}.json"
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n", encoding="utf-8")
    return path


def _rounded(values: np.ndarray, digits: int) -> list[Any]:
    if values.ndim > 1:
        return [_rounded(row, digits) for row in values]
    return [float(f"{x:.{digits}g}") for x in values]


def calibration_for(engine: Any | None, condition: str, folder: Path = FOLDER) -> Calibration | None:
    """The calibration of a model (None: surface cues alone) for a condition; None where there is none.

    Raises SegmentationError for a file that is damaged or made for another model of the same name.
    """
    path = folder / f"{'surface' if engine is None else engine.name}-{condition}.json"
    if not path.is_file():
        return None
    calibration = _read(path, path.stat().st_mtime_ns)
    if engine is not None and calibration.heads is not None:
        shape = calibration.heads.outputs.shape[:3]
        names = calibration.heads.names
        if shape != (engine.n_layers, engine.n_heads, engine.d_head) or set(names) != set(
            signal_names(1, int("to_last" in names), engine.causal)
        ):
            raise SegmentationError(
                f"a calibration of {engine.n_layers} layers, {engine.n_heads} heads of {engine.d_head} numbers",
                f"{path.name} with {shape}",
                "Calibrate this model anew: python -m lib.segmentation.calibrate.",
            )
    return calibration


@cache
def _read(path: Path, changed: int) -> Calibration:
    """A file as it was at that time of change."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        if data["version"] != VERSION:
            raise KeyError(f"version {data['version']}")
        heads = data.get("heads")
        return Calibration(
            data["model"],
            data["condition"],
            None
            if heads is None
            else HeadWeights(
                names=tuple(heads["names"]),
                bias=heads["bias"],
                threshold=heads["threshold"],
                **{name: np.array(heads[name], dtype=np.float32) for name in _ARRAYS},
            ),
            Trees.from_json(data["surface"]),
            data["surface"]["threshold"],
            frozenset(data["documents"]),
            data["measured"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SegmentationError(
            f"a calibration of version {VERSION}", f"{path.name}: {error}", "Make it anew, or restore the file."
        ) from error


def combined_cues(cues: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Surface cues of candidate gaps with attention's scores there and around: float32 (gap, cue + 5)."""
    if not len(scores):
        return np.zeros((0, cues.shape[1] + 5), dtype=np.float32)
    padded = np.pad(scores, 3, mode="constant", constant_values=-8.0)
    n = len(scores)
    before, after = padded[2 : 2 + n], padded[4 : 4 + n]
    near = np.max([padded[k : k + n] for k in (0, 1, 2, 4, 5, 6)], axis=0)
    around = np.stack([scores, before, after, scores - near, scores - scores.mean()], axis=1)
    return np.concatenate([cues, around], axis=1).astype(np.float32)


def threshold_for(scores: np.ndarray, target: Sequence[bool], missed: int = 0) -> float:
    """The score at and above which F1 is largest; missed: boundaries at no candidate gap.

    >>> threshold_for(np.array([3.0, 2.0, 1.0, 0.0]), [True, True, False, False])
    1.5
    """
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(np.asarray(target)[order])
    if not len(order) or not hits[-1]:
        return float("inf")
    f1 = 2 * hits / (np.arange(1, len(order) + 1) + hits[-1] + missed)
    last = int(f1.argmax())
    ordered = scores[order]
    following = ordered[last + 1] if last + 1 < len(ordered) else ordered[last] - 1.0
    return float((ordered[last] + following) / 2)
