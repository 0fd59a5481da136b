"""Names of topics: the words that a segment has and the others lack."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from lib.corpora.pos import CLOSED_CLASS

_WORD = re.compile(r"[^\W\d_]{2,}(?:['’-][^\W\d_]+)*")
PRIOR = 0.5  # occurrences that every word is given everywhere, so that one chance word does not name a segment


def distinctive_words(segments: Sequence[str], count: int = 3) -> tuple[str, ...]:
    """For each segment its most distinctive words, joined by " · "; "" where it has none.

    A word's weight is its occurrences in the segment times the logarithm of its rate there over its rate elsewhere.
    English function words are left out; words of other languages are kept apart by their even spread. With a single
    segment, the most frequent words.

    >>> distinctive_words(["The lake froze. The lake thawed.", "The printer jams, the printer hums."], count=1)
    ('lake', 'printer')
    """
    found = ([word.lower() for word in _WORD.findall(segment)] for segment in segments)
    counts = [Counter(word for word in words if word not in CLOSED_CLASS) for words in found]
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
        best = sorted(weights, key=lambda word: (-weights[word], word))[:count]
        names.append(" · ".join(best))
    return tuple(names)
