"""Where boundaries lie: spans of segments, character offsets, gaps between tokens, and positions between units.

A boundary is the character offset just after the last character of a segment; the last segment's end is none. The gap
that belongs to it is the one after the last token that ends there or before, white space included: the gap before the
next token of anything else.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from lib.corpora.document import Span

from .errors import SegmentationError


def boundaries_of(spans: Sequence[Span]) -> np.ndarray:
    """Character offsets just after each segment but the last: int64 (segment − 1,).

    >>> boundaries_of([(0, 5), (6, 11), (12, 20)]).tolist()
    [5, 11]
    """
    return np.array([end for _, end in spans[:-1]], dtype=np.int64)


def gaps_at(boundaries: Sequence[int], ends: np.ndarray) -> np.ndarray:
    """Gap of each boundary, ascending and distinct: int64 (boundary,).

    ends: (token,) character offsets at which tokens end, ascending. Boundaries before the first token's end or at or
    after the last token's have no gap and are dropped.
    """
    gap = np.searchsorted(ends, np.asarray(boundaries, dtype=np.int64), side="right") - 1
    return np.unique(gap[(gap >= 0) & (gap < len(ends) - 1)])


def candidate_gaps(text: str, start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Gaps at which text can be cut at all: bool (token − 1,).

    White space lies between the tokens, or the script puts none between sentences (Han, kana, Thai and its like, or
    full-width punctuation): a segment never ends inside a word of letters, nor between a word and its full stop.
    start, end: (token,) offsets as of windows.read_tokens, where white space is an empty token behind what precedes it.
    """
    allowed = start[1:] > end[:-1]
    for gap in np.flatnonzero(~allowed):
        edge = int(end[gap])
        if edge == start[gap + 1] and 0 < edge < len(text):
            allowed[gap] = _unspaced(text[edge - 1]) and not _closing(text[edge])
    blank = len(text) - len(text.lstrip())
    return allowed & (start[1:] < end[1:]) & (end[:-1] > blank)


def distinct_gaps(ends: np.ndarray) -> np.ndarray:
    """The last gap at each offset, the only one of them that may be a boundary: bool (token − 1,).

    ends: (token,) ascending; several tokens end at one offset where they share a character, or are white space.

    >>> distinct_gaps(np.array([2, 5, 5, 9, 9])).tolist()
    [True, False, True, True]
    """
    return np.diff(ends[:-1], append=np.iinfo(np.int64).max) > 0


def _unspaced(character: str) -> bool:
    """Whether a script may go on right after this character without a space."""
    if character in "。！？｡…":
        return True
    name = unicodedata.name(character, "")
    return name.startswith(("CJK UNIFIED", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR", "FULLWIDTH"))


def _closing(character: str) -> bool:
    return unicodedata.category(character) in ("Po", "Pe", "Pf") or character.isspace()


def positions_checked(positions: Sequence[int], length: int, axis: str) -> np.ndarray:
    """Boundary positions as int64, ascending and distinct.

    Raises SegmentationError where one is not a whole number inside a text of ``length`` units.
    """
    told = np.asarray(positions if isinstance(positions, np.ndarray) else list(positions))
    if told.ndim != 1 or (told.size and told.dtype.kind not in "iu"):
        raise SegmentationError(
            f"{axis} boundaries as whole numbers: units before each boundary",
            f"{told.ravel()[:3].tolist()}",
            "Count the units before each boundary.",
        )
    clean = np.unique(told.astype(np.int64))
    if len(clean) and not 0 < clean[0] <= clean[-1] < length:
        raise SegmentationError(
            f"{axis} boundaries between 1 and {length - 1}: units before the boundary, in a text of {length}",
            f"{int(clean[0])} … {int(clean[-1])}",
            "Leave out the start and the end of the text.",
        )
    return clean
