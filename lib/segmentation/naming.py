"""Names of topics: the words that a segment has and the others lack."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from lib.corpora.pos import CLOSED_CLASS

_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_JOINT = re.compile("['’-]")
PRIOR = 0.5  # occurrences that every word is given everywhere, so that one chance word does not name a segment


def distinctive_words(segments: Sequence[str], count: int = 3) -> tuple[str, ...]:
    """For each segment its most distinctive words, joined by " · "; "" where it has none.

    A word's weight is its occurrences in the segment times the logarithm of its rate there over its rate elsewhere.
    Words that occur once name a segment only where none occurs twice; among equals the longer word goes first. English
    function words ("i'll" too) and single letters are left out; function words of other languages fall behind by their
    even spread. With a single segment, the most frequent words.

    >>> distinctive_words(["The lake froze. The lake thawed.", "The printer jams, the printer hums."], count=1)
    ('lake', 'printer')
    """
    found = ([word.lower() for word in _WORD.findall(segment)] for segment in segments)
    counts = [Counter(word for word in words if _tells(word)) for words in found]
    total = sum(counts, Counter())
    everything = sum(total.values())
    names = []
    for own in counts:
        size = sum(own.values())
        weights = {}
        for word, n in own.items():
            inside = (n + PRIOR) / (size + 1)
            outside = (total[word] - n + PRIOR) / (everything - size + 1)
            weights[word] = n * math.log(inside / outside) if len(segments) > 1 else n
        repeated = [word for word in weights if own[word] > 1] or list(weights)
        best = sorted(repeated, key=lambda word: (-weights[word], -len(word), word))[:count]
        names.append(" · ".join(best))
    return tuple(names)


def _tells(word: str) -> bool:
    """Whether a lower-case word can name a segment: neither a function word, contracted or not, nor a letter."""
    return len(word) > 1 and word not in CLOSED_CLASS and _JOINT.split(word)[0] not in CLOSED_CLASS
