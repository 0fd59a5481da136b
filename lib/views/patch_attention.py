"""The attention of an image model drawn over the image: overlay, strongest arrows, strong links."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

import numpy as np
from PIL import Image

from lib.errors import HeadlightError
from lib.numerals import per_cent
from lib.views import palette
from lib.views.component import Figure, show
from lib.views.heatmap import coded, data_range
from lib.views.packet import pack

MOST_PAIRS = 1_100_000  # above this only each query's strongest keys travel
STRONGEST = 256


def patch_attention_figure(
    seen: np.ndarray,
    grid: tuple[int, int],
    pattern: np.ndarray,
    *,
    prefix_labels: Sequence[str] | None = None,
    mask: np.ndarray | None = None,
    windows: np.ndarray | None = None,
    kind: str = "sequential",
    value_name: str = "attention",
    title: str = "",
    note: str = "",
    mode: str = "overlay",
    threshold: float | None = None,
    chosen: int | None = None,
    direction: str = "query",
) -> Figure:
    """One head's attention between the patches of an image, or another square matrix over them.

    Args:
        seen: uint8 (height, width, 3), the image as the model sees it.
        grid: patches (rows, columns).
        pattern: (query_pos, key_pos); prefix tokens first, then the patches row by row.
        prefix_labels: names of the tokens before the patches, e.g. ("CLS", "R1", …); made up if None.
        mask: (query_pos, key_pos) bool, pairs that cannot attend.
        windows: int (rows, columns), the attention window of each patch; borders between windows are drawn.
        kind: "sequential" for weights ≥ 0, or "diverging" for signed values such as similarities, centred on zero.
        value_name: what the weights are.
        title: a line above the picture.
        note: a line beneath it.
        mode: "overlay" (attention of the chosen patch), "arrows" (strongest partner of every patch: circle =
            itself, square = a prefix token) or "links" (all pairs above a threshold).
        threshold: where the slider for "links" starts; half of the largest between two patches if None.
        chosen: the token looked at, an index into the pattern; the patch in the middle if None.
        direction: what is lit at first, "query": what the chosen token attends to, or "key": what attends to it.

    Raises:
        HeadlightError: image, grid and pattern do not fit one another, or a sequential pattern has negative values.
    """
    seen, pattern = np.asarray(seen), np.asarray(pattern, float)
    rows, columns = grid
    prefix = _prefix_tokens(seen, pattern, rows * columns)
    if prefix_labels is None:
        prefix_labels = ["CLS"][:prefix] + [f"R{i}" for i in range(1, prefix)]
    if mask is not None:
        pattern = np.where(mask, np.nan, pattern)
    if kind == "sequential" and (pattern < 0).any():
        raise HeadlightError("weights ≥ 0", f"{np.nanmin(pattern):.3g}", 'Pass `kind="diverging"` for signed values.')
    low, high = data_range(pattern, kind)
    arrays = {"image": picture(seen), "table": palette.table("cividis" if kind == "sequential" else kind)}
    if pattern.size <= MOST_PAIRS:
        arrays["codes"] = coded(pattern, low, high, kind)
    else:
        share, arrays["codes"], arrays["partners"] = strongest(pattern, low, high, kind)
        note = f"{note} Shown: each token's {STRONGEST} strongest keys, {per_cent(share)} of the weight.".strip()
    if windows is not None:
        arrays["windows"] = np.asarray(windows).astype(np.int32)
    label = f"{title or value_name}: an image of {rows} by {columns} patches and {prefix} other tokens."
    meta = {
        "rows": rows,
        "columns": columns,
        "prefix": [str(name)[:20] for name in prefix_labels][:prefix],
        "height": seen.shape[0],
        "width": seen.shape[1],
        "kind": kind,
        "symmetric": kind == "diverging" and np.allclose(pattern, pattern.T, equal_nan=True),
        "low": low,
        "high": high,
        "value": value_name,
        "title": title,
        "note": note,
        "mode": mode,
        "direction": direction,
        "threshold": float(threshold if threshold is not None else _strongest_link(pattern, prefix, high) / 2),
        "chosen": chosen if chosen is not None else prefix + (rows // 2) * columns + columns // 2,
        "query_colour": palette.QUERY,
        "key_colour": palette.KEY,
        "label": label + " Arrow keys move from patch to patch.",
    }
    return Figure("patch_attention", pack(meta, arrays), (len(pattern),), label)


def _strongest_link(pattern: np.ndarray, prefix: int, high: float) -> float:
    """Largest weight between two different patches; ``high`` where none is above 0."""
    between = pattern[prefix:, prefix:].copy()
    np.fill_diagonal(between, np.nan)
    largest = np.nanmax(between, initial=0)
    return float(largest) if largest > 0 else high


def _prefix_tokens(seen: np.ndarray, pattern: np.ndarray, patches: int) -> int:
    """How many tokens precede the patches; refuses what is no image, and a pattern that does not fit the grid."""
    prefix = pattern.shape[0] - patches
    if pattern.ndim != 2 or pattern.shape[0] != pattern.shape[1] or prefix < 0:
        raise HeadlightError(
            f"a square pattern over at least {patches} patches", f"shape {pattern.shape}", "Check the grid."
        )
    if seen.ndim != 3 or seen.shape[2] != 3 or seen.dtype != np.uint8:
        raise HeadlightError("uint8 (height, width, 3)", f"{seen.dtype} {seen.shape}", "Pass the image as seen.")
    return prefix


def patch_attention(
    seen: np.ndarray,
    grid: tuple[int, int],
    pattern: np.ndarray,
    *,
    key: str,
    on_choose: Callable[[int], None] | None = None,
    **options: object,
) -> None:
    """Show an image with a head's attention over it; a click chooses a patch or a prefix token.

    Args:
        seen: see `patch_attention_figure`, as are `grid`, `pattern` and `options`.
        grid: patches (rows, columns).
        pattern: (query_pos, key_pos).
        key: unique on the page; mode, threshold and direction are kept under it.
        on_choose: called with the token's index in the pattern.
    """
    show(patch_attention_figure(seen, grid, pattern, **options), key, on_choose)


def picture(seen: np.ndarray, limit: int = 300_000) -> np.ndarray:
    """An image file as uint8 bytes: PNG, or JPEG where that would take more than `limit` bytes."""
    image = Image.fromarray(np.ascontiguousarray(seen), "RGB")
    if max(image.size) > 1024:
        image.thumbnail((1024, 1024))
    out = io.BytesIO()
    image.save(out, "PNG")
    if out.tell() > limit:
        out = io.BytesIO()
        image.save(out, "JPEG", quality=88)
    return np.frombuffer(out.getvalue(), np.uint8)


def strongest(
    pattern: np.ndarray, low: float, high: float, kind: str = "sequential"
) -> tuple[float, np.ndarray, np.ndarray]:
    """Each query's keys of largest magnitude: the share of it they hold, their codes, their indices (query, key)."""
    size = np.abs(pattern)
    filled = np.nan_to_num(size, nan=-1.0)
    partners = np.argpartition(-filled, STRONGEST, axis=1)[:, :STRONGEST]
    kept = np.take_along_axis(pattern, partners, axis=1)
    share = float(np.nansum(np.abs(kept)) / np.nansum(size))
    return share, coded(kept, low, high, kind), partners.astype(np.uint16)
