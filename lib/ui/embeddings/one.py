"""One head, large: its points, and their document or image beside them, lit together."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import streamlit as st

from lib.embeddings import MapSettings, Tile, project
from lib.ui import cached
from lib.ui.embeddings.cloud import IN_SPACE, cloud, in_space
from lib.ui.embeddings.controls import METHODS
from lib.ui.embeddings.maps import known_maps
from lib.ui.embeddings.measures import ONE, THUMBNAIL, Points, joint, one_map
from lib.ui.embeddings.soon import PATIENCE, coming, soon
from lib.ui.embeddings.source import mean_by_position, source
from lib.ui.embeddings.stage import Stage
from lib.ui.job import Progress, worked
from lib.ui.state import choose_head, redraw_live
from lib.views import Figure, linked_figure, show
from lib.views.scatter import show_points

TILE = "embeddings: small tile"
HEIGHT = 640  # pixels, of the points with their title and what is told beneath them
BESIDE = {"document": "the document", "mean": "mean by position", "nothing": "nothing"}


@dataclass(frozen=True)
class View:
    """What the controls of the large picture say.

    dimensions: 2 or 3. every: all points, not only those of the small picture. lines: strongest keys of each query.
    sized: points as large as their vectors are long. beside: of BESIDE. first: position 0 is shown in the document.
    """

    dimensions: int
    every: bool
    lines: int
    sized: bool
    beside: str
    first: bool


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is on the page: for the numbers beneath it and for downloads; no figure where it is drawn in space."""

    figure: Figure | None
    tile: Tile
    settings: MapSettings
    points: Points


def view_controls(on: Stage) -> View:
    """The controls above the large picture."""
    with st.container(horizontal=True, vertical_alignment="bottom", key="embeddings-one-controls"):
        dimensions = st.segmented_control(
            "Axes",
            [2, 3],
            format_func="{}-D".format,
            default=2,
            required=True,
            key="embeddings-axes",
            persist_state="session",
        )
        beside = st.segmented_control(
            "Beside it",
            [name for name in BESIDE if not (on.image and name == "mean")],
            format_func=(BESIDE | {"document": "the image"} if on.image else BESIDE).__getitem__,
            default="document",
            required=True,
            key="embeddings-beside",
            persist_state="session",
        )
        lines = st.segmented_control(
            "Attention lines",
            [0, 1, 2, 5],
            format_func=lambda k: "none" if not k else f"top {k}",
            default=0,
            required=True,
            key="embeddings-lines",
            persist_state="session",
            help="From every query to its strongest keys. With points selected, from those alone.",
        )
        sized = st.toggle("Size by length", key="embeddings-sized", persist_state="session")
        first = on.image or not st.toggle("Hide position 0", key="embeddings-first", persist_state="session")
        every = on.ask.method == "pca" or st.toggle(
            "All points",
            key="embeddings-every",
            persist_state="session",
            help=f"Up to {ONE:,} tokens instead of the {THUMBNAIL:,} of the small picture: seconds by UMAP, "
            "a minute by t-SNE.",
        )
    return View(dimensions, every, lines, sized, beside, first)


def one_head(on: Stage, view: View) -> Drawn | None:
    """Draw the chosen head; a point opens its document, arrow keys go to neighbouring heads.

    None while its points are being arranged: their place says how far that is.
    """
    settings, tile = _tile(on, view)
    if tile is None:
        coming(TILE, f"{on.name} by {METHODS[settings.method]}", HEIGHT)
        return None
    points = on.points(settings)
    if view.dimensions == 3:
        in_space(on, tile, points)
        return Drawn(None, tile, settings, points)
    figure = cloud(on, tile, settings, points, view.lines, view.sized, chosen_point(points, on))
    if view.beside == "document":
        beside = source(on, points, view.first)
        figure = linked_figure(figure, beside.figure, beside.query_points, beside.key_points)
        _show(figure, on, points)
        if on.read.places[on.document] != on.now.choice.document:
            st.text(f"“{on.now.document.name}” is not among the documents drawn: another stands beside the points.")
    elif view.beside == "mean":
        left, right = st.columns([5, 4])
        with left:
            _show(figure, on, points)
        with right:
            show(mean_by_position(on), "embeddings-mean")
    else:
        _show(figure, on, points)
    return Drawn(figure, tile, settings, points)


def _show(figure: Figure, on: Stage, points: Points) -> None:
    """Mount the points, alone or with a document."""

    def choose(point: int) -> None:
        choose_point(on, points, point)

    def step(down: int, right: int) -> None:
        choose_head(*neighbour(on, down, right))

    show_points(figure, "embeddings-one" if figure.view == "linked" else "embeddings-points", choose, None, step)


def neighbour(on: Stage, down: int, right: int) -> tuple[int, int]:
    """The (layer, head) one step away from the chosen one; the edge is the end."""
    shape = on.taken.query.shape[:2]
    row, head = (int(np.clip(at + by, 0, n - 1)) for at, by, n in zip(on.place, (down, right), shape, strict=True))
    return on.taken.layers[row], head


def choose_point(on: Stage, points: Points, point: int) -> None:
    """Callback of a point: its document becomes the chosen one, everywhere."""
    key_side, token = bool(points.key_side[point]), int(points.token[point])
    doc = int((on.taken.key_tokens if key_side else on.taken.tokens).doc[token])
    st.session_state["embeddings-point"] = int(points.role[point]), token, on.taken.hash
    st.session_state["document"] = on.read.places[doc]
    redraw_live()


def chosen_point(points: Points, on: Stage) -> int | None:
    """The chosen token's point in this map, None where it has none or belongs to other texts."""
    role, token, made = st.session_state.get("embeddings-point", (0, 0, ""))
    there = np.flatnonzero((points.role == role) & (points.token == token))
    return int(there[0]) if made == on.taken.hash and len(there) else None


def _tile(on: Stage, view: View) -> tuple[MapSettings, Tile | None]:
    """The picture of the head: the small one, or that of all its points once they have been arranged; None: coming."""
    ask, taken, (layer, head) = on.ask, on.taken, on.chosen
    most = IN_SPACE if view.dimensions == 3 else ONE
    small = ask.settings(min(most, THUMBNAIL), view.dimensions)
    large = ask.settings(most, view.dimensions)
    if ask.method == "pca":
        key = large.key(taken.hash, layer, head)
        return large, cached.kept("embeddings: tile", key, lambda: one_map(taken, large, layer, head))
    count = len(on.points(large).role)
    if view.every and count > len(on.points(small).role):

        def work(progress: Progress) -> Tile:
            made, _, _ = joint(taken, large, layer, head)
            progress(0, 1, "arranging points")
            drawn = project(made.points, large.method, large.dimensions, large.seed, progress=progress)
            return Tile(layer, head, drawn, made.role, made.note)

        what = f"Arrange all {count:,} points by {METHODS[ask.method]}"
        with st.container():
            tile = worked("embeddings-large", large.key(taken.hash, layer, head), what, work)
        if tile is not None:
            return large, tile
    made = known_maps(taken, ask.settings())

    def draw(progress: Progress) -> Tile:
        while made is not None and small == made.settings and made.begins_with((layer, head)):  # never drawn twice
            progress(0, 1, "arranging points")
            time.sleep(0.1)
        return one_map(taken, small, layer, head, progress)

    return small, soon(TILE, small.key(taken.hash, layer, head), draw, PATIENCE)
