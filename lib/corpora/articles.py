"""The format of the texts in data/texts, and the corpora built from it.

`# Title | subject` opens an article; below it one gold sentence a line; an empty line opens a paragraph. In a file of
passages the lines below a title are the text itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from lib.errors import HeadlightError

from .document import Document
from .gold import joined
from .sentences import sentence_spans

PAIR = "sentence pair"  # a probe of this subject has two sentences, the second being the second text


def articles(text: str, name: str) -> list[Document]:
    """One document per article: sentences joined by one space, paragraphs by a newline, all boundaries gold.

    Raises HeadlightError with the line number where a sentence stands before the first title or an article is empty.
    """
    found = []
    for title, subject, paragraphs, line in _blocks(text, name):
        if not paragraphs:
            raise _malformed(name, line, f"the article {title!r} has no sentence")
        found.append(_article(title, subject, paragraphs))
    return found


def passages(text: str, name: str) -> list[Document]:
    """One document per passage, its lines and empty lines kept as they are; sentences by rule.

    Raises HeadlightError with the line number where text stands before the first title or a passage is empty.
    """
    head, *parts = re.split(r"^# *(.*)\n", text, flags=re.MULTILINE)
    if head.strip():
        raise _malformed(name, 1, "text before the first title")
    found = []
    for line, content in zip(parts[::2], parts[1::2], strict=True):
        title, _, subject = (part.strip() for part in line.partition("|"))
        body = content.strip("\n")
        if not body.strip():
            at = text[: text.index(line)].count("\n") + 1
            raise _malformed(name, at, f"the passage {title!r} has no text")
        found.append(Document(title, body, sentence_spans(body), topics=((0, len(body)),), subject=subject))
    return found


def _blocks(text: str, name: str) -> Iterator[tuple[str, str, list[list[str]], int]]:
    """(title, subject, paragraphs of sentences, line of the title) of each article."""
    block, fresh = None, True
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("#"):
            if block:
                yield block
            title, _, subject = (part.strip() for part in line[1:].partition("|"))
            block, fresh = (title, subject, [], number), True
        elif not line.strip():
            fresh = True
        elif block is None:
            raise _malformed(name, number, "a sentence before the first title")
        else:
            if fresh:
                block[2].append([])
            block[2][-1].append(line.strip())
            fresh = False
    if block:
        yield block


def _article(title: str, subject: str, paragraphs: list[list[str]]) -> Document:
    text, sentences = "", []
    for paragraph in paragraphs:
        for number, sentence in enumerate(paragraph):
            text += ("\n" if number == 0 else " ") if text else ""
            sentences.append((len(text), len(text) + len(sentence)))
            text += sentence
    second = sentences[1][0] if subject == PAIR else None
    return Document(title, text, tuple(sentences), topics=((0, len(text)),), second=second, gold=True, subject=subject)


def _malformed(name: str, line: int, problem: str) -> HeadlightError:
    return HeadlightError(
        "articles: '# Title | subject', then one sentence a line",
        f"line {line} of {name!r}: {problem}",
        "Correct that line.",
    )


def topic_mosaics(
    documents: list[Document],
    count: int = 20,
    segments: tuple[int, int] = (5, 9),
    length: tuple[int, int] = (4, 11),
    seed: int = 0,
) -> list[Document]:
    """Documents made of the beginnings of articles of different subjects, with gold topic boundaries.

    segments, length  smallest and largest number of articles per document and of sentences per article

    Neighbouring articles differ in subject and no article occurs twice in a document. Sentences are joined by
    newlines: for topics the ends of sentences are given.
    """
    random = np.random.default_rng(seed)
    mosaics = []
    for number in range(1, count + 1):
        wanted = int(random.integers(segments[0], segments[1] + 1))
        chosen: list[Document] = []
        for index in random.permutation(len(documents)):
            if len(chosen) < wanted and (not chosen or chosen[-1].subject != documents[index].subject):
                chosen.append(documents[index])
        pieces = []
        for document in chosen:
            spans = document.sentences[: int(random.integers(length[0], length[1] + 1))]
            pieces.append([document.text[start:end] for start, end in spans])
        mosaics.append(joined(pieces, f"mosaic {number}", "\n", subject="topics"))
    return mosaics
