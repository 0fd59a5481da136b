"""UMAP and t-SNE on a graphics card, by TorchDR where it is installed; the rest of the room never needs it."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np

from .correlation import unit
from .errors import EmbeddingError
from .neighbours import nearest
from .projection import MIN_DISTANCE, NEIGHBOURS, PERPLEXITY, Method, Projection, neighbours_kept, usual_epochs
from .spans import vectors


def installed() -> bool:
    """Whether TorchDR is there."""
    return find_spec("torchdr") is not None


def project_on(device: str, points: np.ndarray, method: Method, dimensions: int = 2, seed: int = 0) -> Projection:
    """As ``project``, on a device such as "cuda"; needs points enough that nothing has to be clamped.

    Squared distances of unit vectors are twice the cosine distances, which neither method tells apart from them. The
    same seed gives the same picture on the same device only.

    Raises EmbeddingError where TorchDR is missing, or for "pca" and for fewer than 151 points.

    **Source** TorchDR, https://github.com/TorchDR/TorchDR.
    """
    points = vectors("points", points)
    if not installed() or method == "pca" or len(points) <= 3 * PERPLEXITY:
        raise EmbeddingError(
            f"TorchDR, UMAP or t-SNE and more than {3 * PERPLEXITY} points",
            f"TorchDR {'there' if installed() else 'missing'}, {method!r}, {len(points)} points",
            "Use project instead: it needs no graphics card.",
        )
    import torchdr

    directions = unit(points).astype(np.float32)
    common: dict[str, Any] = {"n_components": dimensions, "init": "pca", "random_state": seed, "backend": None}
    if method == "umap":
        own = {"n_neighbors": NEIGHBOURS, "min_dist": MIN_DISTANCE, "max_iter": usual_epochs(len(points))}
        arranger = torchdr.UMAP(**common, **own, device=device)
    else:
        own = {"perplexity": PERPLEXITY, "max_iter": 750}
        arranger = torchdr.TSNE(**common, **own, device=device)
    xy = np.asarray(arranger.fit_transform(directions))
    kept = neighbours_kept(xy, nearest(points, NEIGHBOURS))
    parameters = {"seed": seed, "metric": "cosine", **own, "computed_by": f"TorchDR on {device}"}
    return Projection(xy, method, parameters, {"neighbours_kept": kept})
