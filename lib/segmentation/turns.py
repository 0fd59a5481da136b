"""Speakers' turns in transcripts: the name and colon that open a turn belong to what is said after them.

A label is up to three words, the last of which ends with a colon, as in "Jonas:", "Dr. Osei:" and "Speaker 1:". Two
different labels that each recur make a text a transcript. Only labels that open a line or follow a finished sentence
count; where a text has hardly any of either, labels of one word count wherever they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from .surface import abbreviated, finished

CERTAIN = 30.0  # log-odds of what a label leaves no doubt about
_WORDS = 3  # of a label at most
_FLOWING = 60  # words that hold less than one line end or finished sentence
_INSIDE = tuple(".!?…,;:")  # no word of a label but the last ends so, abbreviations apart


def turn_scores(text: str, words: Sequence[tuple[int, int]]) -> np.ndarray:
    """Log-odds to add to every gap between consecutive words: float64 (word − 1,), 0 where no label has a say.

    CERTAIN before a label, −CERTAIN within and after it. words: spans as of surface.words_between.

    >>> text = "Ann: It rained. Bo: Again? Ann: Yes. Bo: Oh."
    >>> spans = [(0, 4), (5, 7), (8, 15), (16, 19), (20, 26), (27, 31), (32, 36), (37, 40), (41, 44)]
    >>> (turn_scores(text, spans) / CERTAIN).astype(int).tolist()
    [-1, 0, 1, -1, 1, -1, 1, -1]
    """
    scores = np.zeros(max(0, len(words) - 1))
    pieces = [text[a:b] for a, b in words]
    for first, last in _labels(pieces, _openings(text, words, pieces)):
        if first:
            scores[first - 1] = CERTAIN
        scores[first:last] = -CERTAIN
        if last < len(scores):
            scores[last] = -CERTAIN
    return scores


def _openings(text: str, words: Sequence[tuple[int, int]], pieces: Sequence[str]) -> list[bool]:
    """Of each word, whether it begins the text, a line, or what follows a finished sentence."""
    before = [True, *(finished(piece) for piece in pieces[:-1])]
    lines = [True, *("\n" in text[a[1] : b[0]] for a, b in pairwise(words))]
    return [mark or line for mark, line in zip(before, lines, strict=True)][: len(pieces)]


def _labels(pieces: Sequence[str], opens: Sequence[bool]) -> list[tuple[int, int]]:
    """First and last word of every label, in order; none where the text is no transcript."""
    ends = [i for i, piece in enumerate(pieces) if piece.endswith(":") and any(map(str.isalnum, piece))]
    opened = {i: first for i in ends if (first := _first(pieces, opens, i)) is not None}
    sure = frozenset(_phrase(pieces, first, i) for i, first in opened.items())
    found = [(first, i) for i in ends if (first := _known(pieces, opens, i, sure)) is not None]
    known = _recurring(_phrase(pieces, *label) for label in found)
    ended = sum(new and not abbreviated(before) for before, new in zip(pieces, opens[1:], strict=False))
    if len(known) < 2 and ended * _FLOWING < len(pieces):
        found = [(i - bool(i and abbreviated(pieces[i - 1])), i) for i in ends]
        known = _recurring(_phrase(pieces, *label) for label in found)
    return [label for label in found if _phrase(pieces, *label) in known] if len(known) >= 2 else []


def _first(pieces: Sequence[str], opens: Sequence[bool], last: int) -> int | None:
    """The nearest word at which a label that ends there can begin: after no abbreviation, which may belong to it."""
    for first in _reach(pieces, last):
        if opens[first] and not (first and abbreviated(pieces[first - 1])):
            return first
    return None


def _known(pieces: Sequence[str], opens: Sequence[bool], last: int, known: frozenset[str]) -> int | None:
    """The first word of a known label that ends there, if anything is finished before it."""
    for first in _reach(pieces, last):
        if opens[first] and _phrase(pieces, first, last) in known:
            return first
    return None


def _reach(pieces: Sequence[str], last: int) -> Iterator[int]:
    """Words at which a label that ends there could begin, nearest first."""
    for first in range(last, max(-1, last - _WORDS), -1):
        if first < last and pieces[first].endswith(_INSIDE) and not abbreviated(pieces[first]):
            return
        yield first


def _phrase(pieces: Sequence[str], first: int, last: int) -> str:
    return " ".join(pieces[first : last + 1]).casefold()


def _recurring(labels: Iterator[str]) -> frozenset[str]:
    return frozenset(label for label, times in Counter(labels).items() if times > 1)
