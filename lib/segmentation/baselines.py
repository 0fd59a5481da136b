"""What attention has to beat: rules, other people's segmenters where they are installed, and chance.

Each baseline is a function from a text to boundaries, character offsets just after each sentence but the last; those
that need more say so.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from lib.corpora.sentences import spans_between

from .positions import boundaries_of

Cut = Callable[[str], np.ndarray]

_STOP = re.compile(r"[.!?…]+[\"'”’»)\]]*(?=\s)|[。！？]+[」』）】]*")


def punctuation(text: str) -> np.ndarray:
    """After every . ! ? with white space behind it.

    >>> punctuation("Is it? Dr. No did it.").tolist()
    [6, 10]
    """
    ends = [match.end() for match in _STOP.finditer(text)]
    return _inside(text, ends)


def pysbd_rules(text: str) -> np.ndarray:
    """pysbd's rules for English."""
    import pysbd

    spans = pysbd.Segmenter(language="en", clean=False, char_span=True).segment(text)
    return _inside(text, [span.start + len(span.sent.rstrip()) for span in spans])


def punkt(text: str) -> np.ndarray:
    """nltk's Punkt with its English data."""
    return boundaries_of(list(_punkt().span_tokenize(text)))


def _punkt() -> Any | None:
    """The tokenizer; None where nltk or its data is not here."""
    if find_spec("nltk") is None:
        return None
    from nltk.tokenize import PunktTokenizer

    try:
        return PunktTokenizer("english")
    except LookupError:
        return None


def wtpsplit() -> Cut | None:
    """Segment any text (SaT, 3 layers); None where the package or its weights are not on this machine."""
    if find_spec("wtpsplit") is None:
        return None
    from wtpsplit import SaT

    try:
        model = SaT("sat-3l-sm", from_pretrained_kwargs={"local_files_only": True})
    except (OSError, ValueError):
        return None

    def cut(text: str) -> np.ndarray:
        ends = np.cumsum([len(piece) for piece in model.split(text)])
        return _inside(text, [int(end) - (len(text[:end]) - len(text[:end].rstrip())) for end in ends])

    return cut


def fixed_length(words: int) -> Cut:
    """A boundary after every so many words."""

    def cut(text: str) -> np.ndarray:
        ends = [match.end() for match in re.finditer(r"\S+", text)]
        return _inside(text, ends[words - 1 :: words])

    return cut


def random_cuts(rate: float, seed: int = 0) -> Cut:
    """A boundary after each word with probability ``rate``; the same text is always cut the same way."""

    def cut(text: str) -> np.ndarray:
        ends = np.array([match.end() for match in re.finditer(r"\S+", text)], dtype=np.int64)
        rng = np.random.default_rng([seed, len(text), sum(map(ord, text[:200]))])
        return _inside(text, ends[rng.random(len(ends)) < rate].tolist())

    return cut


def _inside(text: str, ends: list[int]) -> np.ndarray:
    """Offsets with text on both sides."""
    return boundaries_of(spans_between(text, sorted(set(ends))))


def available(rate: float) -> dict[str, Cut]:
    """Sentence baselines that can run here, by name; rate: boundaries per word, for the two that know nothing else."""
    methods: dict[str, Cut] = {"rule . ! ?": punctuation}
    if find_spec("pysbd"):
        methods["pysbd"] = pysbd_rules
    if _punkt() is not None:
        methods["nltk punkt"] = punkt
    if (model := wtpsplit()) is not None:
        methods["wtpsplit"] = model
    methods[f"every {max(1, round(1 / rate))} words"] = fixed_length(max(1, round(1 / rate)))
    methods["random, right rate"] = random_cuts(rate)
    return methods
