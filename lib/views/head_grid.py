"""All layers × all heads in one picture: a thumbnail of each pattern, or one cell coloured by a score.

The thumbnails and the chosen head travel apart: choosing another head resends a few hundred bytes, since an
unchanged picture is kept by the browser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.component import Figure, place, show, show_head_grid
from lib.views.heatmap import data_range
from lib.views.packet import pack, quantise

TILE_BYTES = 400_000


def thumbnails(
    pattern: np.ndarray, size: int = 48, scale: str = "head", masked: np.ndarray | None = None
) -> np.ndarray:
    """Patterns sampled down to small square pictures that keep every head's strongest weights visible.

    Each cell is the *maximum* of the weights it covers (a mean would wash out sparse heads); brightness is
    the square root of weight / maximum, the maximum being the head's own or shared by all.

    Args:
        pattern: (layer, head, query_pos, key_pos) weights ≥ 0.
        size: the longest side of a picture in cells; made smaller when all pictures together would exceed
            400 kB, and never larger than the pattern.
        scale: "head", each picture up to its own maximum, or "shared", one maximum for all.
        masked: (query_pos, key_pos) bool, true where attention is impossible, or (layer, query_pos, key_pos).

    Returns:
        uint8 (layer, head, row, column): 0 masked or undefined, 1 … 255 from none to the maximum.
    """
    if pattern.ndim != 4:
        raise HeadlightError("axes (layer, head, query_pos, key_pos)", f"shape {pattern.shape}", "Pass one pattern.")
    layers, heads, queries, keys = pattern.shape
    size = max(1, min(size, int((TILE_BYTES / (layers * heads)) ** 0.5)))
    rows = np.unique(np.linspace(0, queries, min(size, queries) + 1).astype(int)[:-1])
    columns = np.unique(np.linspace(0, keys, min(size, keys) + 1).astype(int)[:-1])
    peaks = np.empty((layers, heads, len(rows), len(columns)), np.float32)
    for layer in range(layers):  # one layer at a time: no second copy of the whole pattern
        weights = np.nan_to_num(pattern[layer], nan=-1.0)
        if masked is not None:
            weights = np.where(masked if masked.ndim == 2 else masked[layer], -1.0, weights)
        peaks[layer] = np.maximum.reduceat(np.maximum.reduceat(weights, rows, axis=1), columns, axis=2)
    most = peaks.max(axis=(2, 3), keepdims=True) if scale == "head" else peaks.max()
    most = np.where(most > 0, most, 1.0)
    codes = 1 + np.rint(254 * np.sqrt(np.clip(peaks, 0, None) / most))
    return np.where(peaks < 0, 0, codes).astype(np.uint8)


def head_grid_figure(
    values: np.ndarray,
    layers: Sequence[int] | None = None,
    *,
    scores: np.ndarray | None = None,
    names: Sequence[Sequence[str]] | None = None,
    value_name: str = "score",
    unit: str = "",
    kind: str = "sequential",
    value_range: tuple[float, float] | None = None,
    colours: str = "cividis",
    title: str = "",
    note: str = "",
    small: bool = False,
    chosen: tuple[int, int] | None = None,
) -> Figure:
    """The picture of all heads.

    Args:
        values: uint8 (layer, head, row, column) from `thumbnails`, or float (layer, head) scores; a score
            that is not finite is drawn hatched, "no signal".
        layers: the true layer numbers, if not 0, 1, 2 …
        scores: float (layer, head), told beside a thumbnail on hovering.
        names: a few words per layer and head, e.g. its role.
        value_name: what the scores are.
        unit: their unit, "" for none.
        kind: "sequential", or "diverging" around zero.
        value_range: what the two ends of the colours mean; the scores' own range, zero included, if None.
        colours: "cividis" or "viridis"; diverging scores have their own.
        title: a line above the picture.
        note: a line beneath it: what was left out, how it is scaled.
        small: the form for a side bar, flat cells without legend.
        chosen: (row of `values`, head) to outline; `head_grid` sends it apart for thumbnails.
    """
    values = np.asarray(values)
    if values.ndim not in (2, 4) or 0 in values.shape:
        raise HeadlightError("(layer, head) or (layer, head, row, column)", f"shape {values.shape}", "Pass either.")
    n_layers, n_heads = values.shape[:2]
    layers = tuple(range(n_layers)) if layers is None else tuple(int(layer) for layer in layers)
    if len(layers) != n_layers:
        raise HeadlightError(f"{n_layers} layer numbers", f"{len(layers)}", "Name every layer once.")
    arrays, shown = {}, values if values.ndim == 2 else scores
    if values.ndim == 4:
        arrays["tiles"] = values.astype(np.uint8, copy=False)
    if shown is not None:
        shown = np.asarray(shown, np.float32)
        if small and np.ptp(np.nan_to_num(shown)) == 0:
            shown = np.full(shown.shape, np.nan, np.float32)  # nothing to tell apart: plain cells
        else:
            arrays["scores"] = shown
    low, high = value_range or data_range(np.zeros(1) if shown is None else shown, kind)
    if values.ndim == 2:
        arrays["codes"] = quantise(shown, low, high, kind=kind)
    arrays["table"] = palette.table("diverging" if kind == "diverging" else colours)
    meta = {
        "layers": layers,
        "heads": n_heads,
        "names": [[str(name)[:80] for name in row] for row in names] if names is not None else None,
        "value": value_name,
        "unit": unit,
        "kind": kind,
        "low": float(low),
        "high": float(high),
        "title": title,
        "note": note,
        "small": small,
        "plain": shown is None or not np.isfinite(shown).any(),
        "chosen": place(chosen, (n_layers, n_heads)),
    }
    what = "attention patterns" if values.ndim == 4 else value_name
    label = f"{title or what}: {n_layers} layers by {n_heads} heads. Arrow keys choose a head."
    return Figure("head_grid", pack(meta | {"label": label}, arrays), (n_layers, n_heads), label)


def head_grid(
    values: np.ndarray,
    layers: Sequence[int] | None = None,
    *,
    key: str,
    chosen: tuple[int, int] | None = None,
    on_choose: Callable[[int, int], None] | None = None,
    **options: object,
) -> None:
    """Show all heads; a click or an arrow key chooses one.

    Args:
        values: see `head_grid_figure`, as are `layers` and `options`.
        key: unique on the page.
        chosen: (row of `values`, head) to outline in the primary colour.
        on_choose: called with (row of `values`, head); the row is an index, not the layer's true number.
    """
    if np.ndim(values) == 2:
        show(head_grid_figure(values, layers, chosen=chosen, **options), key, on_choose)
    else:
        show_head_grid(head_grid_figure(values, layers, **options), key, chosen, on_choose)
