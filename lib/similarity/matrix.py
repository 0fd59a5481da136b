"""S = z·z and its cosine: which tokens a head makes alike, from its output vectors before W_O.

Nothing here knows documents or pairs; see pairs.py.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from .errors import SimilarityError

Array = np.ndarray
Kind = Literal["dot", "cosine"]
KINDS: tuple[Kind, ...] = ("dot", "cosine")
SHORTEST = 1e-30  # lengths below are zero in float32: their direction is rounding


def similarity_matrix(z: Array, kind: Kind = "dot") -> Array:
    """Similarity of every two tokens in one head: (token, token), symmetric.

    z: (token, d_head) head outputs before W_O, or (…, token, d_head) for several heads at once; float64 stays, all
    else is computed in float32. kind: "dot", z_i·z_j, which long vectors dominate, or "cosine", which ignores
    length and is NaN for zero vectors, as they have no direction. Raises SimilarityError for another kind, fewer
    than two axes, or values that are not finite.

    **Source**: Halevi et al., arXiv 2512.21956 (the scalar product of head outputs); the cosine beside it is ours.

    >>> similarity_matrix(np.array([[3.0, 4.0], [4.0, 3.0]]))
    array([[25., 24.],
           [24., 25.]])
    >>> similarity_matrix(np.array([[3.0, 4.0], [4.0, 3.0]]), kind="cosine")
    array([[1.  , 0.96],
           [0.96, 1.  ]])
    """
    vectors, _, defined = directed(z, kind)
    matrix = vectors @ np.swapaxes(vectors, -1, -2)
    if not defined.all():
        matrix[~(defined[..., :, None] & defined[..., None, :])] = np.nan
    return matrix


def directed(z: Array, kind: Kind) -> tuple[Array, Array, Array]:
    """The vectors whose products are the similarity, the lengths of z, and where the similarity exists.

    z: (…, token, d_head). Returns vectors like z (of length 1 for "cosine"), lengths and defined (…, token).
    Raises SimilarityError as similarity_matrix does.
    """
    z = np.asarray(z)
    if kind not in KINDS:
        raise SimilarityError('kind "dot" or "cosine"', repr(kind), "Choose one of the two.")
    if z.ndim < 2 or 0 in z.shape[-1:]:
        raise SimilarityError("z with axes (…, token, d_head)", f"shape {z.shape}", "Pass one vector per token.")
    vectors = z if z.dtype == np.float64 else z.astype(np.float32, copy=False)
    lengths = np.sqrt(np.einsum("...d,...d->...", vectors, vectors))
    if not np.isfinite(lengths).all():
        bad = int((~np.isfinite(lengths)).sum())
        raise SimilarityError(
            "finite head outputs",
            f"{bad} of {lengths.size} vectors with NaN, infinity or an overflowing length",
            "Capture again in float32: half precision may have overflowed.",
        )
    if kind == "dot":
        return vectors, lengths, np.ones(lengths.shape, dtype=bool)
    defined = lengths > SHORTEST
    return vectors / np.where(defined, lengths, 1)[..., None], lengths, defined
