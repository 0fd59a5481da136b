"""Proper orthogonal decomposition of attention fields by the method of snapshots, plain or through a lag window.

The eigen-solver is SciPy's; here are the centring, the window, the block-wise Gram matrix and what is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import eigh

from lib.errors import HeadlightError
from lib.threads import one_thread

from .fields import FEWEST_DOCUMENTS, Field, is_rounding
from .given import real_numbers, whole_number

Array = np.ndarray
SMALLEST_SHARE = 1e-10  # of the first eigenvalue: below it a mode is rounding
NEGLIGIBLE_WEIGHT = 1e-12  # of a window's largest weight: such cells add 1e-24 of their energy
BLOCK_CELLS = 8192  # cells per document worked on at a time, so that a block stays in the processor's cache


@dataclass(frozen=True, eq=False)
class Modes:
    """The modes of an ensemble of N snapshots of some shape (\\*cells), such as (query_pos, key_pos).

    eigenvalues  (mode,) λ_k, descending: mean energy over documents along mode k; empty where the snapshots do
                 not differ (``rank`` 0, "no fluctuation")
    total        variance of the ensemble, Σλ
    mean         (\\*cells) mean over documents, through the window
    vectors      (doc, mode) orthonormal eigenvectors of the Gram matrix, in whatever sign they came
    gram         (doc, doc) Gram matrix of the centred snapshots, UUᵀ/N
    snapshots    (doc, \\*cells) as given, no copy; not to be changed afterwards
    window       (\\*cells) the weight of each cell, None without a window

    ``modes`` and ``scores`` are computed when first asked for, and ``leading`` computes only some.
    """

    eigenvalues: Array
    total: float
    mean: Array
    vectors: Array
    gram: Array
    snapshots: Array
    window: Array | None

    rank = property(lambda self: len(self.eigenvalues), doc="Number of modes, at most N − 1.")
    documents = property(lambda self: len(self.snapshots), doc="N.")

    @property
    def modes(self) -> Array:
        """φ_k, float64 (mode, \\*cells): orthonormal, the entry of largest magnitude positive."""
        return self._all[0]

    @property
    def scores(self) -> Array:
        """Amplitude of mode k in document s, float64 (doc, mode): √(Nλ_k) v_k, signed like ``modes``."""
        return self._all[1]

    @cached_property
    def _all(self) -> tuple[Array, Array]:
        return self.leading(self.rank)

    def leading(self, count: int) -> tuple[Array, Array]:
        """The first modes (count, \\*cells) and their scores (doc, count); fewer where there are fewer."""
        _require_count(count)
        vectors = self.vectors[:, :count]
        if not vectors.shape[1]:
            return np.zeros((0, *self.snapshots.shape[1:])), np.zeros((self.documents, 0))
        amplitude = np.sqrt(self.documents * self.eigenvalues[:count])
        modes = np.zeros((vectors.shape[1], *_planes(self.snapshots).shape[1:]))
        for (rows, columns), block in _blocks(self.snapshots, self.window):
            part = (vectors / amplitude).T @ block.fluctuation
            modes[:, rows, columns] = part.reshape(len(modes), *block.shape)
        flat = modes.reshape(len(modes), -1)
        signs = np.where(flat.max(axis=1) < -flat.min(axis=1), -1.0, 1.0)
        flat *= signs[:, None]
        return modes.reshape(-1, *self.snapshots.shape[1:]), vectors * (amplitude * signs)

    def tail(self, count: int) -> float:
        """Energy left out by the first ``count`` modes: Σ_{k>count} λ_k, the mean of ‖u − P u‖² over documents."""
        _require_count(count)
        return float(self.eigenvalues[count:].sum())

    def residual(self, document: int, count: int) -> float:
        """Energy of one document that the first ``count`` modes leave out, ‖u − P u‖²."""
        _require_count(count)
        whole_number(document, "a document", 0, self.documents - 1)
        energies = self.documents * self.eigenvalues * self.vectors[document] ** 2
        return float(energies[count:].sum())


@one_thread()
def snapshot_pod(snapshots: Array | Field, window: Array | None = None) -> Modes:
    """POD of an ensemble by the method of snapshots; it centres the snapshots itself.

    snapshots: (doc, \\*cells), or a Field, whose cells are (query_pos, key_pos). window: (\\*cells), multiplied
    with every snapshot, such as ``lag_window`` gives. With U the centred snapshots: C = UUᵀ/N in float64,
    C v = λ v, φ_k = Uᵀv_k/√(Nλ_k), kept where λ_k > 1e-10 λ_1. Snapshots that differ by no more than the
    rounding of their own type have rank 0.

    Raises HeadlightError for fewer than three documents, what is not a real number, NaN or infinity (also in the
    window), and a window of another shape.

    **Source**: Sirovich (1987), *Quart. Appl. Math.* 45, pp. 561–571 (method of snapshots); applied to attention
    by Zeris, arXiv 2606.06573. Cells that no document changes, and cells of negligible weight, are skipped.
    """
    snapshots = (
        snapshots.pattern if isinstance(snapshots, Field) else real_numbers(snapshots, "snapshots (doc, *cells)")
    )
    if snapshots.dtype.kind != "f":
        snapshots = snapshots.astype(np.float64)
    _check(snapshots, window)
    documents = len(snapshots)
    gram = np.zeros((documents, documents))
    mean = np.zeros(_planes(snapshots).shape[1:])
    for (rows, columns), block in _blocks(snapshots, window):
        with np.errstate(over="ignore", invalid="ignore"):  # told below
            gram += block.fluctuation @ block.fluctuation.T
        mean[rows, columns] = block.mean.reshape(block.shape)
    gram /= documents
    if not np.isfinite(gram).all():
        bad = next((d for d, cells in enumerate(snapshots) if not np.isfinite(cells).all()), None)
        if bad is not None:
            raise HeadlightError("finite snapshots", f"NaN or infinity in document {bad}", "Leave it out.")
        largest = f"values up to {np.abs(snapshots).max():.3g}"
        raise HeadlightError("snapshots whose energy is a number", largest, "Divide them by their largest value.")
    eigenvalues, vectors = eigh(gram)
    eigenvalues, vectors = eigenvalues[::-1], vectors[:, ::-1]
    total = float(np.trace(gram))
    kept = eigenvalues > SMALLEST_SHARE * eigenvalues[0]
    kept[-1] = False  # N centred snapshots span N − 1 directions
    if is_rounding(total, float((mean**2).sum()), snapshots.dtype):
        kept[:], gram[:], total = False, 0.0, 0.0
    return Modes(
        eigenvalues=eigenvalues[kept],
        total=total,
        mean=mean.reshape(snapshots.shape[1:]),
        vectors=vectors[:, kept],
        gram=gram,
        snapshots=snapshots,
        window=window,
    )


@one_thread()
def reconstruct(modes: Modes, document: int, count: int) -> Array:
    """One document from the mean and its first ``count`` modes, float64 (\\*cells), through the window.

    Its error, squared and summed over cells, is ``modes.residual(document, count)``; over all documents its mean
    is ``modes.tail(count)``.
    """
    _require_count(count)
    whole_number(document, "a document", 0, modes.documents - 1)
    leading = modes.vectors[:, :count]
    share = leading @ leading[document]  # (doc,): P_K u is a combination of the snapshots themselves
    cells = np.zeros(_planes(modes.snapshots).shape[1:])
    for (rows, columns), block in _blocks(modes.snapshots, modes.window):
        cells[rows, columns] = (share @ block.fluctuation).reshape(block.shape)
    return modes.mean + cells.reshape(modes.mean.shape)


@dataclass(frozen=True, eq=False)
class _Block:
    """Some cells of every snapshot through the window: mean (cell,), fluctuation (doc, cell), their 2-D shape."""

    mean: Array
    fluctuation: Array
    shape: tuple[int, int]


def _planes(snapshots: Array) -> Array:
    """Snapshots as (doc, row, column): the last two axes of fields, one row for bare vectors."""
    documents, *cells = snapshots.shape
    return snapshots.reshape(documents, 1 if len(cells) == 1 else -1, cells[-1])


def _blocks(snapshots: Array, window: Array | None) -> Iterator[tuple[tuple[slice, slice], _Block]]:
    """Blocks of cells in float64, over the columns in which documents differ and the window sees anything."""
    planes = _planes(snapshots)
    documents, height, width = planes.shape
    weights = None if window is None else np.asarray(window, dtype=np.float64).reshape(height, width)
    floor = 0.0 if weights is None else NEGLIGIBLE_WEIGHT * np.abs(weights).max()
    columns_at_once = min(width, BLOCK_CELLS)
    rows_at_once = max(1, BLOCK_CELLS // columns_at_once)
    for top in range(0, height, rows_at_once):
        rows = slice(top, min(top + rows_at_once, height))
        for left in range(0, width, columns_at_once):
            columns = slice(left, min(left + columns_at_once, width))
            if weights is not None:
                columns = _span(columns, (np.abs(weights[rows, columns]) > floor).any(axis=0))
            cells = planes[:, rows, columns]
            if cells.size and not (cells[..., 0].any() and cells[..., -1].any()):  # such as future keys
                columns = _span(columns, (cells != 0).any(axis=(0, 1)))
                cells = planes[:, rows, columns]
            if not cells.size:
                continue
            block = cells.reshape(documents, -1).astype(np.float64)
            if weights is not None:
                block *= weights[rows, columns].ravel()
            mean = np.full(documents, 1 / documents) @ block
            block -= mean
            yield (rows, columns), _Block(mean, block, cells.shape[1:])


def _span(columns: slice, used: Array) -> slice:
    """The part of a range of columns from the first to the last that is used; empty where none is."""
    places = np.flatnonzero(used)
    if not places.size:
        return slice(columns.start, columns.start)
    return slice(columns.start + int(places[0]), columns.start + int(places[-1]) + 1)


def _check(snapshots: Array, window: Array | None) -> None:
    if snapshots.ndim < 2 or not snapshots[:1].size or len(snapshots) < FEWEST_DOCUMENTS:
        raise HeadlightError(
            f"snapshots (doc, *cells) of at least {FEWEST_DOCUMENTS} documents",
            f"{snapshots.shape}",
            "Add documents: fewer have no statistics.",
        )
    if window is None:
        return
    window = real_numbers(window, "a window (*cells)")
    if window.shape != snapshots.shape[1:]:
        raise HeadlightError(
            f"a window of the snapshots' cells, {snapshots.shape[1:]}",
            f"{window.shape}",
            "Make it with lag_window of the same length.",
        )
    if not np.isfinite(window).all():
        raise HeadlightError("a finite window", "NaN or infinity in it", "Make it with lag_window.")


def _require_count(count: int) -> None:
    whole_number(count, "a number of modes", 0)
