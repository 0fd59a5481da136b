"""The verdicts on the paper's claims for one model and corpus: python -m lib.similarity MODEL CORPUS."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lib.command import documents, told, verdict_lines
from lib.models import load, untrained_twin

from .claims import evidence, halevi


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a model and its untrained twin on a corpus and write one line per verdict and part."""
    parser = argparse.ArgumentParser(prog="python -m lib.similarity", description=__doc__)
    parser.add_argument("model", help="a name of the catalogue, a folder or a Hub id")
    parser.add_argument("corpus", help="a built-in corpus, or a file that the app could read")
    parser.add_argument("--stream", help="of an encoder–decoder: encoder, decoder or cross")
    given = parser.parse_args(arguments)
    with told(parser):
        read = documents(given.corpus)
        engine = load(given.model)
        trained = evidence(engine, read, stream=given.stream)
        twin = evidence(untrained_twin(engine), read, stream=given.stream)
        verdicts = halevi(trained, twin, given.corpus)
    sys.stdout.write(verdict_lines(verdicts))


if __name__ == "__main__":
    main()
