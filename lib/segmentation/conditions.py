"""Conditions of text: as written, without case, without punctuation. Gold documents are changed sentence by sentence.

The same names say which calibration reads a text; `recognise` looks at a text and says its condition.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

from lib.corpora.document import Document

from .errors import SegmentationError

_NO_LETTER = re.compile(r"[^\w\s]|_")  # every punctuation mark is one of these
_FINAL = re.compile(r"[\s.!?…:;,。！？\-–—]+(?=[\"'”’»)\]]*$)")


def _unstopped(sentence: str) -> str:
    """Without the punctuation that ends it; closing quotes and brackets stay."""
    return _FINAL.sub("", sentence).strip()


def _bare(sentence: str) -> str:
    """Lower-cased, every punctuation mark out; marks between two letters or digits are spelling and stay ("don't")."""
    lowered = sentence.lower()
    return " ".join("".join(" " if _marks(lowered, i) else c for i, c in enumerate(lowered)).split())


def _marks(text: str, i: int) -> bool:
    """Whether the character there is punctuation, and not inside a word."""
    if unicodedata.category(text[i])[0] != "P":
        return False
    return not (0 < i < len(text) - 1 and text[i - 1].isalnum() and text[i + 1].isalnum())


CONDITIONS: dict[str, tuple[str, Callable[[str], str]]] = {
    "written": ("as written", lambda sentence: sentence),
    "unstopped": ("final punctuation removed", _unstopped),
    "lowered": ("lower-cased", str.lower),
    "lowered-unstopped": ("lower-cased, final punctuation removed", lambda sentence: _unstopped(sentence).lower()),
    "bare": ("lower-cased, all punctuation removed", _bare),
}


def under(document: Document, condition: str) -> Document:
    """A gold document as it would be under a condition: sentences changed one by one, what lies between them kept.

    Sentences of which nothing is left are dropped. Topics follow; words and tags are not carried over.

    Raises SegmentationError for an unknown condition.
    """
    if condition not in CONDITIONS:
        raise SegmentationError("a condition among " + ", ".join(CONDITIONS), repr(condition), "Choose one of these.")
    change = CONDITIONS[condition][1]
    text, spans, moved = "", [], {}
    last = 0
    for start, end in document.sentences:
        sentence = change(document.text[start:end])
        between = document.text[last:start]
        last = end
        if not sentence:
            continue
        text += (between.strip(" ") or " ") if text else ""
        spans.append((len(text), len(text) + len(sentence)))
        moved[start], moved[end] = spans[-1]
        text += sentence
    topics = []
    for start, end in document.topics:
        inside = [moved[a] for a, _ in document.sentences if start <= a < end and a in moved]
        stops = [moved[b] for _, b in document.sentences if start < b <= end and b in moved]
        if inside:
            topics.append((inside[0], stops[-1]))
    return Document(document.name, text, tuple(spans), tuple(topics), gold=document.gold, subject=document.subject)


def recognise(text: str) -> str:
    """The condition a text is in, from its capitals and its punctuation.

    Fewer than one sentence-ending mark in 60 words is unstopped, then without commas and the like too (one in 200)
    bare; fewer than one capital in 60 words is lower-cased. Scripts without letter case count as cased.

    >>> recognise("so yeah we met at the station and then um we walked " * 3), recognise("It rained. We left. " * 3)
    ('bare', 'written')
    """
    words = len(text.split())
    if not words:
        return "written"
    final = len(re.findall(r"[.!?…。！？؟।](?=[\"'”’»)\]]*(?:\s|$))|[。！？]", text))
    marks = sum(_marks(text, match.start()) for match in _NO_LETTER.finditer(text))
    capitals = len(re.findall(r"(?:^|\s)\W*[A-ZÀ-ÞΑ-ΩА-Я]", text))
    lowered = capitals * 60 < words and any(c.lower() != c.upper() for c in text)
    if final * 60 >= words:
        return "lowered" if lowered else "written"
    if not lowered:
        return "unstopped"
    return "bare" if marks * 200 < words else "lowered-unstopped"
