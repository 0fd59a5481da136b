"""CoNLL-U text: gold documents, sentences, words and tags. Reads strings; gold.py reads files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from lib.errors import HeadlightError

from .document import Document, Span

_PUD_ID = re.compile(r"[a-z]\d{8}")  # Parallel UD: the first six characters name the document
_ID = re.compile(r"(\d{1,9})(?:([-.])(\d{1,9}))?")
_WHITE = re.compile(r"\s*")


@dataclass
class _Sentence:
    """One sentence: its text, the spans of its words in it, their tags, and what its comments say."""

    text: str = ""
    words: list[Span] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    opens_document: str | None = None
    opens_paragraph: bool = False
    sent_id: str = ""


def parsed(text: str, name: str) -> list[Document]:
    """Documents of CoNLL-U text with gold sentences, words and universal part-of-speech tags.

    A document begins at `# newdoc`; where there is none, at a change of the first six characters of sent_id if the
    ids are those of a Parallel UD treebank; else the whole is one document. Sentences are joined by one space, by a
    newline where `# newpar` opens a paragraph inside a document. A multiword token whose words do not add up to its
    letters is one word with the tag of its first.

    Raises HeadlightError with the line number of the first malformed line.

    **Source** https://universaldependencies.org/format.html
    """
    sentences = list(_sentences(text, name))
    if not sentences:
        raise _malformed(name, 1, "no sentence")
    if not any(s.opens_document is not None for s in sentences) and all(
        _PUD_ID.fullmatch(s.sent_id) for s in sentences
    ):
        for before, sentence in zip([None, *sentences], sentences, strict=False):
            if before is None or before.sent_id[:6] != sentence.sent_id[:6]:
                sentence.opens_document = sentence.sent_id[:6]
    groups: list[list[_Sentence]] = []
    for sentence in sentences:
        if not groups or sentence.opens_document is not None:
            groups.append([])
        groups[-1].append(sentence)
    return [
        _document(group, group[0].opens_document or (name if len(groups) == 1 else f"{name} {number}"))
        for number, group in enumerate(groups, 1)
    ]


def _document(sentences: list[_Sentence], name: str) -> Document:
    text, spans, words, tags = "", [], [], []
    for sentence in sentences:
        if text:
            text += "\n" if sentence.opens_paragraph else " "
        offset = len(text)
        text += sentence.text
        spans.append((offset, len(text)))
        words += [(offset + start, offset + end) for start, end in sentence.words]
        tags += sentence.tags
    return Document(name, text, spans, topics=((0, len(text)),), words=words, tags=tags, gold=True)


def _sentences(text: str, name: str) -> Iterator[_Sentence]:
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.strip():
            block.append((number, line))
        elif block and any(not entry.startswith("#") for _, entry in block):
            yield _sentence(block, name)
            block = []  # comments alone, a stray empty line behind them, belong to the next sentence


def _sentence(block: list[tuple[int, str]], name: str) -> _Sentence:
    sentence, rows = _Sentence(), []
    for number, line in block:
        if line.startswith("#"):
            _comment(sentence, line[1:].strip())
            continue
        columns = line.split("\t")
        if len(columns) != 10:
            raise _malformed(name, number, f"{len(columns)} columns separated by tabs, not 10")
        match = _ID.fullmatch(columns[0])
        if not match or (match[2] != "." and int(match[1]) == 0):
            raise _malformed(name, number, f"{columns[0]!r} is no token number")
        if match[2] != ".":  # 8.1 is an empty node: a word of the analysis, not of the text
            last = int(match[3]) if match[2] else None
            rows.append((number, int(match[1]), last, columns[1], columns[3], "SpaceAfter=No" in columns[9]))
    _place_words(sentence, rows, name)
    return sentence


def _comment(sentence: _Sentence, comment: str) -> None:
    key, _, value = (part.strip() for part in comment.partition("="))
    if key in ("newdoc", "newdoc id"):
        sentence.opens_document = value
    elif key in ("newpar", "newpar id"):
        sentence.opens_paragraph = True
    elif key == "text":
        sentence.text = value
    elif key == "sent_id":
        sentence.sent_id = value


def _place_words(sentence: _Sentence, rows: list[tuple], name: str) -> None:
    """Find every word in the sentence's text, in order; without `# text` the text is made of the words."""
    surfaces, covered = [], 0  # [line, form, parts (form, tag), no space after]
    for number, first, last, form, tag, close in rows:
        if last is None and first <= covered:
            surfaces[-1][2].append((form, tag))
            continue
        surfaces.append([number, form, [] if last else [(form, tag)], close])
        covered = last or covered
    if not sentence.text:
        sentence.text = "".join(form + " " * (not close) for _, form, _, close in surfaces).strip()
    cursor = 0
    for number, form, parts, _ in surfaces:
        start = _WHITE.match(sentence.text, cursor).end()
        if not sentence.text.startswith(form, start):
            there = sentence.text[start : start + 20]
            raise _malformed(name, number, f"word {form!r} is not where the text has {there!r}")
        if not parts:
            raise _malformed(name, number, f"multiword token {form!r} without words")
        cursor = start + len(form)
        whole = "".join(part for part, _ in parts) == form
        for part, tag in parts if whole else [(form, parts[0][1])]:
            sentence.words.append((start, start + len(part)))
            sentence.tags.append("" if tag == "_" else tag)
            start += len(part)


def _malformed(name: str, line: int, problem: str) -> HeadlightError:
    return HeadlightError(
        "CoNLL-U: ten tab-separated columns a word, an empty line after a sentence",
        f"line {line} of {name!r}: {problem}",
        "Correct that line; https://universaldependencies.org/format.html describes the format.",
    )
