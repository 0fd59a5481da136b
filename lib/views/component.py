"""Pictures and the browser: a figure is built without Streamlit's help, then mounted under a key.

`Figure` is a plain value (cacheable, exportable, testable). `show` mounts it; what the browser sends back
is checked against the figure's own bounds before any callback sees it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import streamlit as st

from lib.views.packet import amend, pack

FOLDER = Path(__file__).parent
SCATTER_PANES = ("scatter_pane", "scatter_paint", "scatter_moves")
VIEW_PANES = ("heatmap_axes", "heatmap_pane", "lines_pane", "text_pane", "view_pane")
PATCH_PANES = ("patch_layers", "patch_pane")
# The pieces of each view, in order; the last defines `draw(component)`.
PIECES = {
    "head_grid": ("canvas", "pair", "head_grid"),
    "heatmap": ("canvas", "heatmap_axes", "heatmap_pane", "heatmap"),
    "head_view": ("canvas", *VIEW_PANES, "head_view"),
    "patch_attention": ("canvas", *PATCH_PANES, "patch_attention"),
    "scatter": ("canvas", *SCATTER_PANES, "scatter"),
    "linked": ("canvas", *SCATTER_PANES, *VIEW_PANES, *PATCH_PANES, "linked"),
    "matrix_scatter": ("canvas", "pair", "matrix_scatter", "matrix_moves"),
    "layer_panels": ("canvas", "layer_panels"),
    "lag_profile": ("canvas", "lag_profile"),
    "segments": ("canvas", "segments_curve", "segments"),
}


@dataclass(frozen=True)
class Figure:
    """A picture ready for the browser.

    Args:
        view: which drawing code shows it, a key of `PIECES`.
        packet: the data, made by `lib.views.packet.pack`.
        bounds: how many of each there are along the axes of a choice, e.g. (layers, heads).
        label: the picture in words, for readers who do not see it.
    """

    view: str
    packet: bytes
    bounds: tuple[int, ...]
    label: str


@functools.cache
def script(view: str) -> str:
    """The drawing code of a view: its pieces joined; defines `draw(component)`."""
    return "\n".join((FOLDER / f"{piece}.js").read_text("utf-8") for piece in PIECES[view])


@functools.cache
def style() -> str:
    """The style sheet shared by all views."""
    return (FOLDER / "canvas.css").read_text("utf-8")


@functools.cache
def renderer(view: str) -> Callable[..., Any]:
    """The mounting function of a view, registered once per process."""
    return st.components.v2.component(f"headlight_{view}", css=style(), js=script(view) + "\nexport default draw;\n")


def indices(value: object, bounds: Sequence[int]) -> tuple[int, ...] | None:
    """A choice sent by the browser as whole numbers within bounds, or None for anything else.

    >>> indices([4, 11], (6, 12)), indices([4, 12], (6, 12)), indices("4", (6,)), indices([True], (6,))
    ((4, 11), None, None, None)
    """
    if not isinstance(value, list) or len(value) != len(bounds):
        return None
    whole = all(isinstance(part, int) and not isinstance(part, bool) for part in value)
    if not whole or not all(0 <= part < bound for part, bound in zip(value, bounds, strict=True)):
        return None
    return tuple(value)


def selection(value: object, count: int) -> tuple[int, ...] | None:
    """A set of points sent by the browser, sorted and without repetition, or None when any is not a point."""
    if not isinstance(value, list) or len(value) > count:
        return None
    if not all(isinstance(i, int) and not isinstance(i, bool) and 0 <= i < count for i in value):
        return None
    return tuple(sorted(set(value)))


def receive(sent: object, event: str, check: Callable[[object], Any], act: Callable[..., None]) -> bool:
    """Hand a checked value on to `act`; False when there was none or it did not pass.

    Args:
        sent: what Streamlit keeps under the component's key (a mapping of events).
        event: the event's name.
        check: value → tuple of arguments, or None.
        act: called with the checked arguments.
    """
    value = sent.get(event) if isinstance(sent, dict) else None
    checked = check(value)
    if checked is None:
        return False
    act(*checked)
    return True


def show(
    figure: Figure,
    key: str,
    on_choose: Callable[..., None] | None = None,
    on_select: Callable[..., None] | None = None,
) -> None:
    """Mount a figure; what is chosen in it arrives as whole numbers.

    Args:
        figure: what to draw.
        key: unique on the page and in session state; the figure keeps zoom and held tokens under it.
        on_choose: called with one whole number per axis of `figure.bounds`, already within bounds.
        on_select: called with the sorted indices of a set of points, as separate arguments.
    """
    events = {}
    if on_choose is not None:
        events["on_choose_change"] = lambda: receive(
            st.session_state.get(key), "choose", lambda value: indices(value, figure.bounds), on_choose
        )
    if on_select is not None:
        events["on_select_change"] = lambda: receive(
            st.session_state.get(key), "select", lambda value: selection(value, figure.bounds[0]), on_select
        )
    renderer(figure.view)(key=key, data=figure.packet, **events)


def place(chosen: tuple[int, ...] | None, bounds: Sequence[int]) -> list[int] | None:
    """A choice as a list for the browser, or None where it is not within bounds."""
    if chosen is None or not all(0 <= at < bound for at, bound in zip(chosen, bounds, strict=True)):
        return None
    return [int(at) for at in chosen]


def show_head_grid(
    figure: Figure,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
) -> None:
    """Mount a large picture of all heads and, apart, what is chosen in it, with a line that says so.

    An unchanged picture is kept by the browser, so another choice costs a few hundred bytes.

    Args:
        figure: all heads, made without `chosen`; best from a cache.
        key: unique on the page; the line's key is this one with "-chosen".
        chosen: (row, head) to outline.
        on_choose: called with (row, head).
    """
    show(replace(figure, packet=amend(figure.packet, pair=key)), key, on_choose)
    cursor = pack({"cursor": True, "pair": key, "chosen": place(chosen, figure.bounds)}, {})
    show(Figure(figure.view, cursor, figure.bounds, "chosen head"), f"{key}-chosen")
