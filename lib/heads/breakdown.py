"""The score of one pair, dimension by dimension."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.capture import Capture
from lib.errors import HeadlightError


def breakdown(capture: Capture, layer: int, head: int, query_pos: int, key_pos: int, document: int = 0) -> pd.DataFrame:
    """q·k of a query and a key in one head: a row per dimension with query, key, product and share.

    product is q_d · k_d times the softmax scale, so the column's sum is the pair's score before masks, biases and caps;
    share is product ÷ Σ|product|. Positions count within the document. Vectors are as scored, after rotation.

    Raises HeadlightError where a position is not in the document or query and key were not captured.
    """
    if capture.query is None or capture.key is None:
        raise HeadlightError("a capture that kept query and key", f"one without ({capture.model})", "Capture them.")
    index = capture.layer_index(layer)
    one = capture.of(document)
    if not (0 <= query_pos < len(one.tokens) and 0 <= key_pos < len(one.key_tokens) and 0 <= head < len(one.query[0])):
        raise HeadlightError(
            f"a head below {len(one.query[0])}, a query below {len(one.tokens)} and a key below {len(one.key_tokens)}",
            f"head {head}, query {query_pos}, key {key_pos}",
            "Count from 0 within the document.",
        )
    scale = one.scaling if np.isfinite(one.scaling) else 1.0
    return pair_products(one.query[index, head, query_pos], one.key[index, head, key_pos], scale)


def pair_products(query: np.ndarray, key: np.ndarray, scale: float) -> pd.DataFrame:
    """The same from two vectors (d_head,): dimension, query, key, product, share."""
    product = query.astype(np.float64) * key.astype(np.float64) * scale
    total = np.abs(product).sum()
    share = product / total if total > 0 else np.zeros_like(product)
    return pd.DataFrame(
        {"dimension": np.arange(len(product)), "query": query, "key": key, "product": product, "share": share}
    )
