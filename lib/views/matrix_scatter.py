"""The scatters of all heads at once, one small picture per layer and head."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.colouring import Colouring
from lib.views.component import Figure, show, show_head_grid
from lib.views.packet import pack, unpack

BUDGET = 1_200_000  # bytes of coordinates
DOUBT = (
    "In these pictures nearness hardly follows attention, or points drawn near are often not near in full space, or "
    "neither can be told."
)


def matrix_scatter_figure(
    points: np.ndarray,
    colouring: Colouring,
    layers: Sequence[int] | None = None,
    *,
    hits: np.ndarray | None = None,
    ready: np.ndarray | None = None,
    doubtful: np.ndarray | None = None,
    names: Sequence[Sequence[str]] | None = None,
    classes: np.ndarray | None = None,
    title: str = "",
    note: str = "",
) -> Figure:
    """All heads' points; what exceeds 1.2 MB is first rounded to 8 bits, then sampled evenly, and said.

    Args:
        points: uint16 (layer, head, point, 2) from `lib.views.coordinates`.
        colouring: of the points, the same in every head.
        layers: the true layer numbers, if not 0, 1, 2 …
        hits: bool (point,), what a search found: lit in every head, the others fade.
        ready: bool (layer, head), false where the picture is still being computed.
        doubtful: bool (layer, head), pictures of low trust: paler, with a corner mark.
        names: a few words per layer and head for hovering.
        classes: uint8 (layer, head, point), each head's own colours where they differ (such as norms), indices into
            `colouring.colours`; `colouring.classes` in every head if None.
        title: a line above the picture.
        note: a line beneath it.
    """
    points = np.asarray(points)
    if points.ndim != 4 or points.shape[3] != 2 or points.dtype != np.uint16 or 0 in points.shape:
        raise HeadlightError(
            "uint16 (layer, head, point, 2)", f"{points.dtype} {points.shape}", "Use `coordinates` first."
        )
    n_layers, n_heads, n, _ = points.shape
    layers = tuple(range(n_layers)) if layers is None else tuple(int(layer) for layer in layers)
    for name, size, needed in (
        ("layer numbers", len(layers), n_layers),
        ("classes", len(colouring.classes), n),
        ("hits", n if hits is None else len(hits), n),
    ):
        if size != needed:
            raise HeadlightError(f"{needed} {name}", f"{size}", "Take the same points and layers.")
    if classes is not None and np.shape(classes) != points.shape[:3]:
        raise HeadlightError(f"classes {points.shape[:3]}", f"{np.shape(classes)}", "Colour every point of every head.")
    kept = np.arange(n)
    per_point = n_layers * n_heads * (2 if classes is None else 3)
    if n * n_layers * n_heads * 4 > BUDGET or n * per_point > BUDGET:
        points = (points >> 8).astype(np.uint8)
        note = f"{note} Positions are rounded to 1/256 of each picture's side.".strip()
        most = BUDGET // per_point
        if n > most:
            kept = kept_points(n, most, hits)
            points = points[:, :, kept]
            note = f"{note} Drawn: {len(kept):,} of {n:,} points, evenly spaced (search hits first).".strip()
    own = colouring.classes[kept] if classes is None else np.asarray(classes, np.uint8)[:, :, kept]
    arrays = {"points": points, "classes": own}
    if hits is not None:
        arrays["hits"] = np.asarray(hits)[kept].astype(np.uint8)
    for name, cells in (("ready", ready), ("doubtful", doubtful)):
        if cells is not None:
            arrays[name] = np.asarray(cells).astype(np.uint8)
    label = f"{title or 'All heads'}: scatters of {n_layers} layers by {n_heads} heads."
    meta = {
        "layers": layers,
        "heads": n_heads,
        "colours": colouring.colours,
        "legend": colouring.legend,
        "colour_title": colouring.title,
        "names": [[str(name)[:80] for name in row] for row in names] if names is not None else None,
        "doubt": DOUBT,
        "title": title,
        "note": note,
        "label": label + " Arrow keys choose a head, plus and minus zoom, 0 shows everything.",
    }
    return Figure("matrix_scatter", pack(meta, arrays), (n_layers, n_heads), label)


def matrix_scatter(
    points: np.ndarray,
    colouring: Colouring,
    layers: Sequence[int] | None = None,
    *,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
    **options: object,
) -> None:
    """Show the scatters of all heads; a click or an arrow key chooses one.

    Args:
        points: see `matrix_scatter_figure`, as are `colouring`, `layers` and `options`.
        colouring: of the points.
        layers: true layer numbers.
        key: unique on the page.
        chosen: (row of `points`, head) to outline; sent apart from the points.
        on_choose: called with (row of `points`, head).
    """
    show_matrix(matrix_scatter_figure(points, colouring, layers, **options), key, chosen, on_choose)


def show_matrix(
    figure: Figure,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
) -> None:
    """Mount the scatters of all heads in three parts: points, what colours them, and what is chosen.

    An unchanged part is kept by the browser, so another colour or search costs a few bytes per point of one head.

    Args:
        figure: from `matrix_scatter_figure`.
        key: unique on the page; the points' key is this one with "-points", the choice's with "-chosen".
        chosen: (row, head) to outline.
        on_choose: called with (row, head).
    """
    points, rest = parted(figure, key)
    with st.container(gap=None):
        show(points, f"{key}-points")
        show_head_grid(rest, key, chosen, on_choose)


def parted(figure: Figure, pair: str) -> tuple[Figure, Figure]:
    """A figure's points, named by their digest, and everything else, which names the points it belongs to."""
    meta, arrays = unpack(figure.packet)
    points = {"points": arrays.pop("points")}
    digest = hashlib.blake2b(points["points"].tobytes(), digest_size=12).hexdigest()
    parcel = pack({"parcel": digest, "pair": pair}, points)
    rest = replace(figure, packet=pack(meta | {"points": digest}, arrays))
    return Figure(figure.view, parcel, figure.bounds, "points of all heads"), rest


def painted(
    points: np.ndarray,
    colouring: Colouring,
    *,
    classes: np.ndarray | None = None,
    hits: np.ndarray | None = None,
    cell: int = 160,
    gap: int = 6,
) -> np.ndarray:
    """The same picture as pixels on white, uint8 (row, column, 3): layers downwards, heads across.

    Args:
        points: as in `matrix_scatter_figure`, as are `colouring`, `classes` and `hits`.
        colouring: of the points.
        classes: each head's own colours.
        hits: what a search found.
        cell: pixels of one head's side.
        gap: pixels between two heads.
    """
    layers, heads, n, _ = points.shape
    picture = np.full((layers * (cell + gap) - gap, heads * (cell + gap) - gap, 3), 255, np.uint8)
    table = np.array([palette.rgb(colour) for colour in colouring.colours], np.uint8)
    order = np.random.default_rng(0).permutation(n)
    if hits is not None:
        order = order[np.argsort(np.asarray(hits)[order], kind="stable")]  # what is lit comes last, on top
    for layer in range(layers):
        for head in range(heads):
            own = colouring.classes if classes is None else classes[layer, head]
            colours = table[own[order]]
            if hits is not None:
                colours = np.where(np.asarray(hits, bool)[order, None], colours, np.uint8(214))
            tile = picture[layer * (cell + gap) :, head * (cell + gap) :][:cell, :cell]
            tile[:] = 247
            at = 3 + points[layer, head, order].astype(int) * (cell - 8) // 65535
            for dx, dy in ((0, 0), (1, 0), (0, 1), (1, 1)):
                tile[cell - 4 - at[:, 1] + dy, at[:, 0] + dx] = colours
    return picture


def kept_points(count: int, most: int, hits: np.ndarray | None) -> np.ndarray:
    """Sorted indices of at most `most` points: the hits first, the rest evenly spaced."""
    lit = np.flatnonzero(hits) if hits is not None else np.empty(0, int)
    lit = lit[np.unique(np.linspace(0, len(lit) - 1, min(len(lit), most)).astype(int))] if len(lit) else lit
    rest = np.setdiff1d(np.arange(count), lit)
    room = min(most - len(lit), len(rest))
    spaced = rest[np.linspace(0, len(rest) - 1, room).astype(int)] if room > 0 else rest[:0]
    return np.sort(np.concatenate([lit, spaced]))
