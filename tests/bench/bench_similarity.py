"""All pair statistics of all heads, against one loop over pairs: python -m tests.bench.bench_similarity.

Caveats: the straightforward version is measured on a few heads of a few documents and scaled by pairs, since all of
it takes minutes to hours; it computes six statistics per document and nothing else, while the product also counts
anchors, token pairs, distances and similarities. Memory is what NumPy allocates, by tracemalloc, in a run of its own.
Times depend on what else the machine does; nothing is asserted.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from itertools import combinations

import numpy as np

from lib.capture import capture
from lib.corpora import builtin
from lib.models import load
from lib.similarity import (
    anchors,
    distance_distribution,
    layer_trend,
    measure,
    similarity_distribution,
    similarity_matrix,
    summary,
)


def straightforward(z, ids, sentence, ends, top=0.01):
    """Six statistics of one head in one document, pair by pair."""
    rows = []
    for i, j in combinations(range(len(z)), 2):
        rows.append((float(z[i] @ z[j]), i, j, j - i, sentence[i] == sentence[j], ids[i] == ids[j]))
    chosen = sorted(rows, reverse=True)[: max(1, int(top * len(rows)))]
    places = [place for row in chosen for place in row[1:3]]
    within = [row[0] for row in rows if row[4]]
    between = [row[0] for row in rows if not row[4]]
    apart = [ids[a] == ids[b] for a in places for b in places if a != b]
    return (
        np.mean([row[3] for row in chosen]),
        np.mean([row[4] for row in chosen]),
        np.mean([row[5] for row in chosen]),
        np.mean(ends[places]),
        np.mean(apart),
        (np.mean(within) - np.mean(between)) / np.std(within + between) if within and between else np.nan,
    )


def everything(taken):
    """What the page shows of a corpus: measured once, then every table."""
    measured = measure(taken)
    for table in (summary, layer_trend, distance_distribution, similarity_distribution, anchors):
        table(measured)
    return measured


def main() -> None:
    """Write times, memory and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--corpus", default="encyclopedia")
    parser.add_argument("--heads", type=int, default=4, help="heads of the straightforward version")
    given = parser.parse_args()
    say = sys.stdout.write
    taken = capture(load(given.model), builtin(given.corpus), keep=("z",))
    layers, heads, tokens, width = taken.z.shape
    say(
        f"{given.model} on {given.corpus}: {layers} × {heads} heads, {tokens:,} tokens in {taken.documents} documents\n"
    )

    wall, cpu = time.perf_counter(), time.process_time()
    measured = everything(taken)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    tracemalloc.start()
    everything(taken)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    say(f"all statistics: {wall:.1f} s, {cpu:.1f} s of CPU; {peak:.0f} MB above the capture\n")

    pairs = sum(document.pairs for document in measured.documents) * layers * heads
    done, slow = 0, time.process_time()
    for head in range(given.heads):
        one = taken.of(head % taken.documents)
        keep = ~one.tokens.is_special
        ends = np.array([text in {".", "!", "?"} for text in one.tokens.text])[keep]
        straightforward(one.z[0, head][keep], one.tokens.token_id[keep], one.tokens.sentence[keep], ends)
        done += keep.sum() * (keep.sum() - 1) // 2
    slow = (time.process_time() - slow) * pairs / done
    say(f"one loop over pairs: {slow:,.0f} s of CPU for the same {pairs:,} pairs, scaled from {done:,}: ")
    say(f"{slow / cpu:.0f} × as long\n")

    z = np.random.default_rng(0).normal(size=(512, width)).astype(np.float32)
    start = time.perf_counter()
    similarity_matrix(z, "cosine")
    say(f"a matrix of 512 tokens: {(time.perf_counter() - start) * 1e3:.1f} ms\n")


if __name__ == "__main__":
    main()
