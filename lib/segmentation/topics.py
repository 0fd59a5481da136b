"""Topics: change points of sentence vectors, their number chosen without looking at an answer.

The kernel is a sum of cosine kernels (half of that of z, and that of the hidden state where it is used), centred over
the text. Its leading eigenvectors, each times the root of its eigenvalue, rows scaled to length 1, are cut by dynamic
programming; their number is chosen by what as many segments gain on shuffled sentences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh

from lib.corpora import sentence_spans
from lib.corpora.document import Span
from lib.corpora.sentences import spans_between

from .changepoints import LONGEST, STRETCH, Gains, best_cut, chosen_number, cut_into, segment_gains
from .conditions import recognise
from .errors import SegmentationError
from .naming import distinctive_words
from .passes import Progress
from .segmentation import Segmentation
from .sentences import cut_sentences
from .vectors import sentence_vectors

SHORTEST = 3  # sentences of a topic
TABLE = 20_000_000  # segments whose scores are held at most
DIMENSIONS = 12  # eigenvectors of the kernel
FEATURES = ("z+hidden", "z", "hidden")
SHARE = {"z": 0.5}  # of a kernel in their sum, 1 where none is told: z alone tells topics less well


@dataclass(frozen=True)
class TopicCut:
    """First sentences of all topics but the first; posterior of a boundary before each sentence but the first."""

    cuts: np.ndarray
    posterior: np.ndarray


def kernel_rows(vectors: Mapping[str, np.ndarray], features: str = "z+hidden", dimensions: int = DIMENSIONS):
    """Rows whose products are the similarity of sentences: float64 (sentence, dimension), of length 1.

    vectors: as of sentence_vectors; features: which of them are used, one of FEATURES; dimensions: eigenvectors kept.
    A sentence without any direction of its own has a zero row.

    **Source** rows of leading eigenvectors scaled to length 1: Ng, Jordan & Weiss, NIPS 2001; eigenvectors keep their
    weight here, which did better on every corpus tried.
    """
    parts = []
    for name in features.split("+"):
        if name in vectors:
            centred = vectors[name].astype(np.float64) - vectors[name].mean(axis=0, dtype=np.float64)
            parts.append(np.sqrt(SHARE.get(name, 1.0)) * _unit(centred))
    if not parts:
        raise SegmentationError(
            f"sentence vectors named {features}", f"{', '.join(vectors)}", "Choose z: every model has it."
        )
    joined = np.concatenate(parts, axis=1)
    kept = min(dimensions, *joined.shape)
    n, width = joined.shape
    if n <= width:
        values, vectors = eigh(joined @ joined.T, subset_by_index=(n - kept, n - 1))
        return _unit(vectors * np.sqrt(np.maximum(values, 0.0)))
    _, axes = eigh(joined.T @ joined, subset_by_index=(width - kept, width - 1))
    return _unit(joined @ axes)


def _unit(rows: np.ndarray) -> np.ndarray:
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-12)


def cut_rows(
    rows: np.ndarray,
    segments: int | None = None,
    shortest: int = SHORTEST,
    seed: int = 0,
    progress: Progress | None = None,
) -> TopicCut:
    """Cut rows (sentence, dimension) into topics; segments None: their number is chosen (see chosen_number).

    progress: progress(done, total, stage), anew for each stage; may raise to cancel.
    """
    n = len(rows)
    if n < 2:
        return TopicCut(np.zeros(0, dtype=np.int64), np.zeros(max(0, n - 1)))
    if segments is not None and segments * shortest > n:
        shortest = max(1, n // segments)
    longest = LONGEST if segments is None else min(max(LONGEST, 3 * n // segments), max(LONGEST, TABLE // n))
    gains = segment_gains(rows, shortest, longest)
    chosen = chosen_number(rows, shortest, seed=seed, progress=progress)
    usable = chosen.penalty > 1e-9  # else all sentences are alike, or too few
    if segments is not None:
        cuts = cut_into(gains, segments, progress) if segments > 1 else np.zeros(0, dtype=np.int64)
    elif usable:
        cuts = cut_into(gains, chosen.segments) if n <= STRETCH else best_cut(gains, chosen.penalty)
    else:
        cuts = np.zeros(0, dtype=np.int64)
    return TopicCut(cuts, boundary_posterior(gains, chosen.penalty) if usable else np.zeros(n - 1))


def boundary_posterior(gains: Gains, penalty: float, sharpness: float = 10.0) -> np.ndarray:
    """Share of all cuts of a text that have a boundary before each unit but the first: (unit − 1,).

    Cuts are weighed by exp(sharpness · (Σ score − penalty · segments) / penalty), so that the best cut counts most and
    a boundary that can as well be left out, or lie elsewhere, counts little. Computed by forward and backward sums.
    """
    n, longest = gains.table.shape
    logs = sharpness * (gains.table - penalty) / penalty
    forward, backward = np.full(n + 1, -np.inf), np.full(n + 1, -np.inf)
    forward[0] = backward[n] = 0.0
    for end in range(1, n + 1):
        starts = np.arange(max(0, end - longest), end)
        forward[end] = _log_sum(forward[starts] + logs[starts, end - starts - 1])
    for start in range(n - 1, -1, -1):
        length = np.arange(1, min(longest, n - start) + 1)
        backward[start] = _log_sum(logs[start, length - 1] + backward[start + length])
    if not np.isfinite(forward[n]):
        return np.zeros(n - 1)
    return np.exp(np.minimum(0.0, forward[1:n] + backward[1:n] - forward[n]))


def _log_sum(logs: np.ndarray) -> float:
    """log Σ exp of (part,) without overflow; scipy's own costs ten times as much on parts as short as these."""
    most = logs.max()
    return float(most + np.log(np.exp(logs - most).sum())) if most > -np.inf else -np.inf


def cut_topics(
    text: str,
    engine: Any,
    segments: int | None = None,
    sentences: Sequence[Span] | None = None,
    features: str = "z+hidden",
    progress: Progress | None = None,
) -> Segmentation:
    """Topics of a text. See `segment`; sentences not given are found by rule, or by the heads without punctuation."""
    notes: tuple[str, ...] = ()
    if progress is not None:
        progress(0, 1, "finding sentences")
    if sentences is None:
        if recognise(text) in ("written", "lowered"):
            sentences = sentence_spans(text)
        else:
            sentences = cut_sentences(text, engine, None, surface=True, progress=progress).segments
            notes = ("Sentences were found by attention first: there is too little punctuation.",)
    if segments is not None and not 1 <= segments <= max(1, len(sentences)):
        raise SegmentationError(
            f"1 … {max(1, len(sentences))} topics of a text of so many sentences",
            f"{segments}",
            "Ask for a number in this range: a topic has one sentence at least.",
        )
    gaps = np.array([end for _, end in sentences[:-1]], dtype=np.int64)
    method = f"change points of {features.replace('+', ' + ')} per sentence"
    if len(sentences) < 2:
        notes = ("One sentence is one topic.",)
        return Segmentation(text, "topic", gaps, np.zeros(len(gaps)), [], 0.5, "nothing to cut", notes=notes)
    vectors = sentence_vectors(text, sentences, engine, hidden="hidden" in features, progress=progress)
    if "hidden" in features and "hidden" not in vectors:
        notes += (f"{engine.name} tells no hidden state: z alone was used.",)
        features = "z"
    found = cut_rows(kernel_rows(vectors, features), segments, progress=progress)
    boundaries = gaps[found.cuts - 1]
    if not len(boundaries) and segments is None:
        notes += ("No change of topic was found.",)
    names = topic_names(text, boundaries)
    return Segmentation(text, "topic", gaps, found.posterior, boundaries, float("nan"), method, names, notes)


def topic_names(text: str, boundaries: Sequence[int]) -> tuple[str, ...]:
    """Distinctive words of each topic between boundaries (offsets); () where a text is of one topic only."""
    return distinctive_words([text[a:b] for a, b in spans_between(text, boundaries)]) if len(boundaries) else ()
