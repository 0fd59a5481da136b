"""Topics in the benchmark: sentence vectors cut with the number of topics unknown and known, and baselines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lib.corpora import Document

from .gold import gold_documents
from .judging import Answer, Result, failures_at, judged
from .topic_baselines import TopicCutter, topic_methods
from .topics import FEATURES, cut_rows, kernel_rows
from .vectors import sentence_vectors
from .windows import read_tokens


def topic_results(source: str, engine: Any, limit: int | None = None) -> list[Result]:
    """All topic methods on a source; gold sentences are given, and nothing is fitted to a gold topic."""
    documents = [d for d in gold_documents(source, "topic")[:limit] if len(d.sentences) > 1]
    start = time.perf_counter()
    vectors = [sentence_vectors(d.text, d.sentences, engine) for d in documents]
    reading = time.perf_counter() - start
    tokens = sum(len(read_tokens(d.text, engine)) for d in documents)
    methods: dict[str, tuple[TopicCutter, float]] = {}
    by_text = {tuple(_texts(d)): v for d, v in zip(documents, vectors, strict=True)}
    for features in FEATURES:
        if all(set(features.split("+")) <= set(v) for v in vectors):
            methods[f"{features.replace('+', ' + ')} change points"] = (_cutter(by_text, features), reading)
    methods |= {name: (cut, 0.0) for name, cut in topic_methods().items()}
    results = []
    for known in (False, True):
        for name, (cut, before) in methods.items():
            if not (known and name.startswith("TextTiling")):  # it takes no number
                results.append(_judge(Path(source).stem, known, name, documents, cut, before, tokens))
    return results


def _texts(document: Document) -> list[str]:
    return [document.text[a:b] for a, b in document.sentences]


def _cutter(vectors: dict[tuple[str, ...], dict[str, np.ndarray]], features: str) -> TopicCutter:
    def cut(sentences: Sequence[str], topics: int | None) -> np.ndarray:
        return cut_rows(kernel_rows(vectors[tuple(sentences)], features), topics).cuts

    return cut


def first_sentences(document: Document) -> np.ndarray:
    """First sentence of each gold topic but the first: int64 (topic − 1,)."""
    starts = [start for start, _ in document.sentences]
    return np.array([int(np.searchsorted(starts, start)) for start, _ in document.topics[1:]], dtype=np.int64)


def _judge(
    corpus: str,
    known: bool,
    method: str,
    documents: Sequence[Document],
    cut: TopicCutter,
    reading: float,
    tokens: int,
) -> Result:
    start = time.perf_counter()
    found = [cut(_texts(d), len(d.topics) if known else None) for d in documents]
    seconds = time.perf_counter() - start + reading
    answers, failures = [], []
    for document, cuts in zip(documents, found, strict=True):
        answer = Answer(first_sentences(document), cuts, len(document.sentences))
        ends = np.array([end for _, end in document.sentences])
        answers.append(answer)
        failures += failures_at(document.name, document.text, ends, answer.reference, answer.hypothesis)
    condition = "number of topics known" if known else "number of topics unknown"
    return judged(corpus, "topic", condition, method, answers, 1000 * seconds / tokens, failures)
