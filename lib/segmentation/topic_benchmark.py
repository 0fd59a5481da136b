"""Topics in the benchmark: sentence vectors cut with the number of topics unknown and known, and baselines."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from lib.corpora import Document

from .errors import SegmentationError
from .gold import gold_documents
from .judging import Answer, Result, failures_at, judged
from .passes import Progress, counted
from .topic_baselines import TopicCutter, topic_methods
from .topics import FEATURES, cut_rows, kernel_rows
from .vectors import sentence_vectors
from .windows import read_tokens


def topic_results(source: str, engine: Any, limit: int | None = None, progress: Progress | None = None) -> list[Result]:
    """All topic methods on a source (see gold.gold_documents), as `topic_results_on` does it."""
    return topic_results_on(gold_documents(source, "topic")[:limit], source, engine, progress)


def topic_results_on(
    documents: Sequence[Document], corpus: str, engine: Any, progress: Progress | None = None
) -> list[Result]:
    """All topic methods on gold documents; gold sentences are given, and nothing is fitted to a gold topic.

    corpus: what they are called; progress: progress(done, total, stage), documents times steps; may raise to cancel.

    Raises SegmentationError where no document has two sentences.
    """
    documents = [d for d in documents if len(d.sentences) > 1]
    if not documents:
        raise SegmentationError("gold documents of two sentences or more", "none", "Choose another corpus.")
    start, vectors = time.perf_counter(), []
    steps = 2 * (len(FEATURES) + len(topic_methods()))  # reading, then every method twice but for one that is left out
    for number, d in enumerate(documents, 1):
        vectors.append(sentence_vectors(d.text, d.sentences, engine))
        if progress is not None:
            progress(number, steps * len(documents), f"reading with {engine.name}")
    reading = time.perf_counter() - start
    tokens = sum(len(read_tokens(d.text, engine)) for d in documents)
    methods: dict[str, tuple[TopicCutter, float]] = {}
    by_text = {tuple(_texts(d)): v for d, v in zip(documents, vectors, strict=True)}
    for features in FEATURES:
        if all(set(features.split("+")) <= set(v) for v in vectors):
            methods[f"{features.replace('+', ' + ')} change points"] = (_cutter(by_text, features), reading)
    methods |= {name: (cut, 0.0) for name, cut in topic_methods().items()}
    results: list[Result] = []
    for known in (False, True):
        for name, (cut, before) in methods.items():
            if known and name.startswith("TextTiling"):  # it takes no number
                continue
            step = counted(progress, (1 + len(results)) * len(documents), steps * len(documents))
            results.append(_judge(corpus, known, name, documents, cut, before, tokens, step))
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
    progress: Progress | None = None,
) -> Result:
    start, found = time.perf_counter(), []
    for number, d in enumerate(documents, 1):
        found.append(cut(_texts(d), len(d.topics) if known else None))
        if progress is not None:
            progress(number, len(documents), method)
    seconds = time.perf_counter() - start + reading
    answers, failures = [], []
    for document, cuts in zip(documents, found, strict=True):
        answer = Answer(first_sentences(document), cuts, len(document.sentences))
        ends = np.array([end for _, end in document.sentences])
        answers.append(answer)
        failures += failures_at(document.name, document.text, ends, answer.reference, answer.hypothesis)
    condition = "number of topics known" if known else "number of topics unknown"
    return judged(corpus, "topic", condition, method, answers, 1000 * seconds / tokens, failures)
