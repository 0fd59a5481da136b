"""A matrix with labelled axes: attention patterns, similarity matrices, fields, modes, scalograms."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.component import Figure, show
from lib.views.packet import pack, quantise

MOST = 1024  # rows or columns shown
FINE_BYTES = 140_000  # below this, 16-bit codes


def heatmap_figure(
    matrix: np.ndarray,
    *,
    row_labels: Sequence[object] | None = None,
    column_labels: Sequence[object] | None = None,
    first: tuple[int, int] = (0, 0),
    row_title: str = "query",
    column_title: str = "key",
    title: str = "",
    note: str = "",
    mask: np.ndarray | None = None,
    veil: np.ndarray | None = None,
    kind: str = "sequential",
    value_range: tuple[float, float] | None = None,
    value_name: str = "weight",
    unit: str = "",
    colours: str = "cividis",
    categories: Sequence[str] | None = None,
    boundaries: Sequence[int] = (),
    column_boundaries: Sequence[int] | None = None,
    row_marks: Sequence[tuple[int, str]] = (),
    chosen: tuple[int, int] | None = None,
    lag: bool = True,
    upward: bool = False,
    square: bool = True,
    height: int = 620,
    scale: str = "linear",
) -> Figure:
    """A matrix as a picture with axes, read-out, keyboard cursor and a linear/log switch.

    Args:
        matrix: (row, column) float, at most 1,024 of each are shown and the rest is announced; integers for
            kind "categorical". What is not finite counts as masked.
        row_labels: one per row, in order; repeated labels stay separate rows. None: numbered.
        column_labels: one per column.
        first: numbers of the first row and of the first column, where they are numbered.
        row_title: name of the row axis, with its unit.
        column_title: name of the column axis, with its unit.
        title: a line above the picture.
        note: a line beneath it.
        mask: (row, column) bool, cells that hold no value; hatched, never drawn as zero.
        veil: (row, column) bool, cells whose value is shown but is not to be trusted (cone of influence).
        kind: "sequential", "diverging" (centred on zero) or "categorical" (whole numbers from 0).
        value_range: what the two ends of the colours mean; from the values (zero included) if None.
        value_name: what the values are, for the read-out.
        unit: their unit.
        colours: "cividis" or "viridis", for kind "sequential".
        categories: names of the categories, at most 8.
        boundaries: row indices at which a sentence (or another unit) begins; lines are drawn before them.
        column_boundaries: the same for columns; equal to `boundaries` for square matrices if None.
        row_marks: (row, text) pairs marked at the right edge, e.g. dominant scales.
        chosen: (row, column) to outline.
        lag: tell row − column in the read-out.
        upward: the first row at the bottom.
        square: cells as high as wide.
        height: most pixels of the matrix's height.
        scale: the switch's first position, "linear" or "log".

    Raises:
        HeadlightError: the matrix, its labels or its masks do not fit one another.
    """
    matrix = np.asarray(matrix)
    _require_fitting(matrix, {"mask": mask, "veil": veil}, {"row": row_labels, "column": column_labels})
    rows, columns = min(matrix.shape[0], MOST), min(matrix.shape[1], MOST)
    note = " ".join(filter(None, [note, left_out(matrix.shape, (rows, columns))]))
    values = _seen(matrix, mask, rows, columns)
    low, high = value_range or data_range(values, kind)
    veiled = {} if veil is None else {"veil": np.asarray(veil)[:rows, :columns].astype(np.uint8)}
    table = palette.table(colours if kind == "sequential" else kind)
    arrays = {"codes": coded(values, low, high, kind), **veiled, "table": table}
    label = f"{title or value_name}: {rows} rows ({row_title}) by {columns} columns ({column_title})."
    meta = {
        **_axes((row_labels, column_labels), first, (rows, columns)),
        "row_title": row_title,
        "column_title": column_title,
        "title": title,
        "note": note,
        "kind": kind,
        "low": float(low),
        "high": float(high),
        "value": value_name,
        "unit": unit,
        "categories": [str(name) for name in categories] if categories is not None else None,
        **_rulings(matrix.shape, boundaries, column_boundaries, row_marks),
        "chosen": [int(at) for at in chosen] if chosen is not None else None,
        "lag": lag,
        "upward": upward,
        "square": square,
        "height": height,
        "scale": scale,
        "label": label + " Arrow keys move the cursor, Enter chooses.",
    }
    return Figure("heatmap", pack(meta, arrays), (rows, columns), label)


def heatmap(
    matrix: np.ndarray,
    *,
    key: str,
    on_choose: Callable[[int, int], None] | None = None,
    **options: object,
) -> None:
    """Show a matrix; a click or Enter chooses a cell.

    Args:
        matrix: see `heatmap_figure`, as are `options`.
        key: unique on the page.
        on_choose: called with (row, column).
    """
    show(heatmap_figure(matrix, **options), key, on_choose)


def _require_fitting(
    matrix: np.ndarray, cells: Mapping[str, np.ndarray | None], labels: Mapping[str, Sequence[object] | None]
) -> None:
    """Refuse what is no matrix, cells of another shape, and labels (rows', then columns') of another number."""
    if matrix.ndim != 2 or 0 in matrix.shape:
        raise HeadlightError("a matrix (row, column)", f"shape {matrix.shape}", "Choose one head or one field.")
    for name, part in cells.items():
        if part is not None and np.shape(part) != matrix.shape:
            raise HeadlightError(f"{name} of shape {matrix.shape}", f"{np.shape(part)}", "Cut both alike.")
    for (name, given), size in zip(labels.items(), matrix.shape, strict=True):
        if given is not None and len(given) != size:
            raise HeadlightError(f"{size} {name} labels", f"{len(given)}", "Label every one.")


def _seen(matrix: np.ndarray, mask: np.ndarray | None, rows: int, columns: int) -> np.ndarray:
    """The values that are shown, NaN where they are masked."""
    values = matrix[:rows, :columns].astype(np.float64)
    return values if mask is None else np.where(np.asarray(mask)[:rows, :columns], np.nan, values)


def _axes(
    labels: tuple[Sequence[object] | None, Sequence[object] | None], first: tuple[int, int], shape: tuple[int, int]
) -> dict[str, list | None]:
    """Labels of both axes, and the numbers at which they begin where they have none."""
    rows, columns = (axis_labels(own, count) for own, count in zip(labels, shape, strict=True))
    return {"rows": rows, "columns": columns, "first": [int(at) for at in first]}


def _rulings(
    shape: tuple[int, int],
    boundaries: Sequence[int],
    column_boundaries: Sequence[int] | None,
    row_marks: Sequence[tuple[int, str]],
) -> dict[str, list]:
    """Lines and marks that lie within what is shown."""
    if column_boundaries is None:
        column_boundaries = boundaries if shape[0] == shape[1] else ()
    rows, columns = (min(size, MOST) for size in shape)
    return {
        "row_lines": [int(at) for at in boundaries if 0 < at < rows],
        "column_lines": [int(at) for at in column_boundaries if 0 < at < columns],
        "row_marks": [[int(at), str(text)] for at, text in row_marks if 0 <= at < rows],
    }


def coded(values: np.ndarray, low: float, high: float, kind: str) -> np.ndarray:
    """Codes of a matrix: 16 bits while that stays small, else 8; whole-number categories shifted by one."""
    if kind == "categorical":
        return np.where(np.isfinite(values), np.nan_to_num(values) + 1, 0).astype(np.uint8)
    return quantise(values, low, high, 16 if values.size * 2 <= FINE_BYTES else 8, kind)


def data_range(values: np.ndarray, kind: str) -> tuple[float, float]:
    """The range of finite values with zero included; symmetric around zero for kind "diverging"."""
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    if kind == "diverging":
        most = float(np.abs(known).max()) or 1.0
        return -most, most
    low, high = min(0.0, float(known.min())), max(0.0, float(known.max()))
    return (low, high) if high > low else (low, low + 1.0)


def axis_labels(labels: Sequence[object] | None, count: int) -> list[str] | None:
    """The first `count` labels as text of at most 64 characters, or None for numbered axes."""
    return None if labels is None else [str(label)[:64] for label in labels[:count]]


def left_out(shape: tuple[int, ...], shown: tuple[int, ...]) -> str:
    """What a bound left out, in words; "" when everything is shown."""
    if tuple(shape) == tuple(shown):
        return ""
    return f"Shown: the first {shown[0]:,} of {shape[0]:,} rows, {shown[1]:,} of {shape[1]:,} columns."
