"""Heads on images: the strongest arrow of every patch, all links above a threshold, and patches like this one."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.capture import Capture
from lib.corpora import TokenTable
from lib.errors import HeadlightError

KINDS = ("patch", "itself", "CLS", "register")  # drawn as arrow, circle, square, square


def strongest(pattern: np.ndarray, table: TokenTable) -> pd.DataFrame:
    """The strongest link of every patch in one head: query, key, weight, kind.

    pattern: (query_pos, key_pos); table: of the image. kind: "itself", "CLS", "register" or "patch". Rows of nothing
    are left out.
    """
    queries = np.flatnonzero(table.row >= 0)
    weights = np.nan_to_num(pattern[queries])
    keys = weights.argmax(axis=1)
    best = weights[np.arange(len(queries)), keys]
    kept = best > 0
    return _links(queries[kept], keys[kept], best[kept], table)


def links(pattern: np.ndarray, table: TokenTable, threshold: float = 0.1) -> pd.DataFrame:
    """Every link of a patch of at least ``threshold`` in one head, the strongest first; columns as in ``strongest``."""
    queries, keys = np.nonzero((np.nan_to_num(pattern) >= threshold) & (table.row >= 0)[:, None])
    found = _links(queries, keys, pattern[queries, keys], table)
    return found.sort_values("weight", ascending=False, ignore_index=True, kind="stable")


def _links(queries: np.ndarray, keys: np.ndarray, weights: np.ndarray, table: TokenTable) -> pd.DataFrame:
    patch, first = table.row[keys] >= 0, table.pos[keys] == 0
    kind = np.select([queries == keys, patch, first], ["itself", "patch", "CLS"], "register")
    return pd.DataFrame({"query": queries, "key": keys, "weight": weights, "kind": kind})


def patches_like(capture: Capture, document: int, position: int, by: str = "z") -> np.ndarray:
    """Cosine of one patch's vector with every token's, in every head: (layer, head, token) over all images.

    by: "z" (what the head made of the patch), "query" or "key". Tokens without a patch (class and register tokens)
    are NaN, and so are vectors of length zero.

    Raises HeadlightError where the position is no patch of the image or the vectors were not kept.
    """
    vectors = getattr(capture, by, None) if by in ("z", "query", "key") else None
    if vectors is None:
        raise HeadlightError('vectors "z", "query" or "key" that were captured', repr(by), "Capture them.")
    start, end = capture.doc_offsets[document : document + 2]
    if not 0 <= position < end - start or capture.tokens.row[start + position] < 0:
        raise HeadlightError(
            f"the position of a patch of image {document}, below {end - start}", f"{position}", "Choose a patch."
        )
    likeness = np.empty(vectors.shape[:3], dtype=np.float32)
    for layer, own in enumerate(vectors):  # (head, token, d_head): one layer of a mapped capture at a time
        chosen = own[:, start + position]
        lengths = np.linalg.norm(own, axis=2) * np.linalg.norm(chosen, axis=1, keepdims=True)
        products = np.einsum("htd,hd->ht", own, chosen)
        likeness[layer] = np.where(lengths > 0, products / np.where(lengths > 0, lengths, 1), np.nan)
    likeness[:, :, capture.tokens.row < 0] = np.nan
    return likeness


def overlay(weights: np.ndarray, table: TokenTable) -> np.ndarray:
    """Weights per token (token,) laid out as the image: (row, col), special tokens left out."""
    patches = table.row >= 0
    grid = np.full((table.row.max() + 1, table.col.max() + 1), np.nan)
    grid[table.row[patches], table.col[patches]] = weights[patches]
    return grid
