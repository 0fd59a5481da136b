"""What the commands share: the corpus they are given and the line that says how far they are."""

from __future__ import annotations

import sys
from pathlib import Path

from lib.corpora import Document, builtin, conllu, from_file


def documents(corpus: str) -> list[Document]:
    """The documents of a built-in corpus, or of a file that the app could read; a .conllu file of any size."""
    file = Path(corpus)
    if not file.is_file():
        return builtin(corpus)
    return conllu(file) if file.suffix == ".conllu" else from_file(file)


def say(done: int, total: int, stage: str) -> None:
    """Progress on one line of the terminal."""
    sys.stderr.write(f"\r{stage}: {done} of {total}    ")
    sys.stderr.flush()
