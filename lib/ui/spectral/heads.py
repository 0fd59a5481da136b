"""How many heads each layer needs, the allocation that follows, and what the model loses when pruned to it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.heads import ablate, random_orders
from lib.models import Engine
from lib.numerals import with_interval, written
from lib.spectral import HeadGrams, Pruned, heads_needed, keep_order, suggested_allocation
from lib.stats import Interval
from lib.ui import cached
from lib.ui.job import worked
from lib.ui.message import guarded
from lib.ui.progress import Progress
from lib.ui.scene import Scene
from lib.ui.spectral.measures import Ask, cut_windows, field_key, grams
from lib.ui.spectral.spectra import epsilon_choice
from lib.ui.tables import html_table
from lib.views import charts, palette

EVIDENCE = {"pattern": "attention patterns", "z": "head outputs, z"}
RANDOM = 3  # prunings of as many random heads
CHECKED = 24  # windows on which the loss is measured
BUDGET = 0.05  # rise of the loss that the claim may cost
WHAT, CHECK = "spectral-pruned", "spectral pruned last"

Head = tuple[int, int]


@st.fragment
def heads_section(now: Scene, ask: Ask) -> None:
    """Heads needed by layer, the suggested allocation, and its check."""
    with guarded("how many heads these layers need"):
        st.caption(
            "Heads of one layer may do much the same. Window by window, their patterns are taken as a small set and "
            "the patterns needed to hold all but ε of the energy between them are counted: identical heads need one."
        )
        found = grams(now, ask)
        layers, heads = len(found.layers), found.pattern.shape[-1]
        with st.container(horizontal=True, vertical_alignment="bottom"):
            epsilon = epsilon_choice()
            kind = st.segmented_control(
                "Compared by", list(EVIDENCE), format_func=EVIDENCE.__getitem__, default="pattern",
                required=True, key="spectral-evidence", persist_state="session",
            )  # fmt: skip
            total = st.number_input(
                f"Heads to hand out, of {layers * heads}", layers, layers * heads, None, placeholder="what they need",
                key=f"spectral-total-{layers}-{heads}", width=200,
            )  # fmt: skip
        needed = cached.kept(
            "heads needed",
            f"{field_key(now, ask)} {epsilon:g} {kind}",
            lambda: [heads_needed(found.of(layer, kind), epsilon) for layer in found.layers],
        )
        given = suggested_allocation([float(one.estimate) for one in needed], heads, total)
        left, right = st.columns([3, 2], gap="medium")
        with left:
            picture(found, needed, given, heads, epsilon)
        with right:
            check(now, ask, off(found, kind, given), epsilon, kind)


def picture(found: HeadGrams, needed: Sequence[Interval], given: np.ndarray, heads: int, epsilon: float) -> None:
    """Bars of what each layer needs, a tick at what it has; the allocation as a table."""
    frame = pd.DataFrame(
        {
            "layer": [f"L{layer}" for layer in found.layers],
            "needed": [float(one.estimate) for one in needed],
            "low": [float(one.low) for one in needed],
            "high": [float(one.high) for one in needed],
            "has": heads,
        }
    )
    st.markdown("**Heads needed by layer**")
    chart = charts.bars(
        frame, "layer", "needed", chance="has", low="low", high="high", colour=palette.VALUE,
        y_title=f"heads for {100 * (1 - epsilon):.3g} %", height=230,
    )  # fmt: skip
    st.altair_chart(chart, width="stretch")
    rows = [
        ["needed", *(with_interval(float(n.estimate), float(n.low), float(n.high)) for n in needed)],
        ["suggested", *map(str, given)],
    ]
    with st.container(height=330 if len(needed) > 12 else "content", border=False):
        turned = [[name, *cells] for name, *cells in zip(frame["layer"], *(row[1:] for row in rows), strict=True)]
        st.html(html_table(["layer", "needed [95 % over windows]", "suggested"], turned))
    st.caption(
        f"Every layer has {heads} (tick). The suggestion shares the heads out in proportion to need; a layer may be "
        "given more than it has, which a model trained anew could use and this check cannot."
    )


def off(found: HeadGrams, kind: str, given: np.ndarray) -> tuple[Head, ...]:
    """The heads that go: in each layer those that add least to what the kept ones span."""
    return tuple(
        (layer, int(head))
        for layer, keep in zip(found.layers, given, strict=True)
        for head in keep_order(found.of(layer, kind))[keep:]
    )


def check(now: Scene, ask: Ask, gone: tuple[Head, ...], epsilon: float, kind: str) -> None:
    """Switch the other heads off and measure the loss, beside as many random heads."""
    st.markdown("**Does the model keep working with that?**")
    if not gone:
        st.caption("No layer would lose a head, so there is nothing to switch off.")
        return
    taken = cut_windows(now, ask)
    count = min(CHECKED, len(taken))
    key = f"{field_key(now, ask)} {sorted(gone)} {count}"
    work = partial(pruned, now.engine, list(taken)[:count], gone, ask.stream)
    found = worked(WHAT, key, f"Switch {len(gone)} heads off and measure", work)
    if found is None:
        st.caption(
            f"{len(gone)} heads are switched off at once, the loss is measured over {count} windows, and again "
            f"{RANDOM} times with as many heads drawn at random."
        )
        return
    st.session_state[CHECK] = (field_key(now, ask), found)
    low, high = found.random
    better = "less than any random draw" if found.high < low else "not clearly less than random heads"
    st.markdown(
        f"Change of the {found.unit}: **{written(found.change, '+.3g')}** [{written(found.low, '+.3g')}, "
        f"{written(found.high, '+.3g')}]; as many random heads: {written(low, '+.3g')} … {written(high, '+.3g')}. "
        f"That is {better}."
    )
    st.caption(
        f"{found.heads} heads off, {count} windows, 95 % over windows. Within the budget of {found.budget:g}: "
        f"{'yes' if found.high <= found.budget else 'no'}. Nothing is trained again, so this is the hardest form of "
        f"the "
        "question: training with this allocation might recover the loss."
    )


def pruned(engine: Engine, read: list, gone: tuple[Head, ...], stream: str | None, progress: Progress) -> Pruned:
    """The loss with the heads off, and with as many random ones off."""
    sets = [gone, *(order[: len(gone)] for order in random_orders(engine, RANDOM, stream).values())]
    rows = []
    for number, heads in enumerate(sets):

        def report(done: int, total: int, stage: str, number: int = number) -> None:
            progress(number * total + done, len(sets) * total, stage)

        rows.append(ablate(engine, read, heads, "zero", stream, report).iloc[0])
    random = [float(row["change"]) for row in rows[1:]]
    first = rows[0]
    return Pruned(
        change=float(first["change"]),
        low=float(first["change_low"]),
        high=float(first["change_high"]),
        random=(min(random), max(random)),
        heads=len(gone),
        budget=BUDGET,
        unit=str(first["measure"]),
    )


def last_check(now: Scene, ask: Ask) -> Pruned | None:
    """The check that was made last for this model and these windows, for the verdict on the claim."""
    known = st.session_state.get(CHECK)
    return known[1] if known and known[0] == field_key(now, ask) else None
