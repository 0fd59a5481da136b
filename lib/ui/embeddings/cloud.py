"""The points of one head as a figure: in the plane with lines and pictures, or in space."""

from __future__ import annotations

import html
from dataclasses import replace

import numpy as np
import streamlit as st

from lib.embeddings import MapSettings, Tile, strongest_keys
from lib.embeddings.joint import KEY, QUERY
from lib.errors import HeadlightError
from lib.numerals import per_cent
from lib.ui import cached
from lib.ui.embeddings.colours import PATCH, ROLE_NAMES, norms
from lib.ui.embeddings.controls import METHODS
from lib.ui.embeddings.measures import Points, samples
from lib.ui.embeddings.stage import Stage
from lib.views import Figure, scatter_figure, space

SHEET = 1_200_000  # pixels of all patches together, before they are packed
IN_SPACE = 2_500  # tokens, 5,000 points: what a figure in space takes


def cloud(
    on: Stage, tile: Tile, settings: MapSettings, points: Points, lines: int, sized: bool, chosen: int | None
) -> Figure:
    """The points in the plane. lines: strongest keys linked to each query. chosen: the point with a ring."""
    layer, head, taken = tile.layer, tile.head, on.taken
    tables = taken.tokens, taken.key_tokens
    position = np.where(points.key_side, *(t.pos[np.minimum(points.token, len(t) - 1)] for t in tables[::-1]))
    lengths = norms(taken, layer, head, points)
    links, weights = _lines(on, layer, head, points, lines)
    tokens, picture_of = np.unique(points.token, return_inverse=True)
    pictures = _small(on.known.patches[tokens]) if on.look.colour == PATCH else None
    kept = tile.projection.fidelity
    how = f", {per_cent(kept['variance'])} of the variance" if "variance" in kept else ""
    how += f", {per_cent(kept['neighbours_kept'])} of near neighbours kept" if "neighbours_kept" in kept else ""
    sample = samples(taken, settings)[0].note
    return scatter_figure(
        tile.projection.xy,
        data_id=settings.key(taken.hash, layer, head),
        colouring=on.coloured(points, layer, head),
        labels=_labels(on, points),
        facts={"position": position, "length": np.round(lengths, 3)},
        roles=points.role,
        role_names=ROLE_NAMES,
        sizes=lengths if sized else None,
        hits=on.lit(points),
        links=links,
        link_weights=weights,
        pictures=pictures,
        picture_of=None if pictures is None else picture_of,
        chosen=chosen,
        steps=True,
        title=f"L{layer} H{head} by {METHODS[tile.projection.method]}{how}",
        note=" ".join(filter(None, (sample, tile.note, *tile.projection.notes))),
        height=600,
    )


def in_space(on: Stage, tile: Tile, points: Points) -> None:
    """The points in space, 5,000 at most."""
    xyz, colours, hits = tile.projection.xy, on.coloured(points, tile.layer, tile.head), on.lit(points)
    if xyz.shape[1] != 3:
        raise HeadlightError("a map in space", "one in the plane", "Choose 2-D.")
    labels = np.array(
        [f"{name} · {ROLE_NAMES[role]}" for name, role in zip(_labels(on, points), points.role, strict=True)], object
    )
    keep = np.linspace(0, len(xyz) - 1, min(len(xyz), 2 * IN_SPACE)).astype(int)
    figure = space(
        xyz[keep],
        replace(colours, classes=colours.classes[keep]),
        labels[keep].tolist(),
        hits=None if hits is None else hits[keep],
    )
    st.markdown(f"**{on.name} in space**, {len(keep):,} of {len(xyz):,} points")
    st.plotly_chart(figure, width="stretch", key="embeddings-space", config={"displayModeBar": False})
    legend = [(entry["colours"][0], entry["name"]) for entry in colours.legend if entry["name"]]
    swatches = " ".join(f"<span style='color:{colour}'>●</span> {html.escape(name)}" for colour, name in legend)
    st.html(f"<div style='font-size:.8rem'>{swatches}</div>")
    st.caption("Drag turns, the wheel zooms. An empty square means that this browser has no WebGL: choose 2-D.")


def _labels(on: Stage, points: Points) -> list[str]:
    """What a point is called: its token, or its place in its image."""
    own, theirs = on.taken.tokens, on.taken.key_tokens
    if not on.image:
        return [(theirs if side else own).text[row] for side, row in zip(points.key_side, points.token, strict=True)]
    names = [
        text if row < 0 else f"row {row}, column {col}"
        for text, row, col in zip(own.text, own.row, own.col, strict=True)
    ]
    return [f"{names[token]} of {on.read.documents[own.doc[token]].name}" for token in points.token]


def _small(patches: np.ndarray) -> np.ndarray:
    """Patches (token, side, side, 3), no larger than all of them together may be."""
    count, side = patches.shape[:2]
    wanted = max(4, min(side, int((SHEET / max(count, 1)) ** 0.5)))
    at = np.arange(wanted) * side // wanted
    return patches[:, at][:, :, at]


def _lines(on: Stage, layer: int, head: int, points: Points, k: int) -> tuple[np.ndarray | None, np.ndarray | None]:
    """Links from the queries drawn to their k strongest keys that are drawn as well, with their weights."""
    taken = on.taken
    if not k or not ((points.role == QUERY).any() and (points.role == KEY).any()):
        return None, None
    index = taken.layer_index(layer)

    def build() -> tuple[np.ndarray, np.ndarray]:
        sides = taken.query[index, head], taken.key[index, head]
        return strongest_keys(*sides, taken.doc_offsets, taken.causal, taken.key_doc_offsets, k, taken.scaling)

    keys, weights = cached.kept("embeddings: lines", f"{taken.hash} {layer} {head} {k}", build)
    at = np.full(len(taken.key_tokens), -1)
    at[points.token[points.role == KEY]] = np.flatnonzero(points.role == KEY)
    queries = np.flatnonzero(points.role == QUERY)
    wanted = keys[points.token[queries]]
    to = np.where(wanted >= 0, at[np.maximum(wanted, 0)], -1)
    there = to >= 0
    links = np.stack([np.repeat(queries, k).reshape(to.shape)[there], to[there]], axis=1)
    return links, weights[points.token[queries]][there]
