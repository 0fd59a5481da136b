"""What the commands share: the corpus they are given, how they tell verdicts and progress, and how they give up."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from lib.corpora import Document, builtin, conllu, from_file
from lib.errors import HeadlightError
from lib.verdict_words import interval_words, number_words
from lib.verdicts import Verdict, table


def documents(corpus: str) -> list[Document]:
    """The documents of a built-in corpus, or of a file that the app could read; a .conllu file of any size."""
    file = Path(corpus)
    if not file.is_file():
        return builtin(corpus)
    return conllu(file) if file.suffix == ".conllu" else from_file(file)


def verdict_lines(verdicts: Iterable[Verdict]) -> str:
    """Claims with their marks, each followed by its parts: number, interval, null and mark."""
    lines = []
    for found in verdicts:
        lines += ["", f"{found.claim}  →  {found.mark}", f"  {found.reason} {found.note}"]
        for part in table(found.parts or [found]).itertuples():
            number = f"{number_words(part.number)} {interval_words(part.number, (part.low, part.high))}".strip()
            lines.append(f"  {part.quantity}: {number}, null {part.null} → {part.mark}. {part.note}")
    return "\n".join(lines) + "\n"


def say(done: int, total: int, stage: str) -> None:
    """Progress on one line of the terminal."""
    sys.stderr.write(f"\r{stage}: {done} of {total}    ")
    sys.stderr.flush()


@contextmanager
def told(parser: argparse.ArgumentParser) -> Iterator[None]:
    """End the command with one line and status 1 where the user can act on what went wrong, not with a traceback."""
    try:
        yield
    except (HeadlightError, OSError) as error:
        parser.exit(1, f"\n{error}\n")
