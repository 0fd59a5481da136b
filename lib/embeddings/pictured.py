"""Does the picture show an order that the full space does not hold? The same scores, from neighbours in the picture."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

from .attributes import Attribute
from .orders import NEIGHBOURS, PERMUTATIONS, attribute_score

Array = np.ndarray
LOOK = 64  # nearest points among which neighbours of other documents are looked for
Progress = Callable[[int, int, str], None]
SEEN, HELD = 0.3, 0.5  # least strength that shows in a picture; share of it that the full space must hold


def picture_strength(
    sides: Mapping[str, Array],
    attributes: Mapping[str, Mapping[str, Attribute]],
    doc: Array,
    token_id: Array,
    neighbours: int = NEIGHBOURS,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Progress | None = None,
) -> dict[str, float]:
    """How strongly each attribute orders a picture: (score − null)/(1 − null), mean over the sides; NaN undefined.

    sides: "query" and "key" (or one of them) -> places (token, 2 or 3) of the same tokens. attributes: by side and
    name, of these tokens. doc, token_id: (token,). Neighbours are by distance in the picture, from other documents
    where there are several, as in ``what_orders``. ``progress(done, total, stage)`` may raise to cancel.
    """
    found: dict[str, list[float]] = {}
    total = sum(map(len, attributes.values()))
    for side, xy in sides.items():
        near = {False: across(xy, doc, neighbours), True: within(xy, doc, neighbours)}
        for name, attribute in attributes[side].items():
            if progress:
                progress(sum(map(len, found.values())), total, "asking what orders the picture")
            mean, weight, null = attribute_score(
                attribute, near[attribute.exchange == "shift"], doc, token_id, permutations, seed
            )
            if not weight.any():
                found.setdefault(name, []).append(float("nan"))
                continue
            score, middle = float(np.nansum(mean * weight) / weight.sum()), float(null.mean())
            found.setdefault(name, []).append((score - middle) / (1 - middle) if middle < 1 else float("nan"))
    return {name: float(np.mean(values)) for name, values in found.items()}


def only_pictured(full: pd.DataFrame, picture: Mapping[str, float]) -> list[str]:
    """Attributes that order the picture though the full space holds less than half of that order, strongest first.

    full: the rows of ``Orders.table`` of one head.
    """
    strength = dict(zip(full.attribute, np.nan_to_num(full.strength.to_numpy(float)), strict=True))
    found = [name for name, seen in picture.items() if seen >= SEEN and strength.get(name, 0) < HELD * seen]
    return sorted(found, key=lambda name: -picture[name])


def across(xy: Array, doc: Array, k: int) -> Array:
    """(token, k) nearest tokens of other documents in a picture, of any where there is one document; −1: fewer."""
    n, several = len(xy), doc.max() > doc.min()
    found = np.full((n, k), -1)
    if n < 2:
        return found
    near = np.atleast_2d(KDTree(xy).query(xy, k=min(n, LOOK if several else k + 1))[1])
    own = np.arange(n)[:, None]
    usable = (doc[near] != doc[:, None]) if several else (near != own)
    order = np.argsort(~usable, axis=1, kind="stable")[:, :k]  # usable ones first, nearest first
    chosen, there = np.take_along_axis(near, order, axis=1), np.take_along_axis(usable, order, axis=1)
    found[:, : chosen.shape[1]] = np.where(there, chosen, -1)
    return found


def within(xy: Array, doc: Array, k: int) -> Array:
    """(token, k) nearest other tokens of the same document in a picture; −1: fewer."""
    found = np.full((len(xy), k), -1)
    for document in np.unique(doc):
        own = np.flatnonzero(doc == document)
        near = across(xy[own], np.zeros(len(own), int), k)
        found[own] = np.where(near >= 0, own[np.maximum(near, 0)], -1)
    return found
