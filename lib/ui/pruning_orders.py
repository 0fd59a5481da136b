"""Orders in which heads could be removed, handed from the page that finds them to the page that tries them."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

KEPT = "pruning_orders"  # session state: (engine key, stream) -> Orders
MOST = 8  # models whose orders are kept

Head = tuple[int, int]  # (layer, head)


@dataclass(frozen=True)
class Orders:
    """Orders of removal of one model's heads: name -> heads, first to go first; source: what they were found on."""

    source: str
    orders: dict[str, tuple[Head, ...]]


def hand_over(engine_key: str, stream: str | None, found: Orders) -> None:
    """Keep orders for this session; stream None is a model's only one."""
    kept: dict[tuple[str, str], Orders] = st.session_state.setdefault(KEPT, {})
    kept.pop((engine_key, stream or "self"), None)
    kept[engine_key, stream or "self"] = found
    while len(kept) > MOST:
        del kept[next(iter(kept))]


def handed_over(engine_key: str, stream: str | None) -> Orders | None:
    """The orders that were kept for this model and stream, None where there are none."""
    return st.session_state.get(KEPT, {}).get((engine_key, stream or "self"))
