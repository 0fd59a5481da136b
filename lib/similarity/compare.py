"""Two models, or two checkpoints, side by side on every statistic."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.stats import bootstrap_mean

from .errors import SimilarityError
from .statistics import STATISTICS, Measured, Weights, head_columns, ratio_draws
from .trend import layer_trend, over_chance

Array = np.ndarray


def side_by_side(one: Measured, two: Measured, weights: Weights = "documents") -> pd.DataFrame:
    """The layer trends of two models under each other: columns model, depth, and those of layer_trend.

    depth runs from 0 (first measured layer) to 1 (last), so that models of different depth share an axis. Two runs of
    one model are told apart as "… (first)" and "… (second)".
    """
    names = [one.model, two.model]
    if names[0] == names[1]:
        names = [f"{names[0]} (first)", f"{names[1]} (second)"]
    frames = []
    for name, measured in zip(names, (one, two), strict=True):
        frame = layer_trend(measured, weights)
        place = frame["layer"].map({layer: index for index, layer in enumerate(measured.layers)})
        frame.insert(0, "depth", place / max(len(measured.layers) - 1, 1))
        frame.insert(0, "model", name)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)


def differences(
    one: Measured,
    two: Measured,
    weights: Weights = "documents",
    level: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Every statistic of two models over the same documents: lift of each, second minus first, and its interval.

    Columns statistic, first, second, difference, low, high, separated. Lifts are over all heads, documents resampled
    together in both; contrast, whose chance is 0, is compared as it is. Raises SimilarityError where the numbers of
    documents differ.
    """
    _check_documents(one, two)
    rows = []
    for name in STATISTICS:
        drawn, lifts = [], []
        for measured in (one, two):
            values, base = (part.mean(axis=1) for part in over_chance(measured, name))
            estimate, replicates = ratio_draws(values, base, measured.weights(weights), draws, seed)
            lifts.append(float(estimate))
            drawn.append(replicates)
        change = drawn[1] - drawn[0]
        known = not np.isnan(change).all()
        low, high = np.nanquantile(change, [(1 - level) / 2, (1 + level) / 2]) if known else (np.nan, np.nan)
        rows.append((name, *lifts, lifts[1] - lifts[0], low, high, bool(low > 0 or high < 0)))
    return pd.DataFrame(rows, columns=["statistic", "first", "second", "difference", "low", "high", "separated"])


def head_differences(one: Measured, two: Measured, level: float = 0.95, seed: int = 0) -> pd.DataFrame:
    """Second minus first of every statistic in every head of two checkpoints, documents paired and alike.

    Columns layer, head and NAME, NAME_low, NAME_high; intervals are simultaneous over heads and statistics. Raises
    SimilarityError where layers, heads or the number of documents differ.
    """
    _check_documents(one, two)
    if one.layers != two.layers or one.shape != two.shape:
        raise SimilarityError(
            "two checkpoints with the same layers and heads",
            f"{one.shape} and {two.shape} (layers, heads)",
            "Compare models of different shape side by side, by depth.",
        )
    change = np.stack([two.values[name] - one.values[name] for name in STATISTICS], axis=1)
    interval = bootstrap_mean(change, level=level, seed=seed, simultaneous=True)
    columns = head_columns(one.layers, one.shape[1])
    for index, name in enumerate(STATISTICS):
        columns[name] = interval.estimate[index].ravel()
        columns[f"{name}_low"], columns[f"{name}_high"] = interval.low[index].ravel(), interval.high[index].ravel()
    return pd.DataFrame(columns)


def _check_documents(one: Measured, two: Measured) -> None:
    if len(one.documents) != len(two.documents):
        raise SimilarityError(
            "both models over the same documents",
            f"{len(one.documents)} and {len(two.documents)} documents",
            "Measure both on one corpus.",
        )
