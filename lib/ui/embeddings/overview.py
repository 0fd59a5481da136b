"""All layers × heads as one picture: maps as they become ready, coloured alike, a search lit in all of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import streamlit as st

from lib.errors import HeadlightError
from lib.ui import cached
from lib.ui.embeddings.colours import NORM, norm_colouring, norms
from lib.ui.embeddings.controls import METHODS
from lib.ui.embeddings.maps import Maps, maps
from lib.ui.embeddings.measures import Points, samples
from lib.ui.embeddings.pace import spoken
from lib.ui.embeddings.stage import Stage
from lib.ui.message import problem
from lib.ui.state import choose_head, redraw_live
from lib.views import Colouring, Figure, matrix_scatter_figure, show_matrix

EVERY = 2.0  # seconds between looks at maps that are being drawn


def searched(on: Stage) -> Stage:
    """Say how much the search finds; without it where it cannot be searched for, after saying why."""
    line = st.container()  # there with and without a search, so that nothing below changes its place
    try:
        found = on.found
    except HeadlightError as error:
        with line:
            problem(error)
        return replace(on, look=replace(on.look, wanted=""))
    if found is not None:
        own, cut = found[0], any(one.lost for one in on.read.encodings)
        forms = ", ".join(f"{text} {count:,}" for text, count in own.forms[:8])
        more = f" and {len(own.forms) - 8:,} more" if len(own.forms) > 8 else ""
        within = f"Searched in the first {on.read.cut:,} tokens of each document." if cut else ""
        line.text(" · ".join(filter(None, (f"{own.note} {forms}{more}".strip(), within))))
    return on


def as_before(on: Stage) -> bool:
    """Whether the picture of all heads is what this session saw last: then what is below it is drawn first."""
    before = st.session_state.get("embeddings-seen")
    st.session_state["embeddings-seen"] = now = (on.key, on.ask, on.look)
    return before == now


def overview(on: Stage, doubtful: np.ndarray | None, told: dict[tuple[int, int], str] | None) -> Maps:
    """Draw the picture; while maps are being made it is drawn again every two seconds. Returns the maps.

    doubtful: bool (layer, head), pictures of low trust, where measured. told: a sentence per (layer, head), if any.
    """
    settings = on.ask.settings()
    points = on.points(settings)
    with st.empty():  # a place of its own, with and without a progress line: what follows stays where it is
        made = maps(on.taken, settings, len(points.role))
    before, st.session_state["embeddings-maps"] = st.session_state.get("embeddings-maps"), made
    if before is not None and before is not made:
        before.left()
    made.go_on(on.chosen)

    names = None
    if told is not None:
        heads = range(on.taken.query.shape[1])
        names = [[told[layer, head].split(": ", 1)[1] for head in heads] for layer in on.taken.layers]

    def choose(row: int, head: int) -> None:
        choose_head(on.taken.layers[row], head)

    def body() -> None:
        made.go_on(on.chosen)
        with st.container():
            _progress(made)
        show_matrix(picture(on, made, points, doubtful, names), "embeddings-matrix", on.place, choose)

    if made.busy:
        st.fragment(body, run_every=EVERY)()
    else:  # a fragment of its own would send all points again whenever something above it comes or goes
        body()
    return made


def picture(
    on: Stage, made: Maps, points: Points, doubtful: np.ndarray | None = None, names: list[list[str]] | None = None
) -> Figure:
    """The figure of all heads as far as they are drawn."""
    colours, classes = colours_of_all(on, points, made)
    sample = samples(on.taken, made.settings)[0].note
    notes = [on.read.note, f"Drawn in each: {sample}" if sample else "", "Strays are drawn in to the edges."]
    notes += [f"{note} ({count} heads)" for note, count in list(made.notes.items())[:2]]
    return matrix_scatter_figure(
        made.points,
        colours,
        on.taken.layers,
        hits=on.lit(points),
        ready=None if made.ready.all() else made.ready.copy(),
        doubtful=doubtful,
        names=names,
        classes=classes,
        title=f"All heads by {METHODS[made.settings.method]}",
        note=" ".join(filter(None, notes)),
    )


def colours_of_all(on: Stage, points: Points, made: Maps) -> tuple[Colouring, np.ndarray | None]:
    """The colours of all heads, and each head's own where they differ."""
    if on.look.colour != NORM:
        return on.coloured(points, *on.chosen), None

    def build() -> tuple[Colouring, np.ndarray]:
        heads = range(on.taken.query.shape[1])
        each = [
            [norm_colouring(norms(on.taken, layer, head, points), points) for head in heads]
            for layer in on.taken.layers
        ]
        first = each[0][0]
        legend = tuple(entry | {"low": "short", "high": "long, each head's own"} for entry in first.legend)
        own = Colouring(first.classes, first.colours, legend, first.title)
        return own, np.array([[one.classes for one in row] for row in each])

    return cached.kept("embeddings: norms", made.settings.key(on.taken.hash, -1, -1), build)


def _progress(made: Maps) -> None:
    """How far the maps are, with a button that stops or goes on; redraws the panel when they are done."""
    if made.settings.method == "pca":
        return
    done, total = int(made.ready.sum()), made.ready.size
    if made.state == "failed":
        problem(made.error)
    if done == total or made.state == "failed":
        if st.session_state.pop("embeddings-drawing", False):
            st.rerun()  # outside a callback only the whole app can be asked for
        return
    st.session_state["embeddings-drawing"] = True
    method = METHODS[made.settings.method]
    waits = " Another set of maps is being drawn first." if made.state == "waiting" and done == 0 else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        word = "Stopped" if made.stopped else f"{method} of all heads"
        long = f" About {spoken(made.seconds_left())} {'more' if made.stopped or done else 'in all'}."
        st.progress(done / total, text=f"{word}: {done:,} of {total:,}.{waits or long}")
        label, icon = ("Go on", "play_arrow") if made.stopped else ("Stop", "stop")
        st.button(
            label, key="embeddings-stop", on_click=_switch, args=(made, not made.stopped), icon=f":material/{icon}:"
        )


def _switch(made: Maps, stopped: bool) -> None:
    made.stopped = stopped
    redraw_live()
