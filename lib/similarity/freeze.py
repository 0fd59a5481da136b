"""Layers to freeze: where the geometry of similarity stays the same between two checkpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lib.threads import one_thread

from .errors import SimilarityError
from .geometry import SHORTEST, normalised, paired_alignment
from .statistics import head_columns
from .units import captured_units

Array = np.ndarray
THRESHOLD = 0.95


@dataclass(frozen=True, eq=False)
class Freeze:
    """How much of each head's geometry two checkpoints share.

    heads: frame with columns layer, head, cka, low, high. layers: frame with columns layer, cka, low, high, mean over
    heads. still: layers whose lower bound reaches the threshold; frozen: those of them with none that moves below,
    the ones that can be frozen without cutting the gradient's way.
    """

    heads: pd.DataFrame
    layers: pd.DataFrame
    still: tuple[int, ...]
    frozen: tuple[int, ...]
    threshold: float


@one_thread()
def layers_to_freeze(
    before: Any,
    after: Any,
    threshold: float = THRESHOLD,
    draws: int = 500,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> Freeze:
    """Compare two captures of the same documents by two checkpoints, head by head.

    The measure is linear CKA of S, special tokens left out: 1 for the same geometry up to rotation and scale, 0 for
    unrelated ones. Intervals bootstrap documents; those of the layers decide. Raises SimilarityError where tokens,
    layers or heads differ, or no document has four tokens.

    **Source**: the use is proposed by Halevi et al., arXiv 2512.21956; measure and rule are ours.
    """
    _check_alike(before, after)
    units = captured_units(before, False, False).units
    usable = [index for index, document in enumerate(units) if len(document) >= SHORTEST]
    if not usable:
        raise SimilarityError(f"a document of {SHORTEST} tokens", "none", "Add text.")
    n_layers, n_heads = before.z.shape[:2]
    sums = np.zeros((len(usable), 3, n_layers, n_heads))  # HSIC of (before, after), (before, before), (after, after)
    for done, document in enumerate(usable):
        start, stop = before.doc_offsets[document : document + 2]
        a, b = (units[document].pool(value.z[:, :, start:stop]) for value in (before, after))
        a, b = (x.reshape(n_layers * n_heads, *x.shape[2:]) for x in (a, b))
        for which, (x, y) in enumerate(((a, b), (a, a), (b, b))):
            sums[done, which] = paired_alignment(x, y).reshape(n_layers, n_heads)
        if progress:
            progress(done + 1, len(usable), "comparing checkpoints")
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(len(usable), np.full(len(usable), 1 / len(usable)), size=draws)
    drawn = _cka(np.einsum("md,dslh->smlh", counts, sums))  # (draw, layer, head)
    cka = _cka(sums.sum(axis=0))
    bounded = len(usable) > 1
    heads = _frame(before.layers, cka, drawn, bounded)
    layers = _frame(before.layers, np.nanmean(cka, axis=1), np.nanmean(drawn, axis=2), bounded)
    reached = layers["low"].to_numpy() >= threshold
    still = tuple(int(layer) for layer in np.array(before.layers)[reached])
    moving = int(np.argmin(reached)) if not reached.all() else len(reached)
    return Freeze(heads, layers, still, tuple(int(layer) for layer in before.layers[:moving]), threshold)


def _cka(sums: Array) -> Array:
    return normalised(sums[0], sums[1], sums[2])


def _frame(layers: tuple[int, ...], cka: Array, drawn: Array, bounded: bool) -> pd.DataFrame:
    low, high = np.nanquantile(drawn, [0.025, 0.975], axis=0) if bounded else np.full((2, *cka.shape), np.nan)
    columns = head_columns(layers, cka.shape[1]) if cka.ndim == 2 else {"layer": np.array(layers)}
    return pd.DataFrame({**columns, "cka": cka.ravel(), "low": low.ravel(), "high": high.ravel()})


def _check_alike(before: Any, after: Any) -> None:
    for what, one, two in (
        ("the same layers", before.layers, after.layers),
        ("the same number of heads", before.z.shape[1], after.z.shape[1]),
        ("the same documents", list(before.doc_offsets), list(after.doc_offsets)),
        ("the same tokens", list(before.tokens.token_id), list(after.tokens.token_id)),
    ):
        if one != two:
            raise SimilarityError(
                f"{what} in both checkpoints",
                f"{str(one)[:60]} and {str(two)[:60]}",
                "Choose two checkpoints of one model, with one tokenizer.",
            )
