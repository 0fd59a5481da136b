"""Calibrate a model on gold documents: ``python -m lib.segmentation.calibrate SOURCE … --model NAME``.

Writes one JSON file per condition into data/calibration, with the cross-validated scores inside, and prints them. With
``--surface`` also the files of surface cues alone, which belong to no model.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lib.command import told
from lib.corpora import Document
from lib.models import load

from .calibration import FOLDER, Calibration, head_weights, save
from .conditions import CONDITIONS, under
from .crossval import HeadFits, Judged, Prepared, fit_heads, judge_heads, judge_trees, prepared
from .features import part_shapes
from .gold import digests, gold_documents
from .metrics import scores_of
from .signals import signal_names


def calibrate(
    engine: Any,
    documents: Sequence[Document],
    condition: str,
    corpus: str,
    heads: HeadFits | None = None,
    data: Prepared | None = None,
) -> tuple[Calibration, Calibration]:
    """Calibrations of a model, and of surface cues alone, for one condition, both cross-validated by document.

    documents: gold, already under the condition; corpus: what they are called; heads, data: where already computed.
    """
    data = prepared(documents, engine) if data is None else data
    heads = fit_heads(engine, data) if heads is None else heads
    attention, surface, both = judge_heads(data, heads), judge_trees(data, None), judge_trees(data, heads)
    f1 = {
        name: round(pooled_f1(judged, data), 4)
        for name, judged in (("attention", attention), ("surface", surface), ("both", both))
    }
    sizes = {"documents": len(documents), "boundaries": int(sum(t.sum() for t in data.target))}
    measured = {"corpus": corpus, **sizes, "folds": len(set(data.fold.tolist())), "f1": f1}
    names = signal_names(len(data.tokens[0].prefix), len(data.tokens[0].suffix), engine.causal)
    linear, deviation = heads.whole
    weights = head_weights(linear, deviation, part_shapes(engine, len(names)), names, attention.threshold)
    known = frozenset(digests(documents))
    return (
        Calibration(engine.name, condition, weights, both.trees, both.threshold, known, measured),
        Calibration("", condition, None, surface.trees, surface.threshold, known, measured | {"f1": f1["surface"]}),
    )


def pooled_f1(judged: Judged, data: Prepared) -> float:
    """F1 of boundaries over all documents together."""
    pairs = list(zip(judged.found, data.target, strict=True))
    matched = sum(int((found & gold).sum()) for found, gold in pairs)
    return scores_of(matched, sum(int(g.sum()) for _, g in pairs), sum(int(f.sum()) for f, _ in pairs)).f1


def main(arguments: Sequence[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(prog="python -m lib.segmentation.calibrate", description=__doc__)
    parser.add_argument("sources", nargs="+", help="corpora by name, or gold files")
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--conditions", nargs="+", default=list(CONDITIONS), choices=list(CONDITIONS))
    parser.add_argument("--folder", type=Path, default=FOLDER)
    parser.add_argument("--surface", action="store_true", help="also write the files of surface cues alone")
    given = parser.parse_args(arguments)
    with told(parser):
        _calibrate(given)


def _calibrate(given: argparse.Namespace) -> None:
    documents = [document for source in given.sources for document in gold_documents(source)]
    engine = load(given.model)
    corpus = ", ".join(Path(source).stem for source in given.sources)
    done: dict[bytes, HeadFits] = {}
    for condition in given.conditions:
        start = time.process_time()
        changed = [under(document, condition) for document in documents]
        data = prepared(changed, engine)
        ids = np.concatenate([t.ids for t in data.tokens]).tobytes() + np.concatenate(data.target).tobytes()
        if ids not in done:  # an uncased model reads two conditions alike
            done[ids] = fit_heads(engine, data)
        own, alone = calibrate(engine, changed, condition, corpus, done[ids], data)
        paths = [save(own, given.folder), *([save(alone, given.folder)] if given.surface else [])]
        sys.stdout.write(
            f"{condition}: {own.measured['f1']} over {own.measured['boundaries']} boundaries, "
            f"{time.process_time() - start:.0f} s of processor time → {', '.join(path.name for path in paths)}\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
