"""Long texts in overlapping windows: where each window lies and how much each of its gaps counts.

A gap g lies between tokens g and g + 1; a text of n tokens has n − 1. Every gap lies inside at least one window, with
tokens on both sides of it, and windows fade towards the edges at which they were cut, so that a gap near such an edge
is judged by the window that sees more of its surroundings.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from lib.corpora import Encoding, TokenTable, encode_ids, tokenise

from .errors import SegmentationError

SIZE = 62  # tokens of a window, special tokens apart: longer windows blur the signals
STRIDE = 52  # tokens between windows: neighbours share at least 10
_HALF = re.compile("[\ud800-\udfff]")  # half of a character
_NO_TABLE = TokenTable(**{field.name: () for field in fields(TokenTable)})


@dataclass(frozen=True)
class Tokens:
    """The tokens of a whole text, however long.

    ids, start, end  (token,) vocabulary entries and character offsets; prefix, suffix  special ids around a window
    """

    ids: np.ndarray
    start: np.ndarray
    end: np.ndarray
    prefix: np.ndarray
    suffix: np.ndarray

    def __len__(self) -> int:
        return len(self.ids)

    def encodings(self, windows: Sequence[tuple[int, int]], engine: Any) -> list[Encoding]:
        """Windows as the model reads them, with its special tokens around each.

        They are never shown: their token tables are empty, since nobody reads them.
        """
        rows = [np.r_[self.prefix, self.ids[a:b], self.suffix].astype(np.int64) for a, b in windows]
        if engine.kind == "encoder-decoder":  # its decoder's side is made with the table
            return [encode_ids(row, engine) for row in rows]
        return [Encoding(table=_NO_TABLE, token_ids=row) for row in rows]


def read_tokens(text: str, engine: Any) -> Tokens:
    """Tokenise a text of any length for a text model; halves of characters are read as U+FFFD.

    A token of white space alone, as character models and byte-level ones have, is told as empty and at the end of what
    precedes it: the gap after it is then the one at which the text can be cut.

    Raises SegmentationError for a vision model and for a model without a tokenizer.
    """
    if engine.kind == "vision" or engine.tokenizer is None:
        raise SegmentationError(
            "a text model with its tokenizer", f"{engine.name} ({engine.kind})", "Choose all-MiniLM-L6-v2, for example."
        )
    text = without_halves(text)
    pieces = tokenise(text, engine)
    content = np.flatnonzero(~pieces.special)
    if not len(content):
        nothing = np.zeros(0, dtype=np.int64)
        some = Tokens(*[nothing] * 5) if text == "a" else read_tokens("a", engine)  # what the model puts around a text
        return Tokens(nothing, nothing, nothing, some.prefix, some.suffix)
    first, last = content[0], content[-1]
    start, end = _trimmed(pieces.start[content], pieces.end[content], text)
    return Tokens(pieces.ids[content], start, end, pieces.ids[:first], pieces.ids[last + 1 :])


def without_halves(text: str) -> str:
    """The text with U+FFFD for every lone surrogate, which no tokenizer takes; offsets stay as they are.

    >>> without_halves("a \ud800 b") == "a \ufffd b"
    True
    """
    return _HALF.sub("\ufffd", text)


def _trimmed(start: np.ndarray, end: np.ndarray, text: str) -> tuple[np.ndarray, np.ndarray]:
    """Offsets without white space: that within tokens is cut off, a token of nothing else becomes empty.

    Empty ones lie at the end of the token before them, those that begin a text where its first word begins.
    """
    start, end = start.astype(np.int64), end.astype(np.int64)
    spaced = [text[a : a + 1].isspace() or text[b - 1 : b].isspace() for a, b in zip(start, end, strict=True)]
    for i in np.flatnonzero(spaced):
        covered = text[start[i] : end[i]]
        if covered.strip():
            start[i] += len(covered) - len(covered.lstrip())
            end[i] -= len(covered) - len(covered.rstrip())
        else:
            start[i] = end[i] = end[i - 1] if i else len(text) - len(text.lstrip())
    return start, end


def windows_over(tokens: int, size: int = SIZE, stride: int = STRIDE) -> list[tuple[int, int]]:
    """[start, stop) of equally long, evenly spaced windows over a text of that many tokens.

    >>> windows_over(100, size=62, stride=46), windows_over(40)
    ([(0, 62), (38, 100)], [(0, 40)])
    """
    if tokens <= size:
        return [(0, tokens)] if tokens else []
    count = -(-(tokens - size) // stride) + 1
    starts = np.round(np.linspace(0, tokens - size, count)).astype(int)
    return [(int(start), int(start) + size) for start in starts]


def fade(window: tuple[int, int], tokens: int, overlap: int = SIZE - STRIDE) -> np.ndarray:
    """Weight of each gap of a window, (stop − start − 1,): 1 inside, falling linearly towards edges that cut the text.

    >>> fade((0, 5), tokens=9, overlap=3).round(2).tolist()
    [1.0, 1.0, 0.67, 0.33]
    """
    start, stop = window
    gap = np.arange(stop - start - 1)
    left = (gap + 1) / overlap if start > 0 else np.ones(len(gap))
    right = (len(gap) - gap) / overlap if stop < tokens else np.ones(len(gap))
    return np.minimum(1.0, np.minimum(left, right))


def window_size(engine: Any, tokens: Tokens, size: int = SIZE) -> int:
    """Tokens of a window that the model's own limit leaves room for."""
    if engine.max_length is None:
        return size
    room = engine.max_length - len(tokens.prefix) - len(tokens.suffix)
    return max(2, min(size, room))
