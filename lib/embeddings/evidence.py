"""What the paper's claims rest on, measured in one model over one corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.capture import Capture, capture
from lib.corpora import Document, Encoding, encode
from lib.errors import HeadlightError
from lib.models.weights import WeightsUnknown

from .correlation import distance_agreement
from .induction import Induction, induction_of
from .offsets import Offsets, offsets_of
from .orders import Orders, what_orders

Array = np.ndarray
Progress = Callable[[int, int, str], None]


@dataclass(frozen=True, eq=False)
class Evidence:
    """One model on one corpus.

    distance    (document, layer, head), Spearman of distance after translation against q·k
    norm_gap    (document, layer, head), mean ‖q‖ − mean ‖k‖
    offsets     attention by offset
    orders      what orders each map
    agreement   (layer, head), correlation of the entries of W_Q and W_K; None where the layout is not known
    entries     numbers in one head's W_Q
    induction   the probe; None for models without tokens
    """

    model: str
    causal: bool
    image: bool
    layers: tuple[int, ...]
    distance: Array
    norm_gap: Array
    offsets: Offsets
    orders: Orders
    agreement: Array | None
    entries: int
    induction: Induction | None

    @property
    def documents(self) -> int:
        """Documents measured."""
        return len(self.distance)


def evidence(
    engine: Any,
    documents: Sequence[Document | Encoding],
    taken: Capture | None = None,
    stream: str | None = None,
    progress: Progress | None = None,
) -> Evidence:
    """Measure a model over documents.

    taken: the capture of these very documents with queries and keys, made here if None. stream: as in
    ``lib.capture.observe``, but not "cross".

    Raises what ``lib.capture.capture`` raises.
    """
    encodings = [one if isinstance(one, Encoding) else encode(one, engine) for one in documents]
    if taken is None:
        taken = capture(engine, encodings, keep=("query", "key"), progress=progress)
    taken = taken.streams[stream] if stream else taken
    image = encodings[0].grid is not None
    gaps, distance = np.empty((2, taken.documents, *taken.query.shape[:2]))
    for index in range(len(taken.layers)):
        if progress:
            progress(index, len(taken.layers), "comparing distance with attention")
        for head in range(taken.query.shape[1]):
            query, key = taken.query[index, head], taken.key[index, head]
            found = distance_agreement(query, key, taken.doc_offsets, taken.causal, taken.key_doc_offsets)
            distance[:, index, head] = found.per_document
            lengths = [np.linalg.norm(side, axis=1) for side in (query, key)]
            means = [
                np.add.reduceat(one, bounds[:-1]) / np.diff(bounds)
                for one, bounds in zip(lengths, (taken.doc_offsets, taken.key_doc_offsets), strict=True)
            ]
            gaps[:, index, head] = means[0] - means[1]
    agreement, entries = _agreement(engine, taken)
    return Evidence(
        engine.name, taken.causal, image, taken.layers, distance, gaps,
        offsets_of(engine, encodings, stream, progress),
        what_orders(taken, encodings if image else None, progress=progress),
        agreement, entries, _induction(engine, stream),
    )  # fmt: skip


def _agreement(engine: Any, taken: Capture) -> tuple[Array | None, int]:
    """Pearson correlation between the entries of W_Q and W_K of each head (layer, head), and how many entries."""
    try:
        weights = [engine.weights(layer, taken.stream) for layer in taken.layers]
    except WeightsUnknown:
        return None, 0
    pairs = [[(q.ravel(), k.ravel()) for q, k in zip(one.W_Q, one.W_K, strict=True)] for one in weights]
    found = np.array([[np.corrcoef(q, k)[0, 1] for q, k in layer] for layer in pairs])
    return found, pairs[0][0][0].size


def _induction(engine: Any, stream: str | None) -> Induction | None:
    try:
        return induction_of(engine, stream)
    except HeadlightError:
        return None
