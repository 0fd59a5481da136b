"""Finding tokens by their text, exactly or by a regular expression, in all heads at once: tokens are the same in all.

A pattern runs over the distinct tokens only and under a limit of time, so that one that would never end cannot hold
up the page.
"""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import regex

from lib.capture.value import read_only

from .errors import EmbeddingError

LONGEST = 200  # characters of a pattern
SECONDS = 0.5  # for all tokens together
KINDS = ("exact", "regex")
REPEATS = 10_000  # what the counts of a pattern's {m,n} may multiply to: they are written out when it is compiled
COUNT = regex.compile(r"\{(\d*),?(\d*)\}")


@dataclass(frozen=True, eq=False)
class Search:
    """What was found.

    hits   bool (token,)
    count  tokens found; documents of them
    forms  distinct texts found, the most frequent first, with their numbers
    note   one sentence for the page
    """

    hits: np.ndarray
    count: int
    documents: int
    forms: tuple[tuple[str, int], ...]
    note: str


def search(
    tokens: Sequence[str],
    wanted: str,
    kind: Literal["exact", "regex"] = "exact",
    doc: np.ndarray | None = None,
    ignore_case: bool = True,
) -> Search:
    """Tokens whose text is ``wanted``, or in which the regular expression ``wanted`` is found.

    tokens: text of each token, as shown. doc: (token,) document of each, to count documents. White space around
    ``wanted`` and around tokens does not matter in an exact search; an empty one finds nothing.

    Raises EmbeddingError for another kind, a pattern that is no regular expression, is longer than 200 characters, or
    does not end within half a second.
    """
    if kind not in KINDS or not isinstance(wanted, str):
        raise EmbeddingError(f"a text and a kind of {KINDS}", f"{wanted!r} and {kind!r}", 'Search "exact" if in doubt.')
    numbers = Counter(tokens)
    texts = list(numbers)
    if kind == "regex" and wanted:
        found = _matches(texts, _compiled(wanted, ignore_case), wanted)
    else:
        plain = (lambda text: text.strip().casefold()) if ignore_case else str.strip
        found = np.array([bool(plain(wanted)) and plain(text) == plain(wanted) for text in texts], dtype=bool)
    there = {text for text, mine in zip(texts, found, strict=True) if mine}
    hits = np.fromiter((text in there for text in tokens), bool, len(tokens))
    forms = sorted(((text, numbers[text]) for text in there), key=lambda form: (-form[1], form[0]))
    documents = len(np.unique(np.asarray(doc)[hits])) if doc is not None else int(hits.any())
    note = _note(wanted, kind, hits, documents, doc, len(forms))
    return Search(read_only(hits), int(hits.sum()), documents, tuple(forms), note)


def _note(wanted: str, kind: str, hits: np.ndarray, documents: int, doc: np.ndarray | None, forms: int) -> str:
    if not wanted.strip():
        return ""
    if not hits.any() and kind == "regex":
        return f"“{wanted.strip()}” is found in no token. An expression is looked for within one token at a time."
    if not hits.any():
        return f"No token is “{wanted.strip()}”. Tokens may be parts of words: try a regular expression."
    if hits.all():
        return f"All {len(hits):,} tokens match."
    where = f" in {documents:,} documents" if doc is not None else ""
    return f"{int(hits.sum()):,} of {len(hits):,} tokens{where}, {forms:,} distinct."


def _compiled(pattern: str, ignore_case: bool) -> regex.Pattern:
    if len(pattern) > LONGEST:
        raise EmbeddingError(f"a pattern of at most {LONGEST} characters", f"{len(pattern)}", "Shorten it.")
    counts = [max(int(low or 1), int(high or 1), 1) for low, high in COUNT.findall(pattern)]
    if math.prod(counts) > REPEATS:
        raise EmbeddingError(f"at most {REPEATS:,} repeats in all", f"“{pattern}”", "Tokens are short: ask for fewer.")
    try:
        return regex.compile(pattern, regex.IGNORECASE if ignore_case else 0)
    except (regex.error, RecursionError, OverflowError, ValueError, KeyError, IndexError) as error:
        raise EmbeddingError(
            "a regular expression", f"“{pattern}” ({error})", "Search exactly, or escape ( [ * + ? . with \\."
        ) from error


def _matches(texts: Sequence[str], pattern: regex.Pattern, wanted: str) -> np.ndarray:
    found, end = np.zeros(len(texts), bool), time.monotonic() + SECONDS
    for index, text in enumerate(texts):
        try:
            found[index] = pattern.search(text, timeout=max(end - time.monotonic(), 1e-3)) is not None
        except TimeoutError as error:
            raise EmbeddingError(
                f"a pattern that ends within {SECONDS:g} s",
                f"“{wanted}”, which does not",
                "Avoid repeats within repeats, such as (a+)+.",
            ) from error
    return found
