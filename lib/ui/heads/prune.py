"""How many heads can go for a loss budget: one after another, beside random orders and orders by likeness."""

from __future__ import annotations

import hashlib
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.corpora import Document
from lib.heads import all_heads, greedy_pruning, likeness, likeness_order, pruning_curves, random_orders, removable
from lib.heads.outcome import Head
from lib.models import Engine
from lib.numerals import plural
from lib.ui import cached
from lib.ui.captured import encodings
from lib.ui.downloads import download_row, provenance
from lib.ui.heads.alone import known_sweep
from lib.ui.heads.measures import every_head, stream_of
from lib.ui.job import Progress, worked
from lib.ui.pruning_orders import Orders, handed_over
from lib.ui.scene import Scene
from lib.ui.tables import csv_table
from lib.views import charts

RANDOM, ALIKE = "random", "attention alike"
STEPS = 12  # measured along an order that is not the greedy one


def prune_panel(scene: Scene, documents: tuple[Document, ...], stream: str, mode: str, key: str) -> None:
    """Draw the budget, the choice of orders and their curves. key: names documents and mode."""
    st.markdown("**How many heads can go**")
    given = handed_over(scene.engine.key, stream)
    offered = [RANDOM, ALIKE, *(given.orders if given else ())]
    with st.container(horizontal=True, vertical_alignment="bottom"):
        budget = st.number_input(
            "Budget, change of the loss", 0.001, 10.0, 0.05, 0.01,
            format="%.3f", key="heads-budget", persist_state="session", width=190,
        )  # fmt: skip
        beside = st.pills(
            "Beside the greedy order", offered, selection_mode="multi", default=offered,
            key=f"heads-orders-{len(offered)}", persist_state="session",
        )  # fmt: skip
    _sources(given)
    fixed = {name: given.orders[name] for name in beside if given and name in given.orders}
    digest = hashlib.sha256(repr(sorted(fixed.items())).encode()).hexdigest()[:16]
    read = encodings(scene, documents, scene.engine)
    greedy = cached.known("heads-greedy", f"{key} {budget}")
    work = partial(
        _pruned, scene.engine, read, budget, mode, stream_of(stream), tuple(beside), fixed, greedy, known_sweep(key)
    )
    curve = worked("heads-pruning", f"{key} {budget} {sorted(beside)} {digest}", "Prune", work)
    if curve is None:
        st.caption(
            "One head after another, the most harmless first, each step measured again with all that are gone; then "
            "the same number of heads in the other orders."
        )
        return
    cached.kept("heads-greedy", f"{key} {budget}", lambda: curve[curve["order"] == "greedy"])
    _curves(scene, curve, budget, len(documents), len(every_head(scene, stream)))


def _sources(given: Orders | None) -> None:
    """Where the orders come from, and how to get those that are not there."""
    own = "Random: drawn twice. Attention alike: of two heads that attend most alike, one goes (measured here)."
    if given is not None:
        st.caption(f"{own} {' and '.join(given.orders)}: from the Similarity page, {given.source}.")
        return
    st.caption(
        f"{own} More orders, by similarity of outputs and, on text, by repetition, come from the Similarity page: "
        "open Uses, Heads to prune, there for this model, and come back."
    )
    st.page_link("pages/similarity.py", label="Find them on Similarity", icon=":material/blur_on:")


def _curves(scene: Scene, curve: pd.DataFrame, budget: float, documents: int, heads: int) -> None:
    """Change of the loss along each order, with what the budget buys."""
    shown = curve.copy()
    banded = shown["order"] == "greedy"  # bands of six curves hide one another: the table holds them all
    shown.loc[~banded, ["low", "high"]] = np.nan
    bounds = {} if curve.loc[curve["removed"] > 0, "low"].isna().all() else {"low": "low", "high": "high"}
    st.altair_chart(
        charts.line(
            shown, "removed", "change", **bounds, series="order",
            x_title=f"heads removed, of {heads}", y_title="change of the loss", height=300,
        ),
        width="stretch",
    )  # fmt: skip
    counts = removable(curve, budget)
    others = ", ".join(f"{name}: {count}" for name, count in counts.items() if name != "greedy")
    st.markdown(
        f"Within a change of {budget:g}, **{counts['greedy']} of {heads} heads** can go in the greedy order"
        + (f"; {others}." if others else ".")
    )
    band = "; band of the greedy curve: 95 % over documents, simultaneous over steps" if bounds else ""
    st.caption(
        f"{plural(documents, 'document')}{band}. The greedy order is chosen and measured on the same documents, so it "
        f"flatters itself; the other orders are followed as far as it went, measured at {STEPS} lengths at most."
    )
    facts = provenance(scene, corpus_documents=documents, budget=budget)
    files = {"Curves as CSV": ("headlight-pruning.csv", "text/csv", partial(csv_table, curve, facts))}
    download_row(files, "pruning")


def _pruned(
    engine: Engine,
    read: list,
    budget: float,
    mode: str,
    stream: str | None,
    beside: tuple[str, ...],
    fixed: dict[str, tuple[Head, ...]],
    greedy: pd.DataFrame | None,
    alone: pd.DataFrame | None,
    progress: Progress,
) -> pd.DataFrame:
    """The greedy curve, measured where it is not known, and the other orders to the same length."""
    if greedy is None:
        greedy = greedy_pruning(engine, read, budget, mode, stream, alone=alone, progress=progress)
    length = int(greedy["removed"].max())
    orders: dict[str, list[Head] | tuple[Head, ...]] = {}
    if RANDOM in beside:
        orders |= random_orders(engine, 2, stream)
    if ALIKE in beside:
        orders[ALIKE] = likeness_order(all_heads(engine, stream), likeness(engine, read, "js", stream, progress))
    orders |= fixed
    if not length or not orders:
        return greedy
    steps = np.unique(np.linspace(1, length, min(length, STEPS)).astype(int)).tolist()
    others = pruning_curves(engine, read, orders, mode, stream, steps, progress)
    return pd.concat([greedy, others], ignore_index=True)
