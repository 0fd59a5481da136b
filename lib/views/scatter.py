"""Points in the plane: one large scatter with labels and links, and one small scatter per head."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st
from PIL import Image

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.colouring import Colouring, by_class
from lib.views.component import Figure, indices, receive, renderer, selection
from lib.views.packet import pack

MOST = 50_000
STEPS = (3, 3)  # a step to a neighbouring head travels as (layer + 1, head + 1), each 0, 1 or 2


def coordinates(xy: np.ndarray) -> np.ndarray:
    """Positions as uint16 (…, point, 2): each scatter fills the square, both axes keep one scale.

    The restored position is off by at most half of 1/65,535 of the longer side.

    Args:
        xy: float (…, point, 2); a scatter is everything but the leading axes.
    """
    xy = np.asarray(xy, float)
    low, high = xy.min(axis=-2, keepdims=True), xy.max(axis=-2, keepdims=True)
    side = (high - low).max(axis=-1, keepdims=True)
    centred = (xy - (low + high) / 2) / np.where(side > 0, side, 1.0) + 0.5
    return np.rint(centred * 65535).astype(np.uint16)


def scatter_figure(
    xy: np.ndarray,
    *,
    data_id: str = "",
    colouring: Colouring | None = None,
    labels: Sequence[str] | None = None,
    facts: Mapping[str, Sequence[float]] | None = None,
    roles: np.ndarray | None = None,
    role_names: Sequence[str] = ("query", "key"),
    role_colours: Sequence[str] = (palette.QUERY, palette.KEY, palette.VALUE, palette.OUTPUT),
    sizes: np.ndarray | None = None,
    hits: np.ndarray | None = None,
    links: np.ndarray | None = None,
    link_weights: np.ndarray | None = None,
    pictures: np.ndarray | None = None,
    picture_of: np.ndarray | None = None,
    chosen: int | None = None,
    steps: bool = False,
    title: str = "",
    note: str = "",
    height: int = 540,
) -> Figure:
    """Points with labels.

    Args:
        xy: (point, 2) finite floats.
        data_id: what the points are (capture, head, method, sample). Zoom and selection are kept while it
            stays the same, so they survive another colouring and are dropped with other points.
        colouring: from `by_class` or `by_value`; one colour if None.
        labels: one per point, shown on hovering and where there is room.
        facts: further numbers told on hovering, name → one per point.
        roles: (point,) 0 to 3, drawn as discs, squares, triangles and diamonds.
        role_names: what the roles are.
        role_colours: "#rrggbb" of the borders of pictures, by role.
        sizes: float (point,) ≥ 0, e.g. norms; the largest is drawn three times as wide as the smallest.
        hits: bool (point,), what a search found: lit and labelled, the others fade.
        links: int (link, 2), lines from the first point to the second, e.g. a query to its strongest keys.
        link_weights: float (link,), their opacity.
        pictures: uint8 (picture, h, w, 3), drawn in place of dots (image patches); they travel as one image.
        picture_of: (point,) which picture each point is; its own if None.
        chosen: the point with a ring.
        steps: arrow keys ask for a neighbouring head instead of moving the view.
        title: a line above the picture.
        note: a line beneath it: sampling, trust numbers.
        height: pixels.

    Raises:
        HeadlightError: not one value per point, positions that are not finite, or more than 50,000 points.
    """
    xy = np.asarray(xy, float)
    n = len(xy)
    if xy.ndim != 2 or xy.shape[1] != 2 or not 0 < n <= MOST or not np.isfinite(xy).all():
        raise HeadlightError(
            f"1 to {MOST:,} points (point, 2), finite", f"shape {xy.shape}", "Draw a sample, and say so."
        )
    colouring = colouring or by_class(np.zeros(n, int), ["points"])
    columns = {"labels": labels, "roles": roles, "sizes": sizes, "hits": hits}
    columns |= {"pictures": pictures if picture_of is None else picture_of, **(facts or {})}
    _require_one_each(n, {"classes": colouring.classes, **columns})
    arrays = {"xy": coordinates(xy), "classes": colouring.classes}
    meta = {
        "id": data_id,
        "colours": colouring.colours,
        "legend": colouring.legend,
        "colour_title": colouring.title,
        "role_names": list(role_names),
        "role_colours": list(role_colours),
        "steps": bool(steps),
        "facts": list(facts or {}),
        "chosen": None if chosen is None else int(chosen),
        "title": title,
        "note": note,
        "height": height,
    }
    arrays |= _columns(labels, facts, roles, hits, sizes, meta)
    arrays |= _links(links, link_weights) | _pictured(pictures, picture_of, meta)
    label = f"{title or 'Scatter'}: {n:,} points" + (f" coloured by {colouring.title}." if colouring.title else ".")
    meta["label"] = label + (
        f" Plus and minus zoom, {'arrow keys go to neighbouring heads, W A S D' if steps else 'arrow keys'} move the"
        " view, 0 shows everything;"
        " Shift and an arrow key go from point to point, Enter chooses."
    )
    return Figure("scatter", pack(meta, arrays), (n,), label)


def _require_one_each(n: int, columns: Mapping[str, Sequence | None]) -> None:
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise HeadlightError(f"{n} {name}, one per point", f"{len(column)}", "Take the same points.")


def _columns(
    labels: Sequence[str] | None,
    facts: Mapping[str, Sequence[float]] | None,
    roles: np.ndarray | None,
    hits: np.ndarray | None,
    sizes: np.ndarray | None,
    meta: dict[str, Any],
) -> dict[str, np.ndarray]:
    """What is known of each point; the distinct labels go into ``meta``."""
    arrays: dict[str, np.ndarray] = {}
    if labels is not None:
        words: dict[str, int] = {}
        codes = [words.setdefault(str(label)[:48], len(words)) for label in labels]
        meta["words"] = list(words)
        arrays["labels"] = np.array(codes, np.uint16)
    for name, column in (facts or {}).items():
        arrays[f"fact {name}"] = np.asarray(column, np.float32)
    for name, column in (("roles", roles), ("hits", hits)):
        if column is not None:
            arrays[name] = np.asarray(column).astype(np.uint8)
    if sizes is not None:
        arrays["sizes"] = _bytes(sizes)
    return arrays


def _links(links: np.ndarray | None, weights: np.ndarray | None) -> dict[str, np.ndarray]:
    if links is None or not len(links):
        return {}
    opacity = np.ones(len(links)) if weights is None else weights
    return {"links": np.asarray(links).astype(np.uint16), "link_weights": _bytes(opacity, zero=True)}


def _pictured(
    pictures: np.ndarray | None, picture_of: np.ndarray | None, meta: dict[str, Any]
) -> dict[str, np.ndarray]:
    """Pictures as one image, whose layout goes into ``meta``."""
    if pictures is None:
        return {}
    image, meta["sheet"] = sheet(pictures)
    own = {} if picture_of is None else {"picture_of": np.asarray(picture_of).astype(np.uint16)}
    return {"sheet": image, **own}


def scatter(
    xy: np.ndarray,
    *,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    on_select: Callable[..., None] | None = None,
    **options: object,
) -> None:
    """Show points: hover, zoom (wheel after a click, or Ctrl + wheel), drag, Shift + drag to select.

    Args:
        xy: see `scatter_figure`, as are `options`.
        key: unique on the page.
        on_choose: called with a point's index.
        on_select: called with the sorted indices of the selected points, as separate arguments; none when cleared.
    """
    show_points(scatter_figure(xy, **options), key, on_choose, on_select)


def show_points(
    figure: Figure,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    on_select: Callable[..., None] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> None:
    """Mount a scatter, alone or with its document.

    Args:
        figure: from `scatter_figure` or `linked_figure`.
        key: unique on the page; the figure keeps zoom and selection under it.
        on_choose: called with a point's index.
        on_select: called with the sorted indices of the selected points, as separate arguments.
        on_step: called with (layers down, heads to the right), each −1, 0 or 1, when an arrow key asks for a neighbour.
    """

    def sent() -> Any:
        return st.session_state.get(key)

    count = figure.bounds[0]
    events: dict[str, Callable[[], Any]] = {}
    if on_choose is not None:
        events["on_choose_change"] = lambda: receive(sent(), "choose", lambda v: indices(v, (count,)), on_choose)
    if on_select is not None:
        events["on_select_change"] = lambda: receive(sent(), "select", lambda v: selection(v, count), on_select)
    if on_step is not None:
        events["on_step_change"] = lambda: receive(sent(), "step", step, on_step)
    renderer(figure.view)(key=key, data=figure.packet, **events)


def step(value: object) -> tuple[int, int] | None:
    """A step to a neighbouring head sent by the browser, or None for anything else.

    >>> step([1, 0]), step([2, 0]), step([0, 0]), step("1")
    ((1, 0), None, None, None)
    """
    moved = indices([v + 1 if isinstance(v, int) else v for v in value], STEPS) if isinstance(value, list) else None
    return None if moved is None or moved == (1, 1) else (moved[0] - 1, moved[1] - 1)


def sheet(pictures: np.ndarray) -> tuple[np.ndarray, dict[str, int]]:
    """Small pictures (picture, h, w, 3) as one WebP image, row by row, and how it is cut."""
    pictures = np.asarray(pictures, np.uint8)
    n, height, width, _ = pictures.shape
    columns = max(1, math.ceil(math.sqrt(n)))
    rows = math.ceil(n / columns)
    whole = np.zeros((rows * columns, height, width, 3), np.uint8)
    whole[:n] = pictures
    whole = whole.reshape(rows, columns, height, width, 3).swapaxes(1, 2).reshape(rows * height, columns * width, 3)
    out = io.BytesIO()
    Image.fromarray(whole).save(out, "WEBP", quality=80, method=2)
    return np.frombuffer(out.getvalue(), np.uint8), {"columns": columns, "width": width, "height": height}


def _bytes(values: np.ndarray, zero: bool = False) -> np.ndarray:
    values = np.nan_to_num(np.asarray(values, float))
    low = 0.0 if zero else values.min()
    return np.rint(255 * (values - low) / ((values.max() - low) or 1.0)).astype(np.uint8)
