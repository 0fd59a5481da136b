"""What every token's neighbourhood looks like in every head: features for export and for use elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from lib.threads import one_thread

from .matrix import Kind
from .pairs import Block, Settings, blocks
from .units import Units, captured_units

Array = np.ndarray
FEATURES = {
    "partners": "selected pairs that end in the token, ÷ what every token would have if all had the same number",
    "distance": "mean distance to its partners, in tokens (patch steps); nan without partners",
    "same_sentence": "share of its partners in its own sentence; nan without partners or boundaries",
    "same_token": "share of its partners that are the same token; nan without partners",
    "similarity": "mean similarity to all other tokens of the document (scalar product ÷ the head's mean ‖z‖²)",
    "length": "‖z‖ ÷ mean ‖z‖ of the head in the document",
}


@dataclass(frozen=True, eq=False)
class Features:
    """Features of every kept unit: values float32 (unit, layer, head, feature) in the order of ``FEATURES``.

    index: frame with one row per unit, document, position, token, sentence.
    """

    index: pd.DataFrame
    values: Array
    layers: tuple[int, ...]
    settings: Settings

    def frame(self) -> pd.DataFrame:
        """One row per unit, one column "L4 partners" per layer and feature: means over the heads that define it."""
        known = ~np.isnan(self.values)
        with np.errstate(invalid="ignore"):
            mean = np.nansum(self.values, axis=2, dtype=np.float64) / known.sum(axis=2)  # (unit, layer, feature)
        names = [f"L{layer} {name}" for layer in self.layers for name in FEATURES]
        return pd.concat([self.index, pd.DataFrame(mean.reshape(len(mean), -1), columns=names)], axis=1)

    def arrays(self) -> dict[str, Array]:
        """Everything as named arrays, heads apart, for an npz file; axes says what the axes of values are."""
        return {
            "values": self.values,
            "axes": np.array(["unit", "layer", "head", "feature"]),
            "features": np.array(list(FEATURES)),
            "meanings": np.array(list(FEATURES.values())),
            "layers": np.array(self.layers),
            **{name: self.index[name].to_numpy().astype(str if name == "token" else np.int64) for name in self.index},
        }

    def columns(self) -> pd.DataFrame:
        """What the columns of ``frame`` mean: column, meaning; a feature's columns are explained once."""
        index = {
            "document": "index of the document",
            "position": "position of the (first) token in the document, special tokens counted",
            "token": "token, or whole word",
            "sentence": "index of the sentence in the document, −1 unknown",
        }
        layer = {f"L{self.layers[0]} …": f"a feature below in layer {self.layers[0]}: mean over heads that define it"}
        return pd.DataFrame({**index, **layer, **FEATURES}.items(), columns=["column", "meaning"])


@one_thread()
def token_features(
    capture: Any,
    top: float = 0.01,
    kind: Kind = "dot",
    special: bool = False,
    words: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Features:
    """The features of ``FEATURES`` for every token in every head; arguments as in statistics.measure.

    **Source**: Halevi et al., arXiv 2512.21956, propose such features; the choice of them is ours.
    """
    settings = Settings(top, kind, special, words)
    labels = captured_units(capture, special, words)
    n_layers, n_heads = capture.z.shape[:2]
    total = sum(len(units) for units in labels.units)
    values = np.full((total, n_layers * n_heads, len(FEATURES)), np.nan, dtype=np.float32)
    rows, at = [], 0
    for document, ((start, stop), units) in enumerate(zip(pairwise(capture.doc_offsets), labels.units, strict=True)):
        z = capture.z[:, :, start:stop]
        for block in blocks(z.reshape(n_layers * n_heads, *z.shape[2:]), units, settings):
            values[at : at + len(units), block.heads] = _features(block, kind).transpose(1, 0, 2)
        rows.append(_index(document, units, labels.names, capture, int(start)))
        at += len(units)
        if progress:
            progress(document + 1, len(labels.units), "features")
    shape = (total, n_layers, n_heads, len(FEATURES))
    return Features(pd.concat(rows, ignore_index=True), values.reshape(shape), tuple(capture.layers), settings)


def _index(document: int, units: Units, names: tuple[str, ...], capture: Any, start: int) -> pd.DataFrame:
    first = units.kept[units.starts] if len(units) else np.empty(0, dtype=int)
    return pd.DataFrame(
        {
            "document": np.full(len(units), document),
            "position": first,
            "token": [
                names[label] if label >= 0 else capture.tokens.text[start + token]
                for label, token in zip(units.label, first, strict=True)
            ],
            "sentence": units.sentence,
        }
    )


def _features(block: Block, kind: Kind) -> Array:
    """(head, unit, feature) of the heads of a block; NaN for units without a defined similarity."""
    pairs, used = block.pairs, block.pairs.used
    n_heads, n_units = len(block.heads), len(pairs.units)
    mass = block.ends()
    placed = pairs.distance >= 0
    scale = (block.lengths[:, used] ** 2).mean(axis=1, keepdims=True) if kind == "dot" else np.ones((n_heads, 1))
    matrix = np.zeros((n_heads, len(used) ** 2), dtype=block.values.dtype)
    matrix[:, pairs.flat] = block.values
    matrix = matrix.reshape(n_heads, len(used), len(used))
    out = np.full((n_heads, n_units, len(FEATURES)), np.nan, dtype=np.float32)
    with np.errstate(invalid="ignore", divide="ignore"):
        columns = (
            mass * len(used) / (2 * block.selection.count),
            block.ends(np.where(placed, pairs.distance, 0)) / block.ends(placed),
            block.ends(pairs.same_sentence) / mass if pairs.has_sentences else np.full_like(mass, np.nan),
            block.ends(pairs.same_label) / mass if pairs.has_labels else np.full_like(mass, np.nan),
            None,
            block.lengths / block.lengths[:, used].mean(axis=1, keepdims=True),
        )
        for index, column in enumerate(columns):
            if column is not None:
                out[:, used, index] = column[:, used]
        out[:, used, 4] = (matrix.sum(axis=1) + matrix.sum(axis=2)) / (len(used) - 1) / scale
    return out
