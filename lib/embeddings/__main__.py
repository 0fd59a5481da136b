"""The verdicts on AttentionViz's claims for one model and corpus: python -m lib.embeddings MODEL CORPUS."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from lib.command import documents, told, verdict_lines
from lib.corpora import encode
from lib.models import load, untrained_twin

from .evidence import evidence
from .findings import attentionviz
from .summary import head_sentences


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a model and its untrained twin on a corpus and write the verdicts, and a sentence per head if asked."""
    parser = argparse.ArgumentParser(prog="python -m lib.embeddings", description=__doc__)
    parser.add_argument("model", help="a name of the catalogue, a folder or a Hub id")
    parser.add_argument("corpus", help="a built-in corpus, or a file that the app could read")
    parser.add_argument("--documents", type=int, help="the first so many documents alone")
    parser.add_argument("--length", type=int, default=128, help="tokens of a document at most (128)")
    parser.add_argument("--sentences", action="store_true", help="a sentence about every head as well")
    given = parser.parse_args(arguments)
    with told(parser):
        read = documents(given.corpus)[: given.documents]
        engine = load(given.model)
        encodings = [encode(document, engine, given.length) for document in read]
        trained = evidence(engine, encodings)
        twin = evidence(untrained_twin(engine), encodings)
        verdicts = attentionviz(trained, twin, given.corpus)
    sys.stdout.write(verdict_lines(verdicts))
    if given.sentences:
        columns = {one.grid[1] for one in encodings if one.grid}
        sentences = head_sentences(
            trained.orders.table,
            trained.offsets.table(),
            image=trained.image,
            columns=columns.pop() if len(columns) == 1 else None,
        )
        sys.stdout.write("\n" + "\n".join(sentences.values()) + "\n")


if __name__ == "__main__":
    main()
