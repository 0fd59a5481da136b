"""Words of a running text, by rule and the same for every tokenizer, so that subwords can be merged by offsets."""

from __future__ import annotations

from itertools import takewhile

import regex

from .document import Span

# Ideographs stand alone; numbers keep inner points, commas and colons; letters and digits keep their marks and
# inner apostrophes; anything else that is not white space is one grapheme: a whole emoji, one punctuation mark.
_LETTER = r"(?:(?!\p{Han})[\p{L}\p{N}_]\p{M}*)"
_WORD = regex.compile(
    rf"\p{{Han}}|\p{{N}}+(?:[.,:]\p{{N}}+)+(?!{_LETTER})|{_LETTER}+(?:['’]{_LETTER}+)*|(?!\s)\X", regex.VERSION1
)


def word_spans(text: str, until: int | None = None) -> tuple[Span, ...]:
    """Character spans of the words and punctuation marks of a text, ascending and disjoint.

    until  only words that begin before this offset

    >>> [text[a:b] for text in ["Don’t pay 1,000.50!"] for a, b in word_spans(text)]
    ['Don’t', 'pay', '1,000.50', '!']
    """
    spans = (match.span() for match in _WORD.finditer(text))
    return tuple(takewhile(lambda span: until is None or span[0] < until, spans))
