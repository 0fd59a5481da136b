"""Judging a method on many documents: scores per document, pooled, with intervals over documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from lib.stats import Interval, bootstrap_mean

from .metrics import boundary_scores, boundary_similarity, pk, window_diff

AROUND = 40  # characters shown on either side of a failure


@dataclass(frozen=True)
class Failure:
    """A boundary that was missed, or found where there is none, with the text on either side."""

    kind: str
    document: str
    before: str
    after: str


@dataclass(frozen=True)
class Answer:
    """Reference and hypothesis of one document as positions in a text of ``length`` units."""

    reference: np.ndarray
    hypothesis: np.ndarray
    length: int


@dataclass(frozen=True)
class Result:
    """A method on a corpus under one condition; intervals are 95 %, over documents.

    precision, recall, f1, f1_near  pooled over documents (near: within one unit); pk, window_diff, similarity  means
    over documents of at least two units; seconds  per 1,000 tokens, NaN where not timed.
    """

    corpus: str
    granularity: str
    condition: str
    method: str
    documents: int
    boundaries: int
    precision: Interval
    recall: Interval
    f1: Interval
    f1_near: Interval
    pk: Interval
    window_diff: Interval
    similarity: Interval
    seconds: float = float("nan")
    failures: tuple[Failure, ...] = field(default=(), repr=False)

    SCORES = ("f1", "precision", "recall", "f1_near", "pk", "window_diff", "similarity")

    def row(self) -> dict[str, object]:
        """Plain numbers: every score with its interval."""
        row: dict[str, object] = {
            name: getattr(self, name)
            for name in ("corpus", "granularity", "condition", "method", "documents", "boundaries")
        }
        for name in self.SCORES:
            interval = getattr(self, name)
            row |= {name: float(interval.estimate), f"{name}_low": float(interval.low)}
            row[f"{name}_high"] = float(interval.high)
        return row | {"seconds_per_1000_tokens": self.seconds}

    @staticmethod
    def header() -> str:
        """Titles of the columns of `line`."""
        return f"{'F1 [95 %]':>20}{'P':>7}{'R':>7}{'F1 ±1':>7}{'Pk [95 %]':>20}{'WD':>7}{'B':>7}{'s/1000':>8}"

    def line(self) -> str:
        """The scores in one line."""

        def with_interval(i: Interval) -> str:
            return f"{known(i.estimate)} [{known(i.low)} {known(i.high)}]"

        def known(value: float) -> str:
            return "–" if np.isnan(value) else f"{value:.3f}"

        plain = (known(float(getattr(self, n).estimate)) for n in ("precision", "recall", "f1_near"))
        rest = (known(float(getattr(self, n).estimate)) for n in ("window_diff", "similarity"))
        timed = "–" if np.isnan(self.seconds) else f"{self.seconds:.2f}"
        return (
            f"{with_interval(self.f1):>20}{''.join(f'{x:>7}' for x in plain)}{with_interval(self.pk):>20}"
            f"{''.join(f'{x:>7}' for x in rest)}{timed:>8}"
        )


def judged(
    corpus: str,
    granularity: str,
    condition: str,
    method: str,
    answers: Sequence[Answer],
    seconds: float = float("nan"),
    failures: Sequence[Failure] = (),
) -> Result:
    """Scores of a method's answers, one per document."""
    exact = [boundary_scores(a.reference, a.hypothesis) for a in answers]
    near = [boundary_scores(a.reference, a.hypothesis, tolerance=1) for a in answers]
    found, gold = (np.array([getattr(s, side) for s in exact], float) for side in ("hypothesis", "reference"))

    def pooled(scores: Sequence[object], name: str, weights: np.ndarray) -> Interval:
        if not weights.sum():  # nothing found: precision is told as 0
            weights = np.ones(len(weights))
        return bootstrap_mean(np.array([getattr(s, name) for s in scores], float), weights)

    long = [a for a in answers if a.length > 1]

    def mean(metric: object) -> Interval:
        return bootstrap_mean(np.array([metric(a.reference, a.hypothesis, a.length) for a in long] or [np.nan]))

    return Result(
        corpus,
        granularity,
        condition,
        method,
        len(answers),
        int(gold.sum()),
        precision=pooled(exact, "precision", found),
        recall=pooled(exact, "recall", gold),
        f1=pooled(exact, "f1", found + gold),
        f1_near=pooled(near, "f1", found + gold),
        pk=mean(pk),
        window_diff=mean(window_diff),
        similarity=mean(boundary_similarity),
        seconds=seconds,
        failures=tuple(failures),
    )


def failures_at(
    name: str, text: str, ends: np.ndarray, reference: np.ndarray, hypothesis: np.ndarray, most: int = 20
) -> list[Failure]:
    """Missed and false boundaries of one document, in its order; ends: (unit,) offsets at which units end."""
    failures = []
    for kind, positions in (
        ("missed", np.setdiff1d(reference, hypothesis)),
        ("false", np.setdiff1d(hypothesis, reference)),
    ):
        for position in positions[:most]:
            offset = int(ends[position - 1])
            failures.append(Failure(kind, name, *_around(text, offset)))
    return failures


def _around(text: str, offset: int) -> tuple[str, str]:
    """What stands before and after a place, up to 40 characters of whole words where they have room.

    >>> _around("unforeseeable circumstances of every kind. Nobody had foreseen the circumstances entirely", 42)
    ('circumstances of every kind.', 'Nobody had foreseen the circumstances')
    """
    first, last = max(0, offset - AROUND), min(len(text), offset + AROUND)
    before, after = text[first:offset], text[offset:last]
    if first and not (text[first - 1].isspace() or before[:1].isspace()):
        before = before.split(maxsplit=1)[-1] if before.strip() else before
    if last < len(text) and not (text[last].isspace() or after[-1:].isspace()):
        after = after.rsplit(maxsplit=1)[0] if after.strip() else after
    return " ".join(before.split()), " ".join(after.split())
