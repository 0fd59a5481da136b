"""CoNLL-U text: gold documents, sentences, words and tags. Reads strings; gold.py reads files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath

from lib.errors import HeadlightError

from .document import Document, Span

_PUD_ID = re.compile(r"[a-z]\d{8}")  # Parallel UD: the first six characters name the document
_ID = re.compile(r"(\d{1,9})(?:([-.])(\d{1,9}))?")
_WHITE = re.compile(r"\s*")


@dataclass(frozen=True)
class _Row:
    """A word or a range of words: its line, numbers (last: None for a word), form, tag, and no space after it."""

    line: int
    first: int
    last: int | None
    form: str
    tag: str
    close: bool


@dataclass
class _Sentence:
    """One sentence: its text, the spans of its words in it, their tags, and what its comments say."""

    text: str = ""
    words: list[Span] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    opens_document: str | None = None
    opens_paragraph: bool = False
    sent_id: str = ""


def parsed(text: str, file: str) -> list[Document]:
    """Documents of CoNLL-U text with gold sentences, words and universal part-of-speech tags.

    file: name of the file that the text comes from, told where it is malformed; without its suffix it names documents.

    A document begins at `# newdoc`; where there is none, at a change of the first six characters of sent_id if the
    ids are those of a Parallel UD treebank; else the whole is one document. Sentences are joined by one space, by a
    newline where `# newpar` opens a paragraph inside a document. A multiword token whose words do not add up to its
    letters is one word with the tag of its first.

    Raises HeadlightError with the line number of the first malformed line: one of other than ten columns, a number out
    of order, a word that the text does not have there.

    **Source** https://universaldependencies.org/format.html
    """
    sentences = list(_sentences(text, file))
    if not sentences:
        raise _malformed(file, 1, "no sentence")
    name = PurePath(file).stem
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


def _sentences(text: str, file: str) -> Iterator[_Sentence]:
    block: list[tuple[int, str]] = []
    for number, line in enumerate([*text.split("\n"), ""], 1):
        if line.strip():
            block.append((number, line))
        elif block and any(not entry.startswith("#") for _, entry in block):
            yield _sentence(block, file)
            block = []  # comments alone, a stray empty line behind them, belong to the next sentence


def _sentence(block: list[tuple[int, str]], file: str) -> _Sentence:
    sentence, rows = _Sentence(), []
    for number, line in block:
        if line.startswith("#"):
            _comment(sentence, line[1:].strip())
            continue
        columns = line.split("\t")
        if len(columns) != 10:
            found = "1 column" if len(columns) == 1 else f"{len(columns)} columns"
            raise _malformed(file, number, f"{found} separated by tabs, not 10")
        match = _ID.fullmatch(columns[0])
        if not match or (match[2] != "." and int(match[1]) == 0):
            raise _malformed(file, number, f"{columns[0]!r} is no token number")
        if not columns[1].strip():
            raise _malformed(file, number, f"token {columns[0]} without a form")
        if match[2] != ".":  # 8.1 is an empty node: a word of the analysis, not of the text
            last = int(match[3]) if match[2] else None
            rows.append(_Row(number, int(match[1]), last, columns[1], columns[3], "SpaceAfter=No" in columns[9]))
    _require_order(rows, file)
    _place_words(sentence, rows, file)
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


def _require_order(rows: list[_Row], file: str) -> None:
    """Raise HeadlightError unless words count 1, 2, 3 …, and ranges do so too and hold all of their words."""
    following, whole = 1, None  # number of the next word, the range that it may belong to
    for row in rows:
        told = str(row.first) if row.last is None else f"{row.first}-{row.last}"
        if row.last is not None and row.last < row.first:
            raise _malformed(file, row.line, f"token range {told} ends before it begins")
        if row.first != following:
            remedy = "; is an empty line missing before it?" if row.first == 1 else ""
            raise _malformed(file, row.line, f"token number {told} where {following} follows{remedy}")
        if row.last is None:
            following += 1
            continue
        if whole is not None and row.first <= whole.last:
            raise _malformed(file, row.line, f"token range {told} overlaps {whole.first}-{whole.last}")
        whole = row
    if whole is not None and following <= whole.last:
        missing = f"words {following} to {whole.last}" if following < whole.last else f"word {following}"
        raise _malformed(file, whole.line, f"multiword token {whole.form!r} without {missing}")


def _place_words(sentence: _Sentence, rows: list[_Row], file: str) -> None:
    """Find every word in the sentence's text, in order; without `# text` the text is made of the words."""
    surfaces, covered = [], 0  # (row, its words as rows)
    for row in rows:
        if row.last is None and row.first <= covered:
            surfaces[-1][1].append(row)
            continue
        surfaces.append((row, [] if row.last else [row]))
        covered = row.last or covered
    if not sentence.text:
        sentence.text = "".join(row.form + " " * (not row.close) for row, _ in surfaces).strip()
    cursor = 0
    for row, parts in surfaces:
        start = _WHITE.match(sentence.text, cursor).end()
        if not sentence.text.startswith(row.form, start):
            there = sentence.text[start : start + 20]
            raise _malformed(file, row.line, f"word {row.form!r} is not where the text has {there!r}")
        cursor = start + len(row.form)
        whole = "".join(part.form for part in parts) == row.form
        for form, tag in [(part.form, part.tag) for part in parts] if whole else [(row.form, parts[0].tag)]:
            sentence.words.append((start, start + len(form)))
            sentence.tags.append("" if tag == "_" else tag)
            start += len(form)
    if rest := sentence.text[cursor:].strip():
        raise _malformed(file, rows[-1].line, f"the text goes on with {rest[:20]!r} after the last word")


def _malformed(file: str, line: int, problem: str) -> HeadlightError:
    return HeadlightError(
        "CoNLL-U: ten tab-separated columns a word, an empty line after a sentence",
        f"line {line} of {file!r}: {problem}",
        "Correct that line; https://universaldependencies.org/format.html describes the format.",
    )
