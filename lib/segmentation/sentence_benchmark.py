"""Sentences in the benchmark: shipped calibrations on documents they have not seen, or fitted anew per fold."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lib.corpora import Document

from .baselines import available
from .conditions import CONDITIONS, under
from .crossval import Judged, Prepared, fit_heads, judge_heads, judge_trees, prepared
from .errors import SegmentationError
from .gold import digests, gold_documents
from .judging import Answer, Failure, Result, failures_at, judged
from .positions import boundaries_of, gaps_at
from .segment import segment
from .sentences import calibrated, segment_by_signal
from .windows import Tokens, read_tokens

Cut = Callable[[str], np.ndarray]
USUAL = 15.0  # words of a sentence, for baselines that know nothing else


def sentence_results(source: str, engine: Any, conditions: Sequence[str], limit: int | None = None) -> list[Result]:
    """All methods on a source, documents that the calibrations have seen left out.

    Raises SegmentationError where that leaves none.
    """
    documents = gold_documents(source)[:limit]
    known: set[str] = set()
    for condition in conditions:
        for calibration in (calibrated(engine, condition), calibrated(None, condition)):
            known |= calibration.documents if calibration else frozenset()
    unseen = [d for d, digest in zip(documents, digests(documents), strict=True) if digest not in known]
    if not unseen:
        raise SegmentationError(
            "gold documents that no calibration has seen",
            f"{source!r}, all of whose {len(documents)} documents were used to calibrate",
            "Use --cross-validate, which fits anew without each document's fold.",
        )
    results = []
    for condition in conditions:
        changed = [under(document, condition) for document in unseen]
        tokens = [read_tokens(document.text, engine) for document in changed]
        for name, cut in _methods(engine, changed).items():
            results.append(_judge(_title(source), condition, name, changed, tokens, cut))
    return results


def _methods(engine: Any, documents: Sequence[Document]) -> dict[str, Cut]:
    methods: dict[str, Cut] = {
        "attention with surface cues": lambda text: segment(text, engine).boundaries,
        "attention alone": lambda text: segment(text, engine, surface=False).boundaries,
        "surface cues alone": lambda text: segment(text, None).boundaries,
    }
    if any(len(d.text) for d in documents) and not engine.causal:
        methods["attention to [SEP], last layer, untrained"] = lambda text: segment_by_signal(text, engine).boundaries
    return methods | available(1 / USUAL)


def _title(source: str) -> str:
    return Path(source).stem


def _judge(
    corpus: str, condition: str, method: str, documents: Sequence[Document], tokens: Sequence[Tokens], cut: Cut
) -> Result:
    start = time.perf_counter()
    found = [cut(document.text) for document in documents]
    seconds = time.perf_counter() - start
    answers, failures = [], []
    for document, own, boundaries in zip(documents, tokens, found, strict=True):
        positions = gaps_at(boundaries, own.end) + 1
        answers.append(_answer(document, own, positions))
        failures += _failures(document, own, answers[-1])
    rate = 1000 * seconds / max(1, sum(map(len, tokens)))
    return judged(corpus, "sentence", CONDITIONS[condition][0], method, answers, rate, failures)


def _answer(document: Document, tokens: Tokens, positions: np.ndarray) -> Answer:
    return Answer(gaps_at(boundaries_of(document.sentences), tokens.end) + 1, positions, max(1, len(tokens)))


def _failures(document: Document, tokens: Tokens, answer: Answer) -> list[Failure]:
    return failures_at(document.name, document.text, tokens.end, answer.reference, answer.hypothesis)


def cross_validated(source: str, engine: Any, conditions: Sequence[str], limit: int | None = None) -> list[Result]:
    """All methods on a source; calibrated ones are fitted without the fold they are judged on."""
    documents = gold_documents(source)[:limit]
    results = []
    for condition in conditions:
        changed = [under(document, condition) for document in documents]
        data = prepared(changed, engine)
        heads = fit_heads(engine, data)
        for name, judge in (
            ("attention with surface cues", judge_trees(data, heads)),
            ("attention alone", judge_heads(data, heads)),
            ("surface cues alone", judge_trees(data, None)),
        ):
            results.append(_from_folds(_title(source), condition, name, changed, data, judge))
        for name, cut in available(1 / USUAL).items():
            results.append(_judge(_title(source), condition, name, changed, data.tokens, cut))
    return results


def _from_folds(
    corpus: str, condition: str, method: str, documents: Sequence[Document], data: Prepared, judge: Judged
) -> Result:
    answers, failures = [], []
    for document, own, found in zip(documents, data.tokens, judge.found, strict=True):
        answers.append(_answer(document, own, np.flatnonzero(found) + 1))
        failures += _failures(document, own, answers[-1])
    return judged(corpus, "sentence", CONDITIONS[condition][0], method, answers, failures=failures)
