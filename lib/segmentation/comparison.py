"""All methods on one text whose boundaries may not be known: where each cuts, and how long it takes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.corpora.document import Span

from .passes import Progress
from .sentence_benchmark import sentence_methods
from .topic_baselines import topic_methods
from .topics import FEATURES, cut_rows, kernel_rows
from .vectors import sentence_vectors
from .windows import read_tokens


@dataclass(frozen=True)
class Timed:
    """Boundaries that a method found, character offsets, and its seconds per 1,000 tokens."""

    method: str
    boundaries: np.ndarray
    seconds: float


def every_cut(
    text: str, engine: Any, sentences: Sequence[Span] | None = None, progress: Progress | None = None
) -> list[Timed]:
    """What every method makes of a text.

    sentences: spans to make topics of; None cuts the text into sentences. progress: progress(done, total, stage),
    methods; may raise to cancel.
    """
    tokens = max(1, len(read_tokens(text, engine)))
    ways = _sentences(text, engine) if sentences is None else _topics(text, engine, sentences)
    some = sentences is None or len(sentences) > 1  # one sentence is one topic
    found = []
    for number, (name, work) in enumerate(ways.items(), 1):
        start = time.perf_counter()
        boundaries = work() if some else np.zeros(0, dtype=np.int64)
        found.append(Timed(name, boundaries, 1000 * (time.perf_counter() - start) / tokens))
        if progress is not None:
            progress(number, len(ways), name)
    return found


def _sentences(text: str, engine: Any) -> dict[str, Any]:
    return {name: lambda cut=cut: cut(text) for name, cut in sentence_methods(engine).items()}


def _topics(text: str, engine: Any, sentences: Sequence[Span]) -> dict[str, Any]:
    ends = np.array([end for _, end in sentences], dtype=np.int64)
    texts = [text[a:b] for a, b in sentences]

    def read(features: str) -> np.ndarray:
        vectors = sentence_vectors(text, sentences, engine, hidden="hidden" in features)
        kept = "+".join(name for name in features.split("+") if name in vectors) or "z"
        return ends[cut_rows(kernel_rows(vectors, kept)).cuts - 1]

    ways: dict[str, Any] = {
        f"{features.replace('+', ' + ')} change points": lambda features=features: read(features)
        for features in FEATURES
    }
    return ways | {name: lambda cut=cut: ends[cut(texts, None) - 1] for name, cut in topic_methods().items()}
