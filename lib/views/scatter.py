"""Points in the plane: one large scatter with labels and links, and one small scatter per head."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lib.errors import HeadlightError
from lib.views.colouring import Colouring, by_class
from lib.views.component import Figure, show
from lib.views.packet import pack

MOST = 50_000


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
    sizes: np.ndarray | None = None,
    hits: np.ndarray | None = None,
    links: np.ndarray | None = None,
    link_weights: np.ndarray | None = None,
    pictures: np.ndarray | None = None,
    chosen: int | None = None,
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
        roles: (point,) 0 or 1; role 1 is drawn as a square.
        role_names: what the roles are.
        sizes: float (point,) ≥ 0, e.g. norms; the largest is drawn three times as wide as the smallest.
        hits: bool (point,), what a search found: lit and labelled, the others fade.
        links: int (link, 2), lines from the first point to the second, e.g. a query to its strongest keys.
        link_weights: float (link,), their opacity.
        pictures: uint8 (point, h, w, 3), drawn in place of dots (image patches).
        chosen: the point with a ring.
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
    columns = {"classes": colouring.classes, "labels": labels, "roles": roles, "sizes": sizes, "hits": hits}
    columns |= {"pictures": pictures, **(facts or {})}
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise HeadlightError(f"{n} {name}, one per point", f"{len(column)}", "Take the same points.")
    arrays = {"xy": coordinates(xy), "classes": colouring.classes}
    meta = {
        "id": data_id,
        "colours": colouring.colours,
        "legend": colouring.legend,
        "colour_title": colouring.title,
        "role_names": list(role_names),
        "facts": list(facts or {}),
        "chosen": None if chosen is None else int(chosen),
        "title": title,
        "note": note,
        "height": height,
    }
    if labels is not None:
        words, codes = np.unique(np.array([str(label)[:48] for label in labels], object), return_inverse=True)
        meta["words"] = words.tolist()
        arrays["labels"] = codes.astype(np.uint16)
    for name, column in (facts or {}).items():
        arrays[f"fact {name}"] = np.asarray(column, np.float32)
    for name, column in (("roles", roles), ("hits", hits)):
        if column is not None:
            arrays[name] = np.asarray(column).astype(np.uint8)
    if sizes is not None:
        arrays["sizes"] = _bytes(sizes)
    if links is not None and len(links):
        arrays["links"] = np.asarray(links).astype(np.uint16)
        arrays["link_weights"] = _bytes(np.ones(len(links)) if link_weights is None else link_weights, zero=True)
    if pictures is not None:
        arrays["pictures"] = np.asarray(pictures, np.uint8)
    label = f"{title or 'Scatter'}: {n:,} points" + (f" coloured by {colouring.title}." if colouring.title else ".")
    meta["label"] = label + (
        " Plus and minus zoom, arrow keys move the view, 0 shows everything;"
        " Shift and an arrow key go from point to point, Enter chooses."
    )
    return Figure("scatter", pack(meta, arrays), (n,), label)


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
    show(scatter_figure(xy, **options), key, on_choose, on_select)


def _bytes(values: np.ndarray, zero: bool = False) -> np.ndarray:
    values = np.nan_to_num(np.asarray(values, float))
    low = 0.0 if zero else values.min()
    return np.rint(255 * (values - low) / ((values.max() - low) or 1.0)).astype(np.uint8)
