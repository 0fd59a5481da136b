"""Orders in which heads could be pruned, by what their similarities say; whether they can is for ablation to tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .errors import SimilarityError

Array = np.ndarray
Head = tuple[int, int]  # (layer, head)


def redundancy_order(alignment: Array, heads: list[Head]) -> list[Head]:
    """Heads from the most redundant to the most distinct.

    alignment: (head, head) from geometry.head_alignment; heads: what its axes mean. Again and again, of the two most
    alike heads that are left, the one more like all the others goes. Heads without a geometry (NaN) go first.
    Raises SimilarityError where the shapes differ.

    **Source**: Halevi et al., arXiv 2512.21956, propose pruning redundant heads; the greedy rule is ours.
    """
    matrix = np.array(alignment, dtype=np.float64)
    if matrix.shape != (len(heads), len(heads)):
        raise SimilarityError(
            f"alignment ({len(heads)}, {len(heads)}), one row and column per head",
            f"shape {matrix.shape}",
            "Pass the heads of the same capture.",
        )
    empty = np.isnan(np.diag(matrix))
    order = [int(index) for index in np.flatnonzero(empty)]
    np.fill_diagonal(matrix, -np.inf)
    matrix[empty], matrix[:, empty] = -np.inf, -np.inf
    left = ~empty
    while left.sum() > 1:
        one, two = np.unravel_index(np.argmax(matrix), matrix.shape)
        totals = np.where(np.isfinite(matrix), matrix, 0).sum(axis=1)
        goes = int(one if totals[one] >= totals[two] else two)
        order.append(goes)
        left[goes] = False
        matrix[goes], matrix[:, goes] = -np.inf, -np.inf
    order.extend(int(index) for index in np.flatnonzero(left))
    return [heads[index] for index in order]


def repetition_order(statistics: pd.DataFrame) -> list[Head]:
    """Heads from the one that repeats a token most rarely, by same_token_lift of pair_statistics; ties by place.

    **Source**: Halevi et al., arXiv 2512.21956 (heads that rarely repeat); using it as an order is ours.
    """
    order = statistics["same_token_lift"].fillna(-np.inf).to_numpy().argsort(kind="stable")
    return [(int(row["layer"]), int(row["head"])) for _, row in statistics.iloc[order].iterrows()]


def heads_of(value: Any) -> list[Head]:
    """(layer, head) of every place on the flattened axis of a Capture or Measured."""
    n_heads = value.shape[1] if hasattr(value, "settings") else value.z.shape[1]
    return [(int(layer), head) for layer in value.layers for head in range(n_heads)]
