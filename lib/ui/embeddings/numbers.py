"""Beneath the large picture: how far it can be trusted, how queries were scaled, what orders it."""

from __future__ import annotations

import html
import math
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pandas as pd
import streamlit as st

from lib.capture import Capture
from lib.embeddings import Projection, Trust, project
from lib.numerals import per_cent, written
from lib.ui.embeddings.measures import THUMBNAIL, joint, trusted_numbers
from lib.ui.embeddings.one import Drawn
from lib.ui.embeddings.soon import soon
from lib.ui.embeddings.stage import Stage
from lib.ui.embeddings.wording import LOW, SAID, effect, rotary_sentence
from lib.ui.progress import Progress
from lib.views import charts, palette

SECOND = "embeddings: second seed"
EVERY = 2.0  # seconds between looks for a second seed
BIG = "font-size:1.25rem;font-weight:600;line-height:1.25;font-variant-numeric:tabular-nums;"


def has_second_seed(drawn: Drawn) -> bool:
    """Whether a map is drawn again with another seed: not PCA, which has none, and not maps that take long."""
    method, tile = drawn.settings.method, drawn.tile
    return method != "pca" and drawn.settings.most <= THUMBNAIL and tile.projection.method != "pca"


def second_seed(taken: Capture, drawn: Drawn) -> Projection | None:
    """The same map drawn with another seed; None where there is none, or not yet: it takes seconds, in a thread."""
    tile, settings = drawn.tile, drawn.settings
    if not has_second_seed(drawn):
        return None

    def draw(progress: Progress) -> Projection:
        made, _, _ = joint(taken, settings, tile.layer, tile.head)
        return project(made.points, settings.method, settings.dimensions, settings.seed + 1, None, progress)

    with suppress(Exception):  # the number stays out, and nothing else
        return soon(SECOND, settings.key(taken.hash, tile.layer, tile.head), draw)
    return None


def trust_strip(taken: Capture, drawn: Drawn) -> Trust | None:
    """The trust numbers in one row, low ones marked."""
    place, method = st.empty(), drawn.tile.projection.method
    place.html(waiting_html())  # no number of the head before stands beneath this one's points
    other = second_seed(taken, drawn)
    found = trusted_numbers(taken, drawn.settings, drawn.tile, other)
    if found is None:
        place.caption("Trust numbers need both queries and keys in the picture.")
        return None

    def later() -> None:
        again = second_seed(taken, drawn)
        st.html(strip_html(trusted_numbers(taken, drawn.settings, drawn.tile, again) or found, method, again is None))

    if other is None and has_second_seed(drawn):
        with place.container():
            st.fragment(later, run_every=EVERY)()
    else:
        place.html(strip_html(found, method))
    return found


def waiting_html() -> str:
    """The places of the six numbers while they are measured."""
    return _row([(said, "…", "being measured", False) for said in SAID.values()]) + _foot("&nbsp;")


def strip_html(found: Trust, method: str, seeds_coming: bool = False) -> str:
    """Six numbers in plain words, each with what it is measured against; hovering tells how it is measured.

    A low one is marked, and so is one of these two that is not defined.
    """
    seeds = "being measured" if seeds_coming else "PCA has no seed" if method == "pca" else "1: the same picture"
    kept = f"{_share(found.key_recall_full)} in full, chance {_share(found.key_recall_chance)}"
    full, drawn, near = found.distance_correlation, found.picture_correlation, found.trustworthiness
    cells = (
        (SAID["full"], _r(full), "in full space, −1 perfect", False),
        (SAID["picture"], _r(drawn), "what you see, −1 perfect", not drawn <= LOW[0]),
        ((f"strongest {found.k} keys nearest", SAID["keys"][1]), _share(found.key_recall), kept, False),
        (SAID["near"], _r(near), "near here, near in full: 1 perfect", not near >= LOW[1]),
        (SAID["torn"], _r(found.continuity), "near in full, near here: 1 perfect", False),
        (SAID["seeds"], "…" if seeds_coming else "–" if method == "pca" else _r(found.seeds), seeds, False),
    )
    marked = ""
    if found.doubtful:
        marked = (
            f"<div style='margin-top:6px;font-size:.84rem'><b style='color:{palette.CATEGORICAL[5]}'>⚑ Low trust.</b> "
            f"{html.escape(found.doubtful[:1].upper() + found.doubtful[1:])}.</div>"
        )
    return f"{_row(cells)}{marked}" + _foot(
        "Spearman per query within its document, over the tokens drawn, masked pairs excluded; trustworthiness and "
        f"continuity on {found.sampled:,} of {found.points:,} points, {found.neighbours} neighbours."
    )


def _row(cells: Sequence[tuple[tuple[str, str], str, str, bool]]) -> str:
    """((name, meaning), value, what it is measured against, whether it is low), side by side."""
    parts = []
    for (name, meaning), value, beside, low in cells:
        colour = f"color:{palette.CATEGORICAL[5]};" if low else ""
        parts.append(
            f"<div title='{html.escape(meaning, quote=True)}' style='flex:1 1 8.5rem;min-width:8rem'>"
            f"<div style='font-size:.76rem;opacity:.72'>{name}</div>"
            f"<div style='{BIG}{colour}'>"
            f"{value}{' ⚑' if low else ''}</div>"
            f"<div style='font-size:.74rem;opacity:.72'>{beside}</div></div>"
        )
    return f"<div style='display:flex;flex-wrap:wrap;gap:6px 14px'>{''.join(parts)}</div>"


def _foot(text: str) -> str:
    return f"<div style='margin-top:4px;font-size:.74rem;opacity:.72'>{text}</div>"


def scale_lines(on: Stage) -> None:
    """One sentence on the order of moving and scaling and what it does; the curve where c was searched."""
    made, _, _ = joint(on.taken, on.ask.settings(1), *on.chosen)
    if {"query", "key"} & set(on.ask.roles):
        words = (effect(made.scale, made.rule), made.note, rotary_sentence(on.now.engine))
        st.caption(" ".join(filter(None, words)))
    if made.curve is None:
        return
    curve = made.curve
    frame = pd.DataFrame({"c": curve.scale, "correlation": curve.correlation}).dropna()
    if frame.empty:
        st.caption("No pair of a query and a key to search c with.")
        return
    chart = charts.line(
        frame,
        "c",
        "correlation",
        colours=[palette.VALUE],
        x_title="c, queries × c and keys ÷ c",
        y_title="distance with score",
        height=170,
        log_x=True,
    )
    st.altair_chart(chart, width="stretch")
    best = f"lowest at c = {curve.best:.2f}" if curve.best else "no c is better than the ends of the curve"
    st.caption(f"Weighted Pearson over {curve.pairs:,} of {curve.pairs_allowed:,} pairs, −1 is perfect; {best}.")


def _r(value: float) -> str:
    return "n/a" if math.isnan(value) else written(value, ".2f")


def _share(value: float) -> str:
    return "n/a" if np.isnan(value) else per_cent(value)
