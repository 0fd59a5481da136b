"""One page about a model on a corpus: python -m lib.report MODEL CORPUS --out page.html."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from lib.command import documents, say, told
from lib.corpora import USUAL_LENGTH

DOCUMENTS = 24


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line, measure, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m lib.report", description=__doc__)
    parser.add_argument("model", help="a name of the catalogue, a folder or a Hub id")
    parser.add_argument("corpus", help="a built-in corpus, or a file that the app could read")
    parser.add_argument("--out", type=Path, required=True, help="the page")
    parser.add_argument("--documents", type=int, default=DOCUMENTS, help="at most (%(default)s)")
    parser.add_argument("--length", type=int, default=USUAL_LENGTH, help="tokens of a document at most (%(default)s)")
    parser.add_argument("--no-twin", action="store_true", help="do not measure the untrained twin")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="float32")
    given = parser.parse_args(arguments)

    from lib.models import load  # after the arguments were found to be right: they take seconds
    from lib.report.sections import report

    with told(parser):
        read = documents(given.corpus)[: given.documents]
        engine = load(given.model, device=given.device, dtype=given.dtype)
        written = report(engine, read, Path(given.corpus).name, given.length, not given.no_twin, say)
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(written, encoding="utf-8")
    sys.stdout.write(f"\n{given.out}: {len(written) / 1e3:,.0f} kB\n")


if __name__ == "__main__":
    main()
