"""Scores of all gaps of a text by a linear reading of all heads, window by window in bounded memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from .features import layer_parts
from .passes import CHUNK, Progress, Shown, counted, show_layers
from .ridge import Linear, shifted_sum
from .windows import SIZE, STRIDE, Tokens, fade, window_size, windows_over


def gap_scores(
    engine: Any,
    tokens: Tokens,
    model: Linear,
    size: int = SIZE,
    stride: int = STRIDE,
    progress: Progress | None = None,
) -> np.ndarray:
    """Log-odds of a boundary in every gap of a text: float64 (token − 1,), averaged over the windows that hold it.

    Features are never kept: each layer's are multiplied with their weights as soon as the layer has run.
    """
    size = window_size(engine, tokens, size)
    stride = min(stride, max(1, size - 1))
    plan = windows_over(len(tokens), size, stride)
    if len(tokens) < 2:
        return np.zeros(0)
    total, weight = np.zeros(len(tokens) - 1), np.zeros(len(tokens) - 1)
    split = np.split(model.weights.T, engine.n_layers)  # per layer (feature, context)
    at_mean = (model.weights.astype(np.float64) @ model.mean).astype(np.float32)  # (context,)
    for begin in range(0, len(plan), CHUNK):
        part = plan[begin : begin + CHUNK]
        parts = [np.tile(-at_mean, (b - a, 1)) for a, b in part]

        def see(batch: list[int], shown: Shown, parts: list[np.ndarray] = parts) -> None:
            first = 0
            for features in layer_parts(shown, len(tokens.prefix), len(tokens.suffix), engine.causal):
                products = features @ split[shown.layer][first : first + features.shape[-1]]
                first += features.shape[-1]
                for row, i in enumerate(batch):
                    parts[i] += products[row]

        show_layers(engine, tokens.encodings(part, engine), see, counted(progress, begin, len(plan)))
        for (a, b), products in zip(part, parts, strict=True):
            fading = fade((a, b), len(tokens), max(1, size - stride))
            total[a : b - 1] += fading * shifted_sum(products, np.zeros(b - a))[:-1]
            weight[a : b - 1] += fading
    return total / weight + model.bias
