"""Which different tokens a head makes alike ("bank" with "account"): PMI over a corpus, and a rate across documents.

PMI needs the same pair often; the rate is the honest summary of a head, since it is measured in one document and
predicted from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import joblib
import numpy as np
import pandas as pd

from .document import DocumentStatistics

Array = np.ndarray
MINIMUM_ELSEWHERE = 5  # pairs of two tokens in the other documents, below which no rate is formed


def cooccurrence(documents: Sequence[DocumentStatistics], n_labels: int) -> tuple[Array, Array]:
    """How often a pair of different tokens selected in one document is selected in the others, and its chance.

    For each pair of labels u ≠ v the rate in the other documents is selected(u, v) ÷ present(u, v), taken as 0 with
    fewer than ``MINIMUM_ELSEWHERE`` present. The value of a document is the mean rate over its selected pairs, its
    chance value the mean over all its pairs: what any selection that ignores the vectors would give in expectation,
    since the rates come from elsewhere (units without a
    cosine included). Returns two arrays (document, head), NaN with fewer than two documents.

    **Source**: ours; Halevi et al., arXiv 2512.21956, describe co-occurrence by examples only.
    """
    n_heads = len(documents[0].selected)
    if len(documents) < 2 or n_labels == 0:
        return np.full((2, len(documents), n_heads), np.nan)
    present = label_counts(documents, n_labels)  # (label, document)
    pairs = np.array([document.pairs for document in documents], dtype=np.float64)
    rows = links_of(documents)
    starts = np.searchsorted(rows["head"], np.arange(n_heads + 1))
    jobs = (
        joblib.delayed(_head_rate)({name: column[a:b] for name, column in rows.items()}, present, n_labels)
        for a, b in pairwise(starts)
    )
    sums = np.array(joblib.Parallel(n_jobs=-1, prefer="threads")(jobs))  # (head, 2, document)
    selected = np.stack([document.selected for document in documents])  # (document, head)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(selected > 0, sums[:, 0].T / selected, np.nan), np.where(
            selected > 0, sums[:, 1].T / pairs[:, None], np.nan
        )


def label_counts(documents: Sequence[DocumentStatistics], n_labels: int) -> Array:
    """How often each label occurs in each document: float32 (label, document)."""
    present = np.zeros((n_labels, len(documents)), dtype=np.float32)
    for index, document in enumerate(documents):
        present[document.labels, index] = document.counts
    return present


def links_of(documents: Sequence[DocumentStatistics]) -> dict[str, Array]:
    """The selected pairs of labels of all documents, sorted by head: columns head, document, first, second, weight.

    first, second: labels with first ≤ second.
    """
    sizes = [len(document.links.head) for document in documents]
    head = np.concatenate([document.links.head for document in documents])
    order = np.argsort(head, kind="stable")
    columns = {
        "head": head,
        "document": np.repeat(np.arange(len(documents)), sizes),
        "first": np.concatenate([document.labels[document.links.first] for document in documents]),
        "second": np.concatenate([document.labels[document.links.second] for document in documents]),
        "weight": np.concatenate([document.links.weight for document in documents]),
    }
    return {name: column[order] for name, column in columns.items()}


def _head_rate(rows: dict[str, Array], present: Array, n_labels: int) -> tuple[Array, Array]:
    """Summed rates of one head over its selected pairs, and over all pairs, of every document."""
    n_documents = present.shape[1]
    different = rows["first"] != rows["second"]
    document, weight = rows["document"][different], rows["weight"][different]
    keys = rows["first"][different].astype(np.int64) * n_labels + rows["second"][different]
    unique, inverse = np.unique(keys, return_inverse=True)
    one, two = np.divmod(unique, n_labels)
    there = present[one] * present[two]  # (key, document) pairs of the two labels
    elsewhere = there.sum(axis=1, keepdims=True) - there
    useful = (elsewhere >= MINIMUM_ELSEWHERE) & (there > 0)
    mine = np.bincount(inverse * n_documents + document, weight, minlength=there.size).reshape(there.shape)
    others = mine.sum(axis=1, keepdims=True) - mine
    rate = np.divide(others, elsewhere, out=np.zeros(there.shape), where=useful)
    seen = np.bincount(document, weight * rate[inverse, document], minlength=n_documents)
    return seen, (rate * there).sum(axis=0)


def pmi(measured: Any, layer: int, head: int, minimum: int = 3, spread: int = 2) -> pd.DataFrame:
    """Token pairs of one head by pointwise mutual information, pooled over documents.

    PMI(u, v) = ln[(c_sel(u, v)/n_sel)/(c_pair(u, v)/n_pair)] over pairs i < j of different tokens; n_sel and n_pair
    count such pairs, selected and all. layer: true layer number. minimum, spread: selected pairs, and documents with
    one, below which a PMI is noise and is left out (a corpus of one document has spread 1). Columns first, second,
    selected, present, documents, pmi, sorted by pmi. Raises SimilarityError for a head that was not measured.
    """
    rows = head_links(measured, layer, head)
    present = label_counts(measured.documents, len(measured.names))
    different = rows["first"] != rows["second"]
    n_sel = rows["weight"][different].sum()
    totals = present.sum(axis=0, dtype=np.float64)
    n_pair = ((totals**2 - (present.astype(np.float64) ** 2).sum(axis=0)) / 2).sum()
    unique, inverse = np.unique(np.stack([rows["first"], rows["second"]])[:, different], axis=1, return_inverse=True)
    selected = np.bincount(inverse.ravel(), rows["weight"][different], minlength=unique.shape[1])
    there = (present[unique[0]].astype(np.float64) * present[unique[1]]).sum(axis=1)
    documents = np.bincount(inverse.ravel(), minlength=unique.shape[1])
    enough = (selected >= minimum - 1e-6) & (documents >= min(spread, len(measured.documents)))
    frame = pd.DataFrame(
        {
            "first": [measured.names[label] for label in unique[0][enough]],
            "second": [measured.names[label] for label in unique[1][enough]],
            "selected": selected[enough],
            "present": there[enough].astype(int),
            "documents": documents[enough],
            "pmi": np.log((selected[enough] / n_sel) / (there[enough] / n_pair)),
        }
    )
    return frame.sort_values(["pmi", "selected"], ascending=False, kind="stable", ignore_index=True)


def head_links(measured: Any, layer: int, head: int) -> dict[str, Array]:
    """The selected pairs of labels of one head; raises SimilarityError for a head that was not measured."""
    row = measured.row(layer, head)
    rows = links_of(measured.documents)
    start, stop = np.searchsorted(rows["head"], [row, row + 1])
    return {name: column[start:stop] for name, column in rows.items()}
