"""The corpora that come with Headlight: read from data/texts or made by rule, the same on every machine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from PIL import Image

from lib.errors import HeadlightError

from .articles import articles, passages, topic_mosaics
from .document import Document
from .gratings import gratings

_TEXTS = Path(__file__).parents[2] / "data" / "texts"


@dataclass(frozen=True)
class Corpus:
    """What a built-in corpus is: its name, one line about it, its language, "text" or "image", and its size."""

    name: str
    description: str
    language: str
    kind: str
    documents: int
    sentences: int


def _file(stem: str) -> Callable[[], list[Document]]:
    return lambda: articles((_TEXTS / f"{stem}.txt").read_text(encoding="utf-8"), f"{stem}.txt")


def _photograph_files() -> list[Path]:
    """The pictures inside scikit-learn, found without importing it: that would take a second."""
    spec = find_spec("sklearn")
    folder = Path(spec.origin).parent / "datasets" / "images" if spec and spec.origin else None
    return sorted(folder.glob("*.jpg")) if folder else []


def _photographs() -> list[Document]:
    return [
        Document(file.stem, image=np.asarray(Image.open(file).convert("RGB")), subject="photograph")
        for file in _photograph_files()
    ]


_CORPORA: dict[str, tuple[str, str, Callable[[], list[Document]]]] = {
    "encyclopedia": ("Short articles on many subjects, gold sentences", "English", _file("encyclopedia")),
    "conversation": ("Transcripts of talk: speakers, hesitations, no paragraphs", "English", _file("conversation")),
    "encyclopedia-ko": ("Short articles in Korean, gold sentences", "Korean", _file("encyclopedia-ko")),
    "probes": (
        "Small texts that each test one thing: repetition, sentence pairs, coreference, garden paths, names, numbers",
        "English",
        _file("probes"),
    ),
    "sampled-from-base": (
        "Passages drawn from Headlight's own character model: in the manner of plays, but a model's, not Shakespeare's",
        "English",
        lambda: passages((_TEXTS / "sampled-from-base.txt").read_text(encoding="utf-8"), "sampled-from-base.txt"),
    ),
    "topics": (
        "Beginnings of articles of different subjects in a row, gold topic boundaries",
        "English",
        lambda: topic_mosaics(_documents("encyclopedia")),
    ),
    "gratings": ("Gradients of hue and brightness, gratings, checkerboards, made by rule", "", gratings),
    "photographs": ("Two photographs that come with scikit-learn: a temple and a flower", "", _photographs),
}


def builtin(name: str) -> list[Document]:
    """The documents of a built-in corpus; `builtin_names` lists them.

    Raises HeadlightError for a name that is none of them.
    """
    if name not in _available():
        names = ", ".join(_available())
        raise HeadlightError("the name of a built-in corpus", f"{name!r}", f"Choose one of {names}.")
    return list(_documents(name))


def builtin_names() -> list[Corpus]:
    """Every built-in corpus on this machine with its description and size."""
    corpora = []
    for name in _available():
        description, language, _ = _CORPORA[name]
        documents = _documents(name)
        sentences = sum(len(document.sentences) for document in documents)
        corpora.append(Corpus(name, description, language, documents[0].kind, len(documents), sentences))
    return corpora


def _available() -> list[str]:
    return [name for name in _CORPORA if name != "photographs" or _photograph_files()]


@cache
def _documents(name: str) -> tuple[Document, ...]:
    return tuple(_CORPORA[name][2]())
