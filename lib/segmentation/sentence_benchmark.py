"""Sentences in the benchmark: shipped calibrations on documents they have not seen, or fitted anew per fold."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lib.corpora import Document
from lib.numerals import plural

from .baselines import available
from .conditions import CONDITIONS, under
from .crossval import Judged, Prepared, fit_heads, judge_heads, judge_trees, prepared
from .errors import SegmentationError
from .gold import digests, gold_documents
from .judging import Answer, Failure, Result, failures_at, judged
from .passes import Progress, counted
from .positions import boundaries_of, gaps_at
from .segment import segment
from .sentences import STRENGTHS, SURFACE_ALONE, calibrated
from .untrained import segment_by_signal, signals_there
from .windows import Tokens, read_tokens

Cut = Callable[[str], np.ndarray]
USUAL = 15.0  # words of a sentence, for baselines that know nothing else


def sentence_results(
    source: str,
    engine: Any,
    conditions: Sequence[str],
    limit: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """All methods on a source (see gold.gold_documents), as `sentence_results_on` does it."""
    return sentence_results_on(gold_documents(source)[:limit], source, engine, conditions, progress)


def sentence_results_on(
    documents: Sequence[Document],
    corpus: str,
    engine: Any,
    conditions: Sequence[str],
    progress: Progress | None = None,
) -> list[Result]:
    """All methods on gold documents, those that the calibrations have seen left out.

    corpus: what they are called; progress: progress(done, total, stage), documents times methods; may raise to cancel.

    Raises SegmentationError where that leaves none, or a condition leaves no boundary.
    """
    known: set[str] = set()
    for condition in conditions:
        for calibration in (calibrated(engine, condition), calibrated(None, condition)):
            known |= calibration.documents if calibration else frozenset()
    unseen = [d for d, digest in zip(documents, digests(documents), strict=True) if digest not in known]
    if not unseen:
        raise SegmentationError(
            "gold documents that no calibration has seen",
            f"{corpus!r}, all of it used to calibrate ({plural(len(documents), 'document')})",
            "On the command line, --cross-validate fits anew without each document's fold.",
        )
    _require_boundaries(unseen, corpus, conditions)
    methods = sentence_methods(engine)
    every = [(condition, name, cut) for condition in conditions for name, cut in methods.items()]
    results = []
    for number, (condition, name, cut) in enumerate(every):
        changed = [under(document, condition) for document in unseen]
        tokens = [read_tokens(document.text, engine) for document in changed]
        step = counted(progress, number * len(unseen), len(every) * len(unseen))
        results.append(_judge(corpus, condition, name, changed, tokens, cut, step))
    return results


def _require_boundaries(documents: Sequence[Document], corpus: str, conditions: Sequence[str]) -> None:
    """Raise SegmentationError where a condition leaves no boundary: everything that cuts nothing would be perfect."""
    for condition in conditions:
        if not any(len(under(document, condition).sentences) > 1 for document in documents):
            raise SegmentationError(
                f"at least one sentence boundary, {CONDITIONS[condition][0]}",
                f"{corpus!r}, of whose documents nothing is left to cut",
                "Leave this condition out, or choose another corpus.",
            )


def sentence_methods(engine: Any) -> dict[str, Cut]:
    """Everything that can cut sentences here, by name: the product's own ways first, then baselines."""
    methods: dict[str, Cut] = {}
    if calibrated(engine, "written") is not None:
        methods[STRENGTHS["surface"]] = lambda text: segment(text, engine).boundaries
        methods[STRENGTHS["heads"]] = lambda text: segment(text, engine, surface=False).boundaries
    methods[SURFACE_ALONE] = lambda text: segment(text, None).boundaries
    if "to_last" in signals_there(engine):
        methods["attention to [SEP], last layer, untrained"] = lambda text: _by(text, engine, "to_last", None)
    methods["dissimilarity of z, all heads, untrained"] = lambda text: _by(text, engine, "z_cosine_4", -1)
    return methods | available(1 / USUAL)


def _by(text: str, engine: Any, signal: str, layer: int | None) -> np.ndarray:
    return segment_by_signal(text, engine, signal, layer).boundaries


def _judge(
    corpus: str,
    condition: str,
    method: str,
    documents: Sequence[Document],
    tokens: Sequence[Tokens],
    cut: Cut,
    progress: Progress | None = None,
) -> Result:
    start, found = time.perf_counter(), []
    for number, document in enumerate(documents, 1):
        found.append(cut(document.text))
        if progress is not None:
            progress(number, len(documents), f"{method}, {CONDITIONS[condition][0]}")
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


def cross_validated(
    source: str,
    engine: Any,
    conditions: Sequence[str],
    limit: int | None = None,
    progress: Progress | None = None,
) -> list[Result]:
    """All methods on a source; calibrated ones are fitted without the fold they are judged on.

    progress: progress(done, total, stage), anew for each condition and stage; may raise to cancel.
    """
    documents = gold_documents(source)[:limit]
    results = []
    for condition in conditions:
        changed = [under(document, condition) for document in documents]
        data = prepared(changed, engine)
        heads = fit_heads(engine, data, progress=progress)
        for name, judge in (
            (STRENGTHS["surface"], judge_trees(data, heads)),
            (STRENGTHS["heads"], judge_heads(data, heads)),
            (SURFACE_ALONE, judge_trees(data, None)),
        ):
            results.append(_from_folds(source, condition, name, changed, data, judge))
        for name, cut in available(1 / USUAL).items():
            results.append(_judge(source, condition, name, changed, data.tokens, cut, progress))
    return results


def _from_folds(
    corpus: str, condition: str, method: str, documents: Sequence[Document], data: Prepared, judge: Judged
) -> Result:
    answers, failures = [], []
    for document, own, found in zip(documents, data.tokens, judge.found, strict=True):
        answers.append(_answer(document, own, np.flatnonzero(found) + 1))
        failures += _failures(document, own, answers[-1])
    return judged(corpus, "sentence", CONDITIONS[condition][0], method, answers, failures=failures)
