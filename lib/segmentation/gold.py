"""Gold documents for calibration and benchmark, from a name or a file, without line ends that give sentences away."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from lib.corpora import Document, builtin, builtin_names, choi, conllu, external, external_names, lines
from lib.corpora.decoding import decoded_file
from lib.corpora.gold import joined
from lib.numerals import plural

from .errors import SegmentationError

SUFFIXES = (".conllu", ".ref", ".txt", ".jsonl")


class NoBoundary(SegmentationError):
    """Gold data without a boundary of the granularity that was asked for."""


def gold_documents(source: str, granularity: str = "sentence") -> list[Document]:
    """Documents with gold boundaries.

    source: a built-in or external corpus by name, a .conllu file, a .ref file of Choi's format or a folder of them, a
    .txt file with one sentence a line, or a .jsonl file with one object a line: {"sentences": [text, …]} or
    {"topics": [[text, …], …]}. For sentences, those that stand one a line are joined by a space.

    Raises SegmentationError, with the line number where there is one, for what is not such a source, and where no
    document has a boundary of that granularity.
    """
    documents = _documents(source)
    if granularity == "sentence":
        documents = [_unlined(document) for document in documents]
    spans = [d.sentences if granularity == "sentence" else d.topics for d in documents]
    if not any(len(s) > 1 for s in spans):
        raise NoBoundary(
            f"gold data with at least one {granularity} boundary",
            f"{plural(len(documents), 'document')} of {Path(source).name!r} without any",
            "Join several of them, or choose another granularity.",
        )
    return documents


def _documents(source: str) -> list[Document]:
    if source in {corpus.name for corpus in builtin_names() if corpus.kind == "text"}:
        return builtin(source)
    if source in external_names():
        return external(source)
    path = Path(source)
    if path.is_dir():
        files = sorted(path.rglob("*.ref"))
        if files:
            return [choi(file) for file in files]
    if not path.is_file() or path.suffix.lower() not in SUFFIXES:
        raise SegmentationError(
            f"a corpus of this machine, a file of {', '.join(SUFFIXES)}, or a folder of .ref files",
            repr(source),
            "Corpora here: " + ", ".join([c.name for c in builtin_names() if c.kind == "text"] + [*external_names()]),
        )
    match path.suffix.lower():
        case ".conllu":
            return conllu(path)
        case ".ref":
            return [choi(path)]
        case ".txt":
            return [lines(path)]
    return _jsonl(path)


def _jsonl(path: Path) -> list[Document]:
    documents = []
    for number, line in enumerate(decoded_file(path).split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
            topics = _listed(record["topics"]) if "topics" in record else [record["sentences"]]
            clean = [[s.strip() for s in _listed(topic) if s.strip()] for topic in topics]
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise SegmentationError(
                'one JSON object a line with "sentences": [text, …] or "topics": [[text, …], …]',
                f"line {number} of {path.name!r}{_why(error)}",
                "Correct that line.",
            ) from error
        if any(clean):
            documents.append(joined([topic for topic in clean if topic], f"{path.stem} {number}", " "))
    if not documents:
        raise SegmentationError("at least one document", f"none in {path.name!r}", "Choose another file.")
    return documents


def _listed(value: object) -> list:
    """A list as it is; a text or an object in its place would be read letter by letter, or by its keys alone."""
    if not isinstance(value, list):
        raise TypeError
    return value


def _why(error: Exception) -> str:
    """What is wrong with a line. The parser's own words also count lines, within this one: they are left out."""
    match error:
        case json.JSONDecodeError():
            return f", column {error.colno}: {error.msg}"
        case KeyError():
            return f": no {error}"
        case RecursionError():
            return ": nested too deeply"
        case TypeError() | AttributeError():
            return ": not texts in a list"
    return f": {error}"


def _unlined(document: Document) -> Document:
    """Sentences that stand one a line, joined by one space instead."""
    between = {document.text[a[1] : b[0]] for a, b in pairwise(document.sentences)}
    if between != {"\n"}:
        return document
    topics = [[document.text[a:b] for a, b in document.sentences if start <= a < end] for start, end in document.topics]
    return joined([topic for topic in topics if topic], document.name, " ", subject=document.subject)


def folds_of(documents: int, folds: int = 5, seed: int = 0) -> np.ndarray:
    """Fold of each document, equally large to within one: int (document,)."""
    order = np.random.default_rng(seed).permutation(documents)
    fold = np.empty(documents, dtype=np.int64)
    fold[order] = np.arange(documents) % folds
    return fold


def digests(documents: Sequence[Document]) -> list[str]:
    """What identifies a document under every condition: a digest of its letters and digits, without case."""
    letters = ("".join(c for c in document.text.lower() if c.isalnum()) for document in documents)
    return [hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:12] for text in letters]
