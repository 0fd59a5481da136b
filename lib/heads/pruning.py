"""Pruning: how many heads can go for a budget of loss, every step measured again.

Heads interact: two that stand in for one another are each harmless alone. So no step trusts the measurements of the
step before, and the greedy order is drawn beside random orders and any others that are handed in.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib import stats
from lib.capture.batching import encoded
from lib.corpora import Document, Encoding
from lib.heads.ablation import Switchboard
from lib.heads.effects import all_heads
from lib.heads.outcome import Head, Progress

CANDIDATES = 8  # heads that each greedy step measures: the most harmless ones of the step before
COLUMNS = ("order", "removed", "layer", "head", "loss", "change", "low", "high")


def greedy_pruning(
    engine: Any,
    documents: Sequence[Document | Encoding],
    budget: float,
    mode: str = "zero",
    stream: str | None = None,
    candidates: int = CANDIDATES,
    most: int | None = None,
    alone: pd.DataFrame | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Remove one head after another, each time the one whose removal costs least beside all that are gone.

    budget: largest change of the loss (its unit) that may be spent; most: heads to remove at most. The first step
    measures every head; later steps measure again the ``candidates`` that cost least so far, since measuring all of
    them at every step would take hours. alone: the table of ``sweep`` over the same documents in the same mode, where
    there is one; it spares the first step its measuring.

    One row per step: order "greedy", removed (heads gone so far), layer, head (the one that went), loss, change with
    its 95 % interval low, high (bootstrap over documents, simultaneous over the steps). Row 0: no head gone, no change.

    **Source** Michel et al., "Are Sixteen Heads Really Better than One?", 2019, §4 (greedy by importance, here by
    measured loss); lazy evaluation as in Minoux 1978.
    """
    board = Switchboard.of(engine, encoded(engine, documents), mode, stream)
    left = all_heads(engine, board.stream)
    limit = len(left) if most is None else min(most, len(left))
    cost: dict[Head, float] = dict.fromkeys(left, -np.inf)  # of removing it beside what was gone when last measured
    first = len(left)  # heads that the first step measures
    if alone is not None:
        cost |= dict(zip(zip(alone["layer"], alone["head"], strict=True), alone["change"], strict=True))
        first = min(candidates, len(left))
    spent = 0.0
    gone: list[Head] = []
    steps: list[np.ndarray] = []
    clean = weight = None
    done, total = 0, first + sum(min(candidates, len(left) - step) for step in range(1, limit))
    while len(gone) < limit:
        tried = sorted(cost, key=cost.__getitem__)[: candidates if gone else first]
        stage = f"pruning, {len(gone)} heads gone, sets measured"
        outcome = board.losses(
            [frozenset((*gone, head)) for head in tried], _share(progress, done, len(tried), total, stage)
        )
        done += len(tried)
        clean, weight = outcome.clean, outcome.weight
        change = stats.weighted_mean((outcome.loss - clean).T, weight)  # (tried,)
        cost |= dict(zip(tried, (change - spent).tolist(), strict=True))
        best = int(np.argmin(change))
        if change[best] > budget:
            break
        spent = float(change[best])
        gone.append(tried[best])
        steps.append(outcome.loss[best])
        del cost[tried[best]]
    return _curve("greedy", gone, steps, clean, weight)


def pruning_curves(
    engine: Any,
    documents: Sequence[Document | Encoding],
    orders: Mapping[str, Sequence[Head]],
    mode: str = "zero",
    stream: str | None = None,
    steps: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """The loss along given orders of removal: rows and columns as in ``greedy_pruning``, one block per order.

    orders: name -> heads in the order in which they go. steps: numbers of removed heads to measure, all by default.
    """
    board = Switchboard.of(engine, encoded(engine, documents), mode, stream)
    heads_of = {name: [(int(layer), int(head)) for layer, head in order] for name, order in orders.items()}
    counts_of = {
        name: [n for n in (range(1, len(heads) + 1) if steps is None else steps) if 0 < n <= len(heads)]
        for name, heads in heads_of.items()
    }
    parts, done, total = [], 0, sum(map(len, counts_of.values()))
    for name, heads in heads_of.items():
        counts = counts_of[name]
        outcome = board.losses(
            [frozenset(heads[:n]) for n in counts],
            _share(progress, done, len(counts), total, f"pruning, {name}, sets measured"),
        )
        done += len(counts)
        parts.append(_curve(name, heads, outcome.loss, outcome.clean, outcome.weight, counts))
    return pd.concat(parts, ignore_index=True)


def random_orders(engine: Any, count: int = 3, stream: str | None = None, seed: int = 0) -> dict[str, list[Head]]:
    """Orders in which any head goes at any step: "random 1", "random 2", …"""
    heads, rng = all_heads(engine, stream), np.random.default_rng(seed)
    return {f"random {n + 1}": [heads[i] for i in rng.permutation(len(heads))] for n in range(count)}


def likeness_order(heads: Sequence[Head], distances: np.ndarray) -> list[Head]:
    """Heads by how well another stands in for them: of the two nearest that are left, the one with the nearer third.

    heads: in the order of the axes of ``distances`` (head, head).
    """
    left = list(range(len(heads)))
    away = distances.astype(np.float64).copy()
    np.fill_diagonal(away, np.inf)
    order = []
    while len(left) > 1:
        part = away[np.ix_(left, left)]
        a, b = np.unravel_index(part.argmin(), part.shape)
        rest = [np.delete(part[i], [a, b]).min(initial=np.inf) for i in (a, b)]
        order.append(left.pop(a if rest[0] <= rest[1] else b))
    return [heads[i] for i in (*order, *left)]


def removable(curve: pd.DataFrame, budget: float) -> dict[str, int]:
    """Heads that can go before the loss first rises by more than ``budget``, for each order of a curve."""
    found = {}
    for name, part in curve.groupby("order", sort=False):
        part = part.sort_values("removed")
        over = part.change > budget
        found[str(name)] = int(part.removed[~over.cummax()].max())
    return found


def _share(progress: Progress | None, before: int, own: int, total: int, stage: str) -> Progress | None:
    """The progress of one part of a longer work: its ``own`` sets of heads out of ``total``, ``before`` are done."""
    if progress is None:
        return None
    return lambda done, of, _: progress(before + own * done // max(of, 1), total, stage)


def _curve(
    name: str,
    heads: Sequence[Head],
    loss: Sequence[np.ndarray],
    clean: np.ndarray,
    weight: np.ndarray,
    counts: Sequence[int] | None = None,
) -> pd.DataFrame:
    """The table of one order: row 0 with every head on, then the measured steps."""
    counts = list(range(1, len(heads) + 1)) if counts is None else list(counts)
    start = float(stats.weighted_mean(clean, weight))
    rows = [(name, 0, -1, -1, start, 0.0, 0.0, 0.0)]
    if counts:
        difference = (np.asarray(loss) - clean).T  # (document, step)
        interval = stats.bootstrap_mean(
            difference, np.broadcast_to(weight[:, None], difference.shape), simultaneous=True
        )
        for place, count in enumerate(counts):
            change = float(interval.estimate[place])
            bounds = float(interval.low[place]), float(interval.high[place])
            rows.append((name, count, *heads[count - 1], start + change, change, *bounds))
    return pd.DataFrame(rows, columns=COLUMNS)
