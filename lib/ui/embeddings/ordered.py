"""What orders this map? The chosen head attribute by attribute, and all heads ranked by one."""

from __future__ import annotations

import html

import numpy as np
import pandas as pd
import streamlit as st

from lib.embeddings import Orders, image_attributes, norm_attribute, only_pictured, picture_strength, text_attributes
from lib.embeddings.joint import KEY, QUERY
from lib.numerals import plural
from lib.ui import cached
from lib.ui.embeddings.colours import IMAGES, NORM, TEXTS
from lib.ui.embeddings.every import head_orders, measured
from lib.ui.embeddings.one import Drawn
from lib.ui.embeddings.stage import Stage
from lib.ui.progress import give_way
from lib.ui.state import choose_head
from lib.views import head_grid_figure, palette, show

RANKED = 8  # heads listed
MOST = 1_000  # tokens whose neighbours in the picture are looked at


def title(name: str, image: bool) -> str:
    """An attribute as it is written."""
    return {"identity": "token"}.get(name) or (IMAGES if image else TEXTS).get(name, name)


def orders_panel(on: Stage, drawn: Drawn) -> None:
    """The chosen head now; all heads once they are measured."""
    if on.ask.stream == "cross":
        st.caption("Queries and keys are of two texts here: choose the encoder's or the decoder's own attention.")
        return
    left, right = st.columns([4, 5], gap="large")
    with left:
        _one(on, drawn)
    with right:
        _all(on)


def _one(on: Stage, drawn: Drawn) -> None:
    found = head_orders(on)
    seen = _pictured(on, drawn)
    st.markdown(f"**{on.name}: what tells a token from its neighbours**")
    st.html(bars(found.table, seen, on.image))
    extra = only_pictured(found.table, seen)
    if extra:
        names = " and ".join(title(name, on.image) for name in extra)
        st.markdown(
            f":material/flag: **The picture shows more than there is:** by {names} it is ordered "
            f"({', '.join(f'{seen[name]:.2f}' for name in extra)}), the full space much less. Do not read it as a "
            "property of the head."
        )
    st.caption(f"0: no better than exchanged labels, 1: perfect. ○ the same in the picture. {found.note}")


def bars(table: pd.DataFrame, seen: dict[str, float], image: bool) -> str:
    """One bar per attribute, the strongest first: strength in the full space, a ring for the picture."""
    rows = []
    for row in table.sort_values("strength", ascending=False, na_position="last").itertuples():
        strength = 0.0 if np.isnan(row.strength) else float(np.clip(row.strength, 0, 1))
        colour = palette.VALUE if row.ordered else palette.NEUTRAL
        text = "not defined here" if np.isnan(row.strength) else "≤ 0" if row.strength <= 0 else f"{row.strength:.2f}"
        ring = ""
        if not np.isnan(seen.get(row.attribute, float("nan"))):
            at = float(np.clip(seen[row.attribute], 0, 1))
            ring = (
                f"<div style='position:absolute;left:calc({100 * at:.1f}% - 5px);top:2px;width:8px;height:8px;"
                "border:1.5px solid currentColor;border-radius:50%'></div>"
            )
        rows.append(
            f"<div style='display:contents'><div>{html.escape(title(row.attribute, image))}</div>"
            f"<div style='position:relative;height:14px;background:color-mix(in srgb, currentColor 8%, transparent);"
            f"border-radius:3px'><div style='width:{100 * strength:.1f}%;height:100%;background:{colour};"
            f"border-radius:3px'></div>{ring}</div><div style='text-align:right'>{text}</div></div>"
        )
    style = "display:grid;grid-template-columns:max-content 1fr 3.2rem;gap:5px 10px;align-items:center;font-size:.86rem"
    return f"<div style='{style};font-variant-numeric:tabular-nums'>{''.join(rows)}</div>"


def _pictured(on: Stage, drawn: Drawn) -> dict[str, float]:
    """The same strengths in the picture that is drawn, of its ordinary tokens."""

    def build() -> dict[str, float]:
        points, taken, index = drawn.points, on.taken, on.taken.layer_index(on.chosen[0])
        sides = {
            name: points.role == role for name, role in (("query", QUERY), ("key", KEY)) if (points.role == role).any()
        }
        if not sides:
            return {}
        rows = points.token[next(iter(sides.values()))]
        kept = np.flatnonzero(~taken.tokens.is_special[rows])
        kept = kept[np.unique(np.linspace(0, len(kept) - 1, min(len(kept), MOST)).astype(int))]
        rows, tokens = rows[kept], taken.tokens
        known = image_attributes(tokens, on.read.encodings) if on.image else text_attributes(tokens)
        known = {name: one.at(rows) for name, one in known.items() if one.orders}
        vectors = {"query": taken.query, "key": taken.key}
        of_sides = {
            name: known | {NORM: norm_attribute(vectors[name][index, on.chosen[1]], tokens).at(rows)} for name in sides
        }
        places = {name: drawn.tile.projection.xy[mine][kept] for name, mine in sides.items()}
        return picture_strength(places, of_sides, tokens.doc[rows], tokens.token_id[rows], progress=give_way)

    key = drawn.settings.key(on.taken.hash, *on.chosen)
    return cached.kept("embeddings: pictured", key, build)


def _all(on: Stage) -> None:
    st.markdown("**All heads**")
    found = measured(on)
    if found is None:
        st.caption("Ranks every head by every attribute, and counts what each attends to: a minute or more.")
        return
    orders: Orders = found.orders
    names = list(dict.fromkeys(orders.table.attribute))
    if st.session_state.get("embeddings-attribute") not in names:
        st.session_state["embeddings-attribute"] = names[0]
    name = st.selectbox(
        "Ordered by",
        names,
        format_func=lambda name: title(name, on.image),
        key="embeddings-attribute",
        persist_state="session",
        width=220,
    )
    ranked = orders.ranked(name)
    grid = np.full(on.taken.query.shape[:2], np.nan)
    for row in ranked.itertuples():
        grid[on.taken.layer_index(row.layer), row.head] = row.strength

    def choose(row: int, head: int) -> None:
        _coloured_by(name, on)
        choose_head(on.taken.layers[row], head)

    figure = head_grid_figure(
        np.clip(grid, 0, 1),
        on.taken.layers,
        value_name="strength",
        value_range=(0.0, 1.0),
        title=f"How strongly {title(name, on.image)} orders each head",
        note=f"Click: that head, coloured so. {orders.note}",
        chosen=on.place,
    )
    show(figure, "embeddings-orders", choose)
    best = ranked[ranked.ordered.astype(bool)].head(RANKED)
    ordered = int(ranked.ordered.sum())
    st.caption(f"{plural(ordered, 'head')} of {len(ranked)} beyond exchanged labels (95 %, simultaneous). Strongest:")
    with st.container(horizontal=True, gap="small"):
        for row in best.itertuples():
            st.button(
                f"L{row.layer} H{row.head} · {row.strength:.2f}",
                key=f"embeddings-ranked-{row.layer}-{row.head}",
                on_click=choose,
                args=(on.taken.layer_index(row.layer), row.head),
                help=f"score {row.score:.2f} [{row.low:.2f}, {row.high:.2f}], exchanged labels {row.null:.2f}",
            )


def _coloured_by(name: str, on: Stage) -> None:
    if name in (IMAGES if on.image else TEXTS):
        st.session_state["embeddings-colour"] = name
