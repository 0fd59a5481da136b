"""A model's attention fields in numbers, at the depths of the paper's six layers: python -m lib.spectral MODEL CORPUS.

Writes a Markdown table; ``--verdicts`` adds one line per claim of Zeris and per part of it.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

import numpy as np

from lib.command import documents, told, verdict_lines
from lib.models import load
from lib.numerals import with_interval, written

from .analysis import LayerAnalysis, analyse
from .claim_evidence import PAPER_LAYERS, evidence, paper_rows
from .claims import zeris
from .evidence import complexity, spectrum_numbers
from .fields import head_mean_field
from .heads_pod import HeadGrams, head_grams, heads_needed
from .nulls import null_interval
from .pod import snapshot_pod
from .windows import DEFAULT_COUNT, windows

HEADER = ("layer", "centroid", "strongest scale @ lag", "T_spec", "entropy rank", "participation", "H*(0.1)", "heads")


def rows(layers: Sequence[LayerAnalysis], fields: Sequence, grams: HeadGrams) -> list[list[str]]:
    """One row of text per layer at the depth of one of the paper's, [95 % over windows]."""
    numbers = [replicates.interval() for replicates in complexity([snapshot_pod(field) for field in fields]).values()]
    found = []
    for row in paper_rows(range(1, PAPER_LAYERS + 1), len(layers)):
        layer = layers[row]
        centroid, strongest = layer.profile.centroid_interval(), next(iter(layer.dominant), None)
        needed = heads_needed(grams.of(layer.layer))
        measured = [with_interval(n.estimate[row], n.low[row], n.high[row]) for n in numbers[:3]]
        rank = f"{layer.growth.rank[-1]:.0f}{' (unresolved)' if layer.growth.unresolved else ''}"
        scale = "none"
        if strongest:
            scale = f"{strongest.scale:.1f} @ {written(strongest.lag, '+d')}, {strongest.ratio:.2f} ×"
        ends = with_interval(centroid.estimate, centroid.low, centroid.high)
        heads = f"{with_interval(needed.estimate, needed.low, needed.high)} of {grams.pattern.shape[-1]}"
        found.append([f"L{layer.layer}", ends, scale, *measured, rank, heads])
    return found


def noise(layer: LayerAnalysis) -> str:
    """What white noise in as many windows and cells gives."""
    draws = np.array([spectrum_numbers(spectrum) for spectrum in layer.white]).T
    ends = [null_interval(values) for values in draws]
    names = ("T_spec", "entropy rank", "participation", "H*")
    shown = ["n/a" if np.isnan(low) else f"{low:.3g} … {high:.3g}" for low, high in ends]
    return ", ".join(f"{name} {each}" for name, each in zip(names, shown, strict=True))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure a model on a corpus and write the table."""
    parser = argparse.ArgumentParser(prog="python -m lib.spectral", description=__doc__)
    parser.add_argument("model", help="a name of the catalogue, a folder or a Hub id")
    parser.add_argument("corpus", help="a built-in corpus, or a file that the app could read")
    parser.add_argument("--windows", type=int, default=DEFAULT_COUNT, help="how many windows, N")
    parser.add_argument("--length", type=int, help="tokens each, L; what model and texts allow if left out")
    parser.add_argument("--verdicts", action="store_true", help="the paper's claims as well")
    given = parser.parse_args(arguments)
    with told(parser):
        read = documents(given.corpus)
        engine = load(given.model)
        cut = windows(read, engine, given.length, given.windows)
        fields, grams = head_mean_field(engine, cut), head_grams(engine, cut)
        layers = analyse(fields)
    lines = [f"{given.model} on {given.corpus}: {cut.summary} White noise: {noise(layers[0])}.", ""]
    lines += [f"| {' | '.join(cells)} |" for cells in (HEADER, ["---"] * len(HEADER), *rows(layers, fields, grams))]
    sys.stdout.write("\n".join(lines) + "\n")
    if given.verdicts:
        sys.stdout.write(verdict_lines(zeris(evidence(fields, grams, engine.name), given.corpus)))


if __name__ == "__main__":
    main()
