"""Tables of texts: one document per row of a csv file or per line of a jsonl file."""

from __future__ import annotations

import csv
import io
import json
from collections import deque
from collections.abc import Iterator

from lib.errors import HeadlightError

from .decoding import cleaned

MAX_ROWS = 2000
_DELIMITERS = ",;\t|"
_TEXT_COLUMNS = ("text", "sentence", "content", "body", "document", "review", "comment", "message", "abstract", "title")

Rows = list[tuple[str, str]]  # (name, text)


def from_csv(text: str, name: str) -> tuple[Rows, list[str]]:
    """(name, text) of each row of a table with a header line, and notes on the column that was taken.

    Columns are separated by that one of , ; tab | which the header line has most of. The column is the one with a
    telling name, else the one with the longest entries.

    Raises HeadlightError where the table has no header, no rows or no text.
    """
    csv.field_size_limit(2**24)
    delimiter = _delimiter(text)
    try:
        header, *rows = [row for row in _rows(text, delimiter) if any(map(str.strip, row))]
    except (ValueError, csv.Error) as error:
        raise _no_table(name, "no rows" if isinstance(error, ValueError) else str(error)) from error
    whole = {number: row for number, row in enumerate(rows, 1) if len(row) == len(header)}
    column = _text_column(header, list(whole.values()))
    if column is None:
        raise _no_table(name, "no row with text under its header line")
    entries = [(f"{name} {number}", row[column]) for number, row in whole.items() if row[column].strip()]
    notes = [f"Took the column {header[column]!r} of {len(header)}; one document per row, {len(entries)} in all."]
    if broken := len(rows) - len(whole):
        notes.append(f"Left out {broken} of {len(rows)} rows that do not have {len(header)} columns.")
    if empty := len(whole) - len(entries):
        notes.append(f"Left out {empty} rows without text.")
    if _left_open(text, delimiter):
        notes.append(
            "A quotation mark is never closed, so its row reaches to the end of the file. Close it if it should not."
        )
    return _bounded(entries, notes)


def _rows(text: str, delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True, strict=strict)


def _left_open(text: str, delimiter: str) -> bool:
    """Whether the file ends within quotation marks; csv reads on over every line until it does."""
    try:
        deque(_rows(text, delimiter, strict=True), maxlen=0)
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def _delimiter(text: str) -> str:
    """The mark that cuts the header line into most columns; csv.Sniffer takes seconds for lines of quotes."""
    header = text.lstrip().partition("\n")[0]
    return max(_DELIMITERS, key=lambda mark: len(next(csv.reader([header], delimiter=mark), ())))


def _text_column(header: list[str], rows: list[list[str]]) -> int | None:
    letters = [sum(map(str.isalpha, "".join(row[i] for row in rows))) for i in range(len(header))]
    if not rows or not any(letters):
        return None
    named = {title.strip().lower(): i for i, title in reversed(list(enumerate(header)))}
    telling = [named[title] for title in _TEXT_COLUMNS if title in named and letters[named[title]]]
    return telling[0] if telling else max(range(len(header)), key=letters.__getitem__)


def _no_table(name: str, problem: str) -> HeadlightError:
    return HeadlightError(
        "a table with a header line and a column of texts",
        f"{name!r}: {problem}",
        "Put the column names in the first line, or save the texts as a txt file.",
    )


def from_jsonl(text: str, name: str) -> tuple[Rows, list[str]]:
    """(name, text) of each line of JSON with a "text" field ("name" or "title" where given), and notes.

    Raises HeadlightError with the line number of the first line that is not such an object.
    """
    entries, blank = [], 0
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:  # also numbers of thousands of digits
            problem = getattr(
                error, "msg", "nested too deeply" if isinstance(error, RecursionError) else "a huge number"
            )
            raise _not_record(name, number, f"not JSON ({problem})") from error
        if not isinstance(record, dict) or not isinstance(record.get("text"), str):
            raise _not_record(name, number, "no text under 'text'")
        if not (entry := cleaned(record["text"])[0]).strip():
            blank += 1
            continue
        title = record.get("name") or record.get("title")
        entries.append((cleaned(str(title))[0] if title else f"{name} {number}", entry))
    if not entries:
        raise _not_record(name, 1, "no text at all")
    return _bounded(entries, [f"Left out {blank} empty text{'s' * (blank > 1)}."] if blank else [])


def _not_record(name: str, line: int, problem: str) -> HeadlightError:
    return HeadlightError(
        'one JSON object with a "text" field per line',
        f"line {line} of {name!r}: {problem}",
        "Correct that line, or save the texts as a txt file.",
    )


def _bounded(entries: Rows, notes: list[str]) -> tuple[Rows, list[str]]:
    if len(entries) > MAX_ROWS:
        notes.append(f"Read the first {MAX_ROWS:,} of {len(entries):,} texts.")
    return entries[:MAX_ROWS], notes
