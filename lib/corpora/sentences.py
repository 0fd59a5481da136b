"""Sentences of pasted text by rule: where no gold sentences are known. Spans are exact in the text as given."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from .document import Span

_CLOSERS = "\"'”’»)\\]}」』）】"
_FULL_STOP = re.compile(
    # A run of marks is taken whole, from its first mark: backing up inside a long run would take quadratic time.
    rf"(?<![.!?…؟۔।॥])[.!?…؟۔।॥]++[{_CLOSERS}]*+(?=\s)"  # scripts with spaces: white space must follow
    rf"|[。！？｡]++[{_CLOSERS}]*+"  # Chinese and Japanese: nothing need follow
)
_OPENERS = "\"'“‘«([{「『（【¿¡-–—*•"
_ABBREVIATED = (
    "mr mrs ms dr prof st sr jr rev gen col lt sgt capt hon mt ft no nos vol vols fig figs eq sec ch pp p ed eds c ca "
    "cf vs v e.g i.e eg ie viz al approx dept univ jan feb mar apr jun jul aug sep sept oct nov dec"
)
_ABBREVIATIONS = frozenset(_ABBREVIATED.split())
_LAST_WORD = re.compile(r"[\w.]+$")
_LIST_NUMBER = re.compile(r"(?:^|\n|[!?:;]\s|\w{4}\.\s)\s*\d{1,3}$")  # "3." begins a list entry
_WRAP = (40, 120)  # characters a line holds where running text was broken by hand or by a mail program


def sentence_spans(text: str) -> tuple[Span, ...]:
    """Character spans of the sentences, without white space at either end; together they cover every other character.

    A sentence ends at . ! ? … (with closing quotes) before white space and a word that does not begin with a small
    letter, unless an abbreviation, an initial or a list number precedes; at 。！？ anywhere; at an empty line; and at a
    line end, unless the line is one of a hard-wrapped paragraph (the next word would not have fitted).

    >>> [text[a:b] for text in ["Dr. Oh left at 5 p.m. sharp. Why? 東京。そう"] for a, b in sentence_spans(text)]
    ['Dr. Oh left at 5 p.m. sharp.', 'Why?', '東京。', 'そう']
    """
    return spans_between(text, sorted({*_stops(text), *_line_ends(text)}))


def spans_between(text: str, boundaries: Iterable[int]) -> tuple[Span, ...]:
    """Segments of a text cut at ascending offsets, without white space at either end; blank segments are dropped.

    >>> spans_between("Why? I see.  ", [4])
    ((0, 4), (5, 11))
    """
    spans, start = [], 0
    for end in (*map(int, boundaries), len(text)):
        piece = text[start:end]
        if bare := piece.strip():
            begin = start + piece.index(bare[0])
            spans.append((begin, begin + len(bare)))
        start = end
    return tuple(spans)


def _stops(text: str) -> Iterator[int]:
    for match in _FULL_STOP.finditer(text):
        if match[0][0] in "。！？｡" or _ends_here(text, match.start(), match.end(), match[0]):
            yield match.end()


def _ends_here(text: str, start: int, end: int, mark: str) -> bool:
    following = text[end : end + 40].lstrip().lstrip(_OPENERS).lstrip()
    if following[:1].islower():
        return False
    if mark[0] != "." or mark.startswith(".."):
        return True
    word = _LAST_WORD.search(text, max(0, start - 24), start)
    last = word[0] if word else ""
    if last.lower() in _ABBREVIATIONS or (len(last) == 1 and last.isupper()):
        return False
    return not _LIST_NUMBER.search(text, max(0, start - 24), start)


def _line_ends(text: str) -> Iterator[int]:
    """Offsets just after the line breaks that end a sentence."""
    position, block = 0, []
    for line in [*text.split("\n"), ""]:
        if line.strip():
            block.append((position, line.rstrip()))
        elif block:
            yield from _ends_in_block(block)
            yield position
            block = []
        position += len(line) + 1


def _ends_in_block(block: list[tuple[int, str]]) -> Iterator[int]:
    """Line ends inside a block of non-empty (offset, line) that are meant, not made by wrapping."""
    width = max(len(line) for _, line in block)
    pairs = [(line, block[i + 1][1].split(maxsplit=1)[0]) for i, (_, line) in enumerate(block[:-1])]
    full = [len(line) + 1 + len(word) > width for line, word in pairs]  # the next word would not have fitted
    wrapped = _WRAP[0] <= width <= _WRAP[1] and len(full) > 1 and all(full)
    for (line, word), (offset, _) in zip(pairs, block[1:], strict=True):
        goes_on = word[:1].islower() and len(line) >= _WRAP[0]
        if not (wrapped or goes_on):
            yield offset
