"""Files with gold boundaries: treebanks, Choi's topic segmentation sets, and one sentence a line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lib.errors import HeadlightError

from .conll import parsed
from .decoding import decoded_file
from .document import Document, Span

_TOPIC_BREAK = "=========="


def conllu(path: str | Path) -> list[Document]:
    """Documents of a CoNLL-U file with gold sentences, words and universal part-of-speech tags (see conll.parsed).

    Raises HeadlightError with the line number of the first malformed line.
    """
    return parsed(decoded_file(path), Path(path).name)


def choi(path: str | Path) -> Document:
    """One document of Choi's format: a sentence a line, topics between lines of equals signs.

    Sentences are joined by newlines, since for topics the ends of sentences are given.

    Raises HeadlightError where there is no sentence.

    **Source** F. Choi, "Advances in domain independent linear text segmentation", NAACL 2000.
    """
    path = Path(path)
    segments: list[list[str]] = [[]]
    for line in decoded_file(path).split("\n"):
        if line.startswith(_TOPIC_BREAK):
            segments.append([])
        elif line.strip():
            segments[-1].append(line.strip())
    return _of_lines([segment for segment in segments if segment], f"{path.parent.name}/{path.stem}", path)


def lines(path: str | Path) -> Document:
    """One document of a file with one gold sentence a line, joined by newlines.

    Raises HeadlightError where there is no sentence.
    """
    sentences = [line.strip() for line in decoded_file(path).split("\n") if line.strip()]
    return _of_lines([sentences] if sentences else [], Path(path).stem, Path(path))


def _of_lines(segments: list[list[str]], name: str, path: Path) -> Document:
    if not segments:
        raise HeadlightError("one sentence a line", f"no line with text in {path.name!r}", "Choose another file.")
    return joined(segments, name, "\n")


def joined(segments: Sequence[Sequence[str]], name: str, between: str, **more: object) -> Document:
    """A document of topical segments of gold sentences, everything joined by `between`."""
    text, sentences, topics = "", [], []
    for segment in segments:
        first = len(text) + (len(between) if text else 0)
        for sentence in segment:
            text += between if text else ""
            sentences.append(_span(len(text), sentence))
            text += sentence
        topics.append((first, len(text)))
    return Document(name, text, tuple(sentences), tuple(topics), gold=True, **more)


def _span(start: int, sentence: str) -> Span:
    return start, start + len(sentence)
