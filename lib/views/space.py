"""Points in space, for three-dimensional projections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from lib.errors import HeadlightError
from lib.views.colouring import Colouring

MOST = 5_000


def space(
    xyz: np.ndarray,
    colouring: Colouring,
    labels: Sequence[str] | None = None,
    *,
    hits: np.ndarray | None = None,
    height: int = 560,
) -> go.Figure:
    """A Plotly scatter of at most 5,000 points with equal axes, for `st.plotly_chart`.

    Args:
        xyz: (point, 3) finite floats.
        colouring: of the points.
        labels: one per point, shown on hovering as plain text.
        hits: bool (point,), what a search found: the others fade.
        height: pixels.
    """
    xyz = np.asarray(xyz, float)
    if xyz.ndim != 2 or xyz.shape[1] != 3 or not 0 < len(xyz) <= MOST or not np.isfinite(xyz).all():
        raise HeadlightError(
            f"1 to {MOST:,} points (point, 3), finite", f"shape {xyz.shape}", "Draw a sample, and say so."
        )
    colours = np.array(colouring.colours, object)[colouring.classes]
    names = [""] * len(xyz) if labels is None else [plain(str(label)[:48]) for label in labels]
    figure = go.Figure()
    groups = [(np.ones(len(xyz), bool), 0.85)]
    if hits is not None:
        lit = np.asarray(hits, bool)
        groups = [(~lit, 0.08), (lit, 0.95)]
    for chosen, opacity in groups:
        figure.add_scatter3d(
            x=xyz[chosen, 0],
            y=xyz[chosen, 1],
            z=xyz[chosen, 2],
            mode="markers",
            marker={"size": 2.5, "color": colours[chosen].tolist(), "opacity": opacity},
            text=[name for name, keep in zip(names, chosen, strict=True) if keep],
            hovertemplate="%{text}<extra></extra>" if labels is not None else None,
            hoverinfo="text" if labels is not None else "skip",
        )
    axis = {"showticklabels": False, "title": "", "showspikes": False, "backgroundcolor": "rgba(0,0,0,0)"}
    figure.update_layout(
        height=height,
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        showlegend=False,
        scene={"xaxis": axis, "yaxis": axis, "zaxis": axis, "aspectmode": "data"},
    )
    return figure


def plain(text: str) -> str:
    """A label in which nothing is markup to Plotly."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
