"""The benchmark: every method on gold text, under every condition, with intervals over documents.

``python -m lib.segmentation.benchmark [SOURCE …]`` prints the table; sources are corpora by name or gold files, the
built-in ones by default. Documents that a calibration was fitted on are never used to judge it: they are left out, and
``--cross-validate`` fits anew without each document's fold instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pandas as pd

from lib.command import say, told
from lib.models import load
from lib.numerals import plural

from .conditions import CONDITIONS
from .errors import SegmentationError
from .gold import NoBoundary, gold_documents
from .judging import Failure, Result
from .sentence_benchmark import cross_validated, sentence_results
from .topic_benchmark import topic_results

SOURCES = {"sentence": ("encyclopedia", "conversation"), "topic": ("topics",)}


def table(results: Sequence[Result]) -> pd.DataFrame:
    """One row per corpus, condition and method: scores with their intervals, all as numbers."""
    return pd.DataFrame([result.row() for result in results])


def printed(results: Sequence[Result]) -> str:
    """The table for people: scores as shares of 1, those of F1 and Pk with 95 % intervals in brackets."""
    lines, before = [], None
    for result in results:
        head = (result.corpus, result.condition)
        if head != before:
            unit = "sentences" if result.granularity == "topic" else "tokens"
            counts = f"{plural(result.documents, 'document')}, {plural(result.boundaries, 'boundary', 'boundaries')}"
            lines.append(
                f"\n{result.corpus}, {result.condition}: {counts}, positions in {unit}\n{'method':44}{result.header()}"
            )
            before = head
        lines.append(f"{result.method:44}{result.line()}")
    return "\n".join(lines)


def shown_failures(results: Sequence[Result], count: int) -> str:
    """Where each method fails: up to ``count`` missed and false boundaries, in their surroundings."""
    lines = []
    for result in results:
        chosen: list[Failure] = []
        for kind in ("missed", "false"):
            chosen += [f for f in result.failures if f.kind == kind][:count]
        lines += [f"\n{result.method}, {result.condition}"] * bool(chosen)
        lines += [f"  {f.kind:7}{f.document}: … {f.before} ¦ {f.after} …" for f in chosen]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m lib.segmentation.benchmark", description=__doc__)
    parser.add_argument("sources", nargs="*", help="corpora by name, or gold files")
    parser.add_argument(
        "--granularity", choices=list(SOURCES), default=None, help="by default all that a source has boundaries of"
    )
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), choices=list(CONDITIONS))
    parser.add_argument("--cross-validate", action="store_true", help="sentences: fit anew without each fold")
    parser.add_argument(
        "--documents", type=at_least(1), default=None, help="use the first so many documents of each source"
    )
    parser.add_argument(
        "--examples",
        type=at_least(0),
        default=0,
        help="missed and false boundaries to show per method: up to so many of each",
    )
    parser.add_argument("--csv", type=Path, default=None, help="also write the table there")
    given = parser.parse_args(arguments)
    with told(parser):
        results = _results(given)
        sys.stdout.write(printed(results) + shown_failures(results, given.examples) + "\n")
        if given.csv:
            table(results).to_csv(given.csv, index=False)


def at_least(least: int) -> Callable[[str], int]:
    """What reads a count of the command line; argparse tells what is wrong with it."""

    def count(written: str) -> int:
        try:
            number = int(written)
        except ValueError:
            number = least - 1
        if number < least:
            raise argparse.ArgumentTypeError(
                f"expected a whole number of {least} or more; got {written}. Leave it out for "
                f"{'all' if least else 'none'}"
            )
        return number

    return count


def _has(source: str, granularity: str) -> bool:
    """Whether a source has boundaries of a granularity; raises as `gold_documents` does where it has none at all."""
    try:
        return bool(gold_documents(source, granularity))
    except NoBoundary:
        if granularity == "topic":
            return False
        gold_documents(source, "topic")
        return False


def _asked(given: argparse.Namespace) -> list[tuple[str, str]]:
    """Granularities and sources to judge; every source is read, so that a bad one is told before the work begins."""
    asked = []
    for granularity in [given.granularity] if given.granularity else list(SOURCES):
        for source in dict.fromkeys(given.sources or SOURCES[granularity]):
            if given.granularity:
                gold_documents(source, granularity)
            if given.granularity or _has(source, granularity):
                asked.append((granularity, source))
    return asked


def _results(given: argparse.Namespace) -> list[Result]:
    asked = _asked(given)
    if given.csv and not given.csv.parent.is_dir():
        raise SegmentationError("a folder that is there for --csv", f"{str(given.csv.parent)!r}", "Create it first.")
    if given.csv and given.csv.is_dir():
        raise SegmentationError("the name of a file for --csv", f"the folder {str(given.csv)!r}", "Add a file name.")
    engine = load(given.model)
    conditions = list(dict.fromkeys(given.conditions))
    results: list[Result] = []
    for granularity, source in asked:
        if granularity == "topic":
            results += topic_results(source, engine, given.documents, say)
        elif given.cross_validate:
            results += cross_validated(source, engine, conditions, given.documents, say)
        else:
            results += sentence_results(source, engine, conditions, given.documents, say)
    return results


if __name__ == "__main__":
    main()
