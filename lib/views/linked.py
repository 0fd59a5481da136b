"""Points and the text or image they come from, in one component: hovering either lights the other."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lib.errors import HeadlightError
from lib.views.component import Figure
from lib.views.packet import pack
from lib.views.scatter import show_points


def linked_figure(points: Figure, source: Figure, query_points: np.ndarray, key_points: np.ndarray) -> Figure:
    """A scatter beside the document, or the image, of some of its points.

    Hovering a point lights its token and the lines of its attention; hovering a token lights its point and
    links it to the points of its twelve strongest partners. Nothing of this reruns the page.

    Args:
        points: from `scatter_figure`.
        source: from `head_view_figure` or `patch_attention_figure`, one document and one head.
        query_points: (query_pos,) which point each query of the document is, −1 where it has none.
        key_points: (key_pos,) the same for its keys.
    """
    n = points.bounds[0]
    sides = source.bounds if source.view == "head_view" else source.bounds * 2
    if points.view != "scatter" or source.view not in ("head_view", "patch_attention"):
        raise HeadlightError("a scatter and a head's view", f"{points.view} and {source.view}", "Pass these figures.")
    arrays = {"points": np.frombuffer(points.packet, np.uint8), "source": np.frombuffer(source.packet, np.uint8)}
    for name, places, size in (("query", query_points, sides[0]), ("key", key_points, sides[1])):
        places = np.asarray(places)[:size]
        if len(places) != size or (size and not -1 <= places.min() <= places.max() < n):
            raise HeadlightError(
                f"{size} {name} points, each −1 or below {n}", f"{len(places)} of them", "Index into the points drawn."
            )
        arrays[f"{name}_points"] = places.astype(np.int32)
    label = f"{points.label} Beside it: {source.label}"
    return Figure("linked", pack({"source": source.view, "label": label}, arrays), (n,), label)


def linked(
    points: Figure,
    source: Figure,
    query_points: np.ndarray,
    key_points: np.ndarray,
    *,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    on_select: Callable[..., None] | None = None,
    on_step: Callable[[int, int], None] | None = None,
) -> None:
    """Show points and their document side by side.

    Args:
        points: see `linked_figure`, as are `source`, `query_points` and `key_points`.
        source: the document's or the image's figure.
        query_points: point of each query.
        key_points: point of each key.
        key: unique on the page.
        on_choose: called with a point's index when a point, a token or a patch is clicked.
        on_select: called with the indices of the selected points, as separate arguments.
        on_step: see `show_points`.
    """
    show_points(linked_figure(points, source, query_points, key_points), key, on_choose, on_select, on_step)
