"""How alike the similarity geometries of two heads are: linear CKA of their matrices S, pairs i ≠ j within documents.

The unbiased estimator leaves the diagonal out, so that short documents do not make unrelated heads look alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .errors import SimilarityError
from .units import Units, captured_units

Array = np.ndarray
SHORTEST = 4  # tokens that the unbiased estimator needs


def alignment(a: Array, b: Array) -> Array:
    """Unbiased HSIC of S = a·a and S' = b·b of every head of a with every head of b, in one document.

    a: (head, token, d), b: (other head, token, d'), at least four tokens. Returns (head, other head) float64;
    divided by √(HSIC(a, a) HSIC(b, b)), after summing over documents, this is linear CKA.

    **Source**: Nguyen, Raghu, Kornblith, arXiv 2010.15327, eq. 3, with documents as minibatches; computed from
    ‖AᵀB‖² without forming the token × token matrices.
    """
    n = a.shape[1]
    if n < SHORTEST or b.shape[1] != n:
        raise SimilarityError(
            f"{SHORTEST} tokens or more, the same in both",
            f"z {a.shape} and {b.shape}",
            "Compare captures of the same documents; leave out the shortest.",
        )
    a, b = _centred(a), _centred(b)
    flat_a, flat_b = (x.transpose(1, 0, 2).reshape(n, -1) for x in (a, b))  # (token, head·d)
    cross = (flat_a.T @ flat_b).reshape(len(a), a.shape[2], len(b), b.shape[2])
    square_a, square_b = (np.einsum("hnd,hnd->hn", x, x) for x in (a, b))  # diagonals of S
    squares = np.einsum("hdke,hdke->hk", cross, cross)
    total = square_a.sum(axis=1)[:, None] * square_b.sum(axis=1)[None]
    return _unbiased(squares, square_a @ square_b.T, total, n)


def paired_alignment(a: Array, b: Array) -> Array:
    """Unbiased HSIC of every head of a with the same head of b: (head,); as ``alignment``, whose diagonal it is."""
    n = a.shape[1]
    a, b = _centred(a), _centred(b)
    cross = a.swapaxes(1, 2) @ b  # (head, d, d')
    square_a, square_b = (np.einsum("hnd,hnd->hn", x, x) for x in (a, b))
    both = (square_a * square_b).sum(axis=1)
    return _unbiased((cross**2).sum(axis=(1, 2)), both, square_a.sum(axis=1) * square_b.sum(axis=1), n)


def _centred(z: Array) -> Array:
    return z.astype(np.float64) - z.mean(axis=1, keepdims=True, dtype=np.float64)


def _unbiased(squares: Array, both: Array, total: Array, n: int) -> Array:
    """HSIC from ‖AᵀB‖², Σ_i S_ii S'_ii and Σ_i S_ii Σ_i S'_ii of centred vectors.

    The diagonals leave the trace; as centred rows of S sum to 0, rows without the diagonal sum to minus it.
    """
    return (squares - both + total / ((n - 1) * (n - 2)) - 2 * both / (n - 2)) / (n * (n - 3))


def head_alignment(
    capture: Any, most_tokens: int = 4096, progress: Callable[[int, int, str], None] | None = None
) -> Array:
    """Linear CKA of every two heads of a capture: (head, head), heads of all layers in a row, 1 on the diagonal.

    most_tokens: documents, evenly spaced over the corpus, are used up to this many tokens (said on the figure).
    Special tokens are left out. Raises SimilarityError where no document has four tokens.
    """
    units = captured_units(capture, False, False).units
    chosen = sampled(units, most_tokens)
    n_layers, n_heads = capture.z.shape[:2]
    sums = np.zeros((n_layers, n_heads, n_layers, n_heads))
    for done, document in enumerate(chosen):
        start, stop = capture.doc_offsets[document : document + 2]
        z = [units[document].pool(layer[:, start:stop]) for layer in capture.z]
        for one in range(n_layers):
            for two in range(one, n_layers):
                sums[one, :, two] += alignment(z[one], z[two])
        if progress:
            progress(done + 1, len(chosen), "comparing heads")
    for one in range(n_layers):
        for two in range(one):
            sums[one, :, two] = sums[two, :, one].T
    sums = sums.reshape(n_layers * n_heads, -1)
    return normalised(sums, np.diag(sums)[:, None], np.diag(sums)[None])


def normalised(cross: Array, own: Array, other: Array) -> Array:
    """HSIC sums as CKA in [−1, 1]; NaN where a geometry has no extent."""
    with np.errstate(invalid="ignore", divide="ignore"):
        cka = cross / np.sqrt(np.maximum(own, 0) * np.maximum(other, 0))
    return np.clip(np.where(np.isfinite(cka), cka, np.nan), -1, 1)


def sampled(units: Sequence[Units], most_tokens: int) -> list[int]:
    """Documents of four tokens or more, evenly spaced, up to a number of tokens; at least one."""
    usable = [index for index, document in enumerate(units) if len(document) >= SHORTEST]
    if not usable:
        raise SimilarityError(
            f"a document of {SHORTEST} tokens or more",
            f"at most {max(map(len, units))} in {len(units)}",
            "Add text.",
        )
    share = min(1.0, most_tokens / sum(len(units[index]) for index in usable))
    places = np.unique(np.linspace(0, len(usable) - 1, max(1, int(share * len(usable)))).round().astype(int))
    return [usable[place] for place in places]
