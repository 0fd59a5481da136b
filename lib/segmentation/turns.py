"""Speakers' turns in transcripts: the name and colon that open a turn belong to what is said after them.

A label is up to five words, the last of which ends with a colon, as in "Jonas:", "Dr. Osei:" and "Speaker 1:"; a time
such as "[00:12]" before it belongs to it. Two different labels that each recur make a text a transcript, if there are
enough of them for its length. Only labels that open a line or follow a finished sentence count, and where there are
capitals only those that do not begin with a small letter; in text that runs on, with hardly any line or sentence ended,
labels of one word count wherever they are.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from .surface import abbreviated, finished

CERTAIN = 30.0  # log-odds of what a label leaves no doubt about
_WORDS = 5  # of a label at most
_FLOWING = 60  # words that hold less than one line end or finished sentence, or less than one capital
_SPARSE = 250  # words that hold less than one label: no transcript
_INSIDE = tuple(".!?…,;:")  # no word of a label but the last ends so, abbreviations apart
_COLONS = (":", "：")
_TIME = re.compile(r"[\[(<]?\d{1,3}(:\d\d){1,2}([.,]\d{1,3})?[\])>]?$")


def turn_scores(text: str, words: Sequence[tuple[int, int]]) -> np.ndarray:
    """Log-odds to add to every gap between consecutive words: float64 (word − 1,), 0 where no label has a say.

    CERTAIN before a label, −CERTAIN within it and after it on its line. words: spans as of surface.words_between.

    >>> text = "Ann: It rained. Bo: Again? Ann: Yes. Bo: Oh."
    >>> spans = [(0, 4), (5, 7), (8, 15), (16, 19), (20, 26), (27, 31), (32, 36), (37, 40), (41, 44)]
    >>> (turn_scores(text, spans) / CERTAIN).astype(int).tolist()
    [-1, 0, 1, -1, 1, -1, 1, -1]
    """
    scores = np.zeros(max(0, len(words) - 1))
    pieces = [text[a:b] for a, b in words]
    lines = [True, *("\n" in text[a[1] : b[0]] for a, b in pairwise(words))][: len(pieces)]
    for first, last in _Script(pieces, lines).labels():
        if first and _TIME.match(pieces[first - 1]):
            first -= 1
        if first:
            scores[first - 1] = CERTAIN
        scores[first:last] = -CERTAIN
        if last < len(scores) and not lines[last + 1]:
            scores[last] = -CERTAIN
    return scores


@dataclass(frozen=True)
class _Script:
    """Words of a text, and whether each begins a line; a label is the numbers of its first and its last word."""

    pieces: Sequence[str]
    lines: Sequence[bool]

    def labels(self) -> list[tuple[int, int]]:
        """Every label, in order; none where the text is no transcript."""
        ends = [i for i, piece in enumerate(self.pieces) if piece.endswith(_COLONS) and any(map(str.isalnum, piece))]
        sure = frozenset(
            self.phrase(first, i) for i in ends for first in self.openings(i) if not self.after_title(first)
        )
        found = [(first, i) for i in ends if (first := self.known(i, sure)) is not None]
        labels = _recurring(found, self.phrase)
        if not labels and self.flows():
            labels = _recurring([(i - self.after_title(i), i) for i in ends], self.phrase)
        return labels if len(labels) * _SPARSE >= len(self.pieces) else []

    def opens(self, word: int) -> bool:
        """Whether a word begins the text, a line, or what follows a finished sentence or a time."""
        before = self.pieces[word - 1] if word else ""
        return self.lines[word] or finished(before) or _TIME.match(before) is not None

    def after_title(self, word: int) -> bool:
        """Whether an abbreviation stands before a word, which may belong to a name."""
        return word > 0 and not self.lines[word] and abbreviated(self.pieces[word - 1])

    def openings(self, last: int) -> Iterator[int]:
        """Words at which a label that ends there can begin, nearest first."""
        for first in range(last, max(-1, last - _WORDS), -1):
            inner = self.pieces[first]
            if first < last and (self.lines[first + 1] or (inner.endswith(_INSIDE) and not abbreviated(inner))):
                return
            if self.opens(first) and not (self.cased and inner[:1].islower()):
                yield first

    def known(self, last: int, phrases: frozenset[str]) -> int | None:
        """The first word of a label among these phrases that ends there."""
        return next((first for first in self.openings(last) if self.phrase(first, last) in phrases), None)

    def phrase(self, first: int, last: int) -> str:
        """The words of a label."""
        return " ".join(self.pieces[first : last + 1]).casefold()

    @cached_property
    def cased(self) -> bool:
        """Whether there are capitals."""
        return sum(piece[:1].isupper() for piece in self.pieces) * _FLOWING >= len(self.pieces)

    def flows(self) -> bool:
        """Whether hardly a line or a sentence ends."""
        ended = sum(self.opens(i) and not self.after_title(i) for i in range(1, len(self.pieces)))
        return ended * _FLOWING < len(self.pieces)


def _recurring(labels: Iterable[tuple[int, int]], phrase: Callable[[int, int], str]) -> list[tuple[int, int]]:
    """Those whose phrase comes again, if there are two such phrases."""
    told = [(phrase(*label), label) for label in labels]
    times = Counter(name for name, _ in told)
    again = [label for name, label in told if times[name] > 1]
    return again if len({phrase(*label) for label in again}) > 1 else []
