"""POD across heads: how many heads a layer needs to make its patterns, document by document.

Not the ensemble rank of nulls.py: here the snapshots are the heads of one document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.errors import HeadlightError
from lib.stats import Interval, bootstrap_mean

from .resampling import centred_gram
from .spectrum import effective_rank

Array = np.ndarray
EVIDENCE = ("pattern", "z")


@dataclass(frozen=True, eq=False)
class HeadGrams:
    """Inner products between the heads of each layer, document by document.

    layers      true layer numbers
    pattern, z  float64 (layer, doc, head, head): Σ A_h A_h' over the cells of the pattern, Σ z_h z_h' over tokens
                and d_head
    """

    layers: tuple[int, ...]
    pattern: Array
    z: Array

    def of(self, layer: int, evidence: str = "pattern") -> Array:
        """Gram matrices (doc, head, head) of one layer, from the patterns or from the head outputs z."""
        if layer not in self.layers or evidence not in EVIDENCE:
            raise HeadlightError(
                f"a layer among {self.layers} and evidence among {EVIDENCE}",
                f"{layer!r}, {evidence!r}",
                "Choose one that was kept.",
            )
        return getattr(self, evidence)[self.layers.index(layer)]


def head_grams(
    engine: Any,
    windows: Sequence[Any],
    layers: Sequence[int] | None = None,
    stream: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> HeadGrams:
    """Inner products between heads, in one pass over windows or documents of any length, special tokens included."""
    from lib.capture import observe

    observer = _Grams()
    observe(engine, list(windows), observer, layers=layers, stream=stream, progress=progress)
    kept = tuple(sorted({layer for layer, _ in observer.grams}))
    sides = [
        np.array([[observer.grams[layer, d][side] for d in range(len(windows))] for layer in kept]) for side in range(2)
    ]
    return HeadGrams(kept, *sides)


def heads_needed(grams: Array, epsilon: float = 0.1, draws: int = 1000, seed: int = 0) -> Interval:
    """Heads that a layer needs for all but a share ε of the energy between its heads, mean over documents.

    grams: (doc, head, head). Per document, the heads' patterns are centred on their mean, and the modes that H*(ε)
    needs are counted beside that mean: identical heads need 1, and no layer needs more than it has.

    **Source**: Zeris, arXiv 2606.06573 (allocation of heads); deviation: the digest reads heads off the
    ensemble rank over documents, which one head can make as large as it likes.
    """
    return bootstrap_mean(heads_by_document(grams, epsilon), draws=draws, seed=seed)


def heads_by_document(grams: Array, epsilon: float = 0.1) -> Array:
    """``heads_needed`` of each document, float64 (doc,), to be compared between layers document by document."""
    return np.array([_needed(gram, epsilon) for gram in grams], dtype=np.float64)


def keep_order(grams: Array) -> Array:
    """Heads in the order in which they add most to what those before them span, by pivoted Cholesky: int (head,).

    grams: (doc, head, head), summed over documents. The first k heads are a good choice of k to keep.

    **Source**: Higham (1990), in *Reliable Numerical Computation* (pivoted Cholesky, the Gram form of QR).
    """
    rest = np.array(grams.sum(axis=0), dtype=np.float64)
    order: list[int] = []
    for _ in range(len(rest)):
        energy = np.where(np.isin(np.arange(len(rest)), order), -np.inf, np.diagonal(rest))
        head = int(energy.argmax())
        order.append(head)
        if energy[head] > 0:
            rest -= np.outer(rest[:, head], rest[head]) / rest[head, head]
    return np.array(order)


def suggested_allocation(needed: Sequence[float], heads: int, total: int | None = None) -> Array:
    """Heads per layer in proportion to what each needs, int (layer,), at least 1 each, adding up to ``total``.

    needed: (layer,) from ``heads_needed``; heads: heads per layer now; total: heads to hand out, None for what
    the layers need, rounded up. A layer may be given more heads than it has now. Shares are rounded by largest
    remainders.
    """
    needed = np.asarray(needed, dtype=np.float64)
    if needed.ndim != 1 or not needed.size or not (needed > 0).all():
        raise HeadlightError("heads needed (layer,), all positive", f"{needed}", "Use heads_needed per layer.")
    total = min(int(np.ceil(needed).sum()), heads * len(needed)) if total is None else total
    if total < len(needed):
        raise HeadlightError(f"at least one head for each of {len(needed)} layers", f"{total}", "Give more.")
    share = needed / needed.sum() * (total - len(needed))
    given = np.floor(share).astype(int)
    remainder = np.argsort(-(share - given), kind="stable")
    given[remainder[: total - len(needed) - given.sum()]] += 1
    return given + 1


def _needed(gram: Array, epsilon: float) -> int:
    spectrum = np.linalg.eigvalsh(centred_gram(gram))[::-1]
    rounding = 1e-10 * np.trace(gram)  # patterns are float32: heads that equal so closely are one
    return 1 + effective_rank(np.where(spectrum > rounding, spectrum, 0), epsilon)


class _Grams:
    """Observer that keeps inner products between heads."""

    needs = frozenset(EVIDENCE)

    def __init__(self) -> None:
        self.grams: dict[tuple[int, int], tuple[Array, Array]] = {}

    def see(self, block: Any) -> None:
        flat = [np.asarray(side, np.float64).reshape(len(side), -1) for side in (block.pattern, block.z)]
        self.grams[block.layer, block.document] = tuple(side @ side.T for side in flat)
