"""Surface cues: what punctuation, capitals, line ends and small words say about a gap. No model reads anything here.

Cues are told for candidate gaps only (see positions.candidate_gaps): the text between two of them is one word here,
its punctuation included.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from lib.corpora.pos import closed_class_tags

from .errors import SegmentationError

_CLOSERS = "\"'”’»)]}」』）】"
_OPENERS = "\"'“‘«([{「『（【¿¡"
_ABBREVIATED = re.compile(
    r"^(?:[A-Za-z]\.)+$|^(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|inc|ltd|co|corp|no|vol|fig|dept|gen|col|lt|sen|rep|gov|"
    r"jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|mon|tues?|wed|thurs?|fri|sat|sun|e\.g|i\.e|a\.m|p\.m|approx)\.$",
    re.IGNORECASE,
)
_WORD_CLASSES = ("DET", "ADP", "PRON", "CCONJ", "SCONJ", "AUX", "PART", "ADV", "INTJ", "NUM")
_MARKS = ".!?…:;,-–—"
_FINAL = ".!?…。！？"
_FAR = 40  # words at which distances stop growing

CUES = (
    *(f"ends with {mark}" for mark in _MARKS),
    "ends with 。！？",
    "closing quote or bracket",
    "marks at the end",
    "abbreviation",
    "single letter",
    "number before",
    "capital before",
    "letters before",
    "next capital",
    "next all capitals",
    "next small",
    "next digit",
    "next opening quote or bracket",
    "next symbol",
    "second next capital",
    "line end",
    "empty line",
    "words since mark",
    "words from the next to a later mark",
    "words since start of line",
    "capitals around",
    "marks around",
    "open bracket",
    *(f"before: {tag}" for tag in _WORD_CLASSES),
    *(f"after: {tag}" for tag in _WORD_CLASSES),
)


def finished(piece: str) -> bool:
    """Whether a word ends with a mark that can end a sentence, closing quotes and brackets apart."""
    return piece.rstrip(_CLOSERS).endswith(tuple(_FINAL))


def abbreviated(piece: str) -> bool:
    """Whether a word is a known abbreviation or initials, its full stop included."""
    return _ABBREVIATED.match(piece.rstrip(_CLOSERS)) is not None


def words_between(start: np.ndarray, end: np.ndarray, allowed: np.ndarray) -> list[tuple[int, int]]:
    """Spans of the words that candidate gaps separate; start, end (token,), allowed bool (token − 1,)."""
    cuts = np.flatnonzero(allowed)
    first, last = np.r_[0, cuts + 1], np.r_[cuts, len(start) - 1]
    return [(int(start[a]), int(end[b])) for a, b in zip(first, last, strict=True)] if len(start) else []


def surface_cues(text: str, words: Sequence[tuple[int, int]]) -> np.ndarray:
    """Cues of every gap between consecutive words: float32 (word − 1, cue), in the order of CUES."""
    if len(words) < 2:
        return np.zeros((0, len(CUES)), dtype=np.float32)
    pieces = [text[a:b] for a, b in words]
    bare = [piece.rstrip(_CLOSERS) for piece in pieces]
    last = [piece[-1:] for piece in bare]
    final = np.array([finished(piece) for piece in pieces])
    initial = [piece.lstrip(_OPENERS)[:1] for piece in pieces]
    capital = np.array([c.isupper() for c in initial], dtype=float)
    breaks = [text[a[1] : b[0]].count("\n") for a, b in pairwise(words)]
    tags = closed_class_tags([re.sub(r"^\W+|\W+$", "", piece) for piece in pieces])
    before, after = _before(pieces, bare, last, capital), _after(pieces, initial, capital)
    place = _place(pieces, final, capital, breaks)
    classes = np.array([[tag == c for c in _WORD_CLASSES] for tag in tags], dtype=float)
    cues = np.concatenate([before[:-1], after[1:], place, classes[:-1], classes[1:]], axis=1)
    if cues.shape[1] != len(CUES):
        raise SegmentationError(f"{len(CUES)} cues", f"{cues.shape[1]}", "The list CUES does not match its makers.")
    return cues.astype(np.float32)


def _before(pieces: list[str], bare: list[str], last: list[str], capital: np.ndarray) -> np.ndarray:
    """Cues of the word before a gap: (word, cue)."""
    rows = [
        [
            *(c == mark for mark in _MARKS),
            c in "。！？" and c != "",
            piece != core,
            len(core) - len(core.rstrip(".!?…,:;-")),
            abbreviated(piece),
            len(re.sub(r"\W", "", core)) == 1,
            core[:1].isdigit(),
            upper,
            min(len(re.sub(r"\W", "", core)), 12),
        ]
        for piece, core, c, upper in zip(pieces, bare, last, capital, strict=True)
    ]
    return np.array(rows, dtype=float)


def _after(pieces: list[str], initial: list[str], capital: np.ndarray) -> np.ndarray:
    """Cues of the word after a gap: (word, cue)."""
    following = np.r_[capital[1:], 0.0]
    rows = [
        [
            upper,
            piece.isupper() and sum(map(str.isalpha, piece)) > 1,
            c.islower(),
            c.isdigit(),
            piece[:1] in _OPENERS,
            not any(map(str.isalnum, piece)),
            second,
        ]
        for piece, c, upper, second in zip(pieces, initial, capital, following, strict=True)
    ]
    return np.array(rows, dtype=float)


def _place(pieces: list[str], final: np.ndarray, capital: np.ndarray, breaks: list[int]) -> np.ndarray:
    """Cues of where a gap lies: (gap, cue)."""
    gaps = len(pieces) - 1
    lines = np.array(breaks) > 0
    opened = np.cumsum([piece.count("(") - piece.count(")") for piece in pieces])[:gaps] > 0
    width = np.ones(min(15, len(pieces)))
    share = np.convolve(np.ones(len(pieces)), width, "same")
    columns = [
        lines,
        np.array(breaks) > 1,
        _since(final[:gaps]),
        _since(final[1:][::-1])[::-1],
        _since(lines),
        (np.convolve(capital, width, "same") / share)[:gaps],
        (np.convolve(final, width, "same") / share)[:gaps],
        opened,
    ]
    return np.stack([np.asarray(column, dtype=float) for column in columns], axis=1)


def _since(marks: np.ndarray) -> np.ndarray:
    """Words since the last marked gap before each gap, at most 40."""
    index = np.arange(len(marks))
    seen = np.maximum.accumulate(np.where(marks, index, -1))
    previous = np.r_[-1, seen[:-1]] if len(marks) else seen
    return np.minimum(index - previous, _FAR).astype(float)
