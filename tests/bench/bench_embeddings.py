"""Maps of all heads against the straightforward way: python -m tests.bench.bench_embeddings [PART …].

Caveats: heads are Gaussian clusters of the size of a real capture, so what a picture looks like says nothing; the slow
versions are measured on a few heads or rows and scaled, since all of them would take many minutes; UMAP and t-SNE are
timed after one small run that compiles them, thumbnails on a few heads in one process and scaled. Times are of the CPU
(process time, all threads) beside those of the wall: what else the machine does moves the second. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from lib.capture import Store
from lib.capture.value import Capture
from lib.corpora.table import TokenTable
from lib.embeddings import (
    MapSettings,
    distance_agreement,
    head_map,
    nearest,
    principal_axes,
    project,
    save_tile,
    search,
    tiles,
    trust,
    what_orders,
)
from lib.stats import spearman

say = sys.stdout.write


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """The result, seconds of CPU, seconds of the wall."""
    cpu, wall = time.process_time(), time.perf_counter()
    result = work()
    return result, time.process_time() - cpu, time.perf_counter() - wall


def made(layers: int, heads: int, documents: int, length: int, width: int) -> Capture:
    """A capture of clustered queries and keys."""
    rng = np.random.default_rng(0)
    n = documents * length
    pos = np.tile(np.arange(length), documents)
    ids = rng.zipf(1.3, size=n) % 3000
    blank = np.full(n, -1)
    table = TokenTable(
        doc=np.repeat(np.arange(documents), length), pos=pos, text=[f"t{i}" for i in ids], start=pos, end=pos + 1,
        word=pos, sentence=pos // 16, is_special=np.zeros(n, bool), token_id=ids, part_of_speech=[""] * n,
        segment=np.zeros(n), row=blank, col=blank,
    )  # fmt: skip
    centres = 2 * rng.normal(size=(40, width)).astype(np.float32)
    sides = [
        centres[rng.integers(40, size=(layers, heads, n))]
        + rng.standard_normal((layers, heads, n, width), dtype=np.float32)
        for _ in range(2)
    ]
    return Capture(
        tokens=table, doc_offsets=np.arange(documents + 1) * length, layers=tuple(range(layers)),
        query=sides[0], key=sides[1], model="made", hash="made",
    )  # fmt: skip


def pca() -> None:
    """Joint maps and principal axes of all heads, and the same by a full SVD of every head."""
    for layers, heads, width in ((6, 12, 32), (12, 12, 64)):
        capture = made(layers, heads, 50, 100, width)
        done, cpu, wall = timed(lambda c=capture: list(tiles(c, MapSettings(most=5_000))))
        say(f"PCA of {len(done)} heads × {len(done[0].role):,} points of width {width}: ")
        say(f"{cpu:.1f} s of CPU, {wall:.1f} s\n")
        points = head_map(capture, 0, 0).points
        _, slow, _ = timed(lambda p=points: np.linalg.svd(p - p.mean(axis=0), full_matrices=False))
        say(f"  by SVD {slow * len(done):.1f} s (scaled from one head), {slow * len(done) / cpu:.1f} × as long\n")
    tracemalloc.start()
    list(islice(tiles(capture, MapSettings(most=5_000)), 12))
    say(f"  peak above the capture {tracemalloc.get_traced_memory()[1] / 1e6:.0f} MB\n")
    tracemalloc.stop()
    with tempfile.TemporaryDirectory() as folder:
        for tile in done:
            save_tile(Store(folder), capture.hash, MapSettings(), tile)
        size = sum(file.stat().st_size for file in Path(folder).iterdir())
    say(f"  coordinates of {len(done)} heads on disk: {size / 1e6:.1f} MB\n")


def neighbours() -> None:
    """Exact neighbours by blocked products, and by scikit-learn's brute force."""
    from sklearn.neighbors import NearestNeighbors

    points = head_map(made(1, 1, 50, 100, 32), 0, 0).points
    _, cpu, wall = timed(lambda: nearest(points, 15))
    brute = NearestNeighbors(n_neighbors=15, metric="cosine", algorithm="brute").fit(points)
    _, slow, _ = timed(lambda: brute.kneighbors(points[:2_000]))
    slow *= len(points) / 2_000
    say(f"15 neighbours of {len(points):,} points: {cpu:.2f} s of CPU, {wall:.2f} s; ")
    say(f"scikit-learn {slow:.2f} s, {slow / cpu:.1f} × as long\n")


def umap() -> None:
    """One large UMAP with neighbours given, and as umap-learn does it by itself; small ones, scaled to 72 heads."""
    from umap import UMAP

    from lib.embeddings import warm_up

    _, cpu, wall = timed(warm_up)
    say(f"UMAP imported and compiled: {cpu:.1f} s of CPU, {wall:.1f} s\n")
    points = head_map(made(1, 1, 50, 100, 32), 0, 0).points
    drawn, fast, wall = timed(lambda: project(points, "umap"))
    say(f"UMAP of {len(points):,} points: {fast:.1f} s of CPU, {wall:.1f} s; ")
    say(f"neighbours kept {drawn.fidelity['neighbours_kept']:.2f}\n")
    small = points[:: len(points) // 2_000][:2_000]
    _, cpu, wall = timed(lambda: [project(small, "umap") for _ in range(3)])
    say(f"UMAP of {len(small):,} points: {cpu / 3:.2f} s of CPU, {wall / 3:.2f} s; 72 heads on two cores ")
    say(f"{cpu / 3 * 36:.0f} s, first after {wall / 3:.1f} s\n")
    _, slow, _ = timed(lambda: UMAP(metric="cosine", init="pca", random_state=0, n_jobs=1).fit_transform(points))
    say(f"  by umap-learn's own settings {slow:.1f} s, {slow / fast:.1f} × as long\n")


def tsne() -> None:
    """One t-SNE by openTSNE with neighbours given."""
    points = head_map(made(1, 1, 50, 100, 32), 0, 0).points
    _, cpu, wall = timed(lambda: project(points, "tsne"))
    say(f"t-SNE of {len(points):,} points: {cpu:.1f} s of CPU, {wall:.1f} s\n")


def agreement() -> None:
    """Distance against score of one head, and the same row by row through scipy."""
    capture = made(1, 1, 50, 100, 32)
    query, key = capture.query[0, 0].astype(float), capture.key[0, 0].astype(float)
    found, cpu, _ = timed(lambda: distance_agreement(query, key, capture.doc_offsets, False))

    def plain() -> float:
        moved = key - key.mean(axis=0) + query.mean(axis=0)
        rows = []
        for i in range(100):
            distance = 1 - moved[:100] @ query[i] / np.linalg.norm(moved[:100], axis=1) / np.linalg.norm(query[i])
            rows.append(spearman(distance, key[:100] @ query[i]))
        return float(np.mean(rows))

    _, slow, _ = timed(plain)
    slow *= found.rows / 100
    say(f"distance against score, {found.rows:,} rows: {cpu:.3f} s of CPU; row by row {slow:.2f} s, ")
    say(f"{slow / cpu:.0f} × as long\n")


def orders() -> None:
    """What orders the map, and the trust numbers, of one head."""
    capture = made(1, 2, 50, 100, 32)
    _, cpu, _ = timed(lambda: what_orders(capture))
    say(f"what orders this map: {cpu / 2:.2f} s of CPU per head\n")
    settings = MapSettings(most=5_000)
    rows = settings.samples(capture)[0]
    joint = head_map(capture, 0, 0)
    drawn = principal_axes(joint.points)
    _, cpu, _ = timed(lambda: trust(capture, 0, 0, joint, drawn, rows))
    say(f"trust numbers of {len(joint.points):,} points: {cpu:.2f} s of CPU\n")


def finding() -> None:
    """A search over 5,000 tokens, which serves all heads."""
    texts = made(1, 1, 50, 100, 2).tokens.text
    for kind, wanted in (("exact", "t7"), ("regex", "^t[0-9]*7$")):
        found, _, wall = timed(lambda k=kind, w=wanted: search(texts, w, k))
        say(f"search, {kind}: {found.count} of {len(texts):,} tokens in {wall * 1e3:.0f} ms\n")


def page() -> None:
    """The page in a browser: the first picture, another head, another colour, a search, another scale, UMAP of all."""
    from tests.bench.visitor import visitor  # only here is a browser needed

    with visitor() as (tab, address, received):
        _visit(tab, address, received)


def _visit(tab: Any, address: str, received: list[int]) -> None:

    def resting() -> None:
        tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=60_000)
        tab.wait_for_timeout(800)

    def drawn(label: str, act: Callable[[], Any]) -> str:
        """Seconds from the last key or click of an action to the drawing of a picture, and what was received."""
        received.clear()
        act()
        found = "label => window.drawn.findLast(([at, name]) => name.startsWith(label))"
        tab.wait_for_function(found, arg=label, timeout=60_000)
        after = tab.evaluate(f"label => ({found})(label)[0] - window.begun", label)
        resting()
        return f"{after:.0f} ms, {sum(received) / 1000:.0f} kB in all\n"

    def pick(field: str, option: str) -> None:
        tab.get_by_label(field, exact=True).click()
        tab.get_by_role("option", name=option, exact=True).click()

    def find(text: str) -> None:
        tab.get_by_label("Search all heads").fill(text)
        tab.keyboard.press("Enter")

    start = time.perf_counter()
    tab.goto(f"{address}/embeddings?layer=2&head=3")
    tab.get_by_text("near here, near in full").wait_for(timeout=300_000)
    say(f"a fresh server: all heads of MiniLM, one head and its trust after {time.perf_counter() - start:.1f} s, ")
    resting()
    say(f"{sum(received) / 1000:.0f} kB\n")
    whole = tab.locator(".st-key-embeddings-matrix canvas[tabindex]").first
    box = whole.bounding_box()
    cell = int((box["width"] - 32) / 12)

    def click(layer: int, head: int) -> None:
        place = {"x": 32 + (head + 0.5) * cell, "y": 18 + (layer + 0.5) * cell}
        say(f"  click on L{layer} H{head} → its 10,000 points: ")
        say(drawn(f"L{layer} H{head} by", lambda: whole.click(position=place)))

    for place in ((4, 5), (1, 9), (0, 2)):  # while UMAP is still being compiled
        click(*place)
    say(f"  another colour → all heads: {drawn('All heads', lambda: pick('Coloured by', 'position'))}")
    say(f"  a search → lit in all heads: {drawn('All heads', lambda: find('the'))}")
    tab.wait_for_timeout(15_000)
    for place in ((3, 4), (5, 1), (2, 10), (0, 7), (4, 8)):
        click(*place)


PARTS = {one.__name__: one for one in (pca, neighbours, agreement, orders, finding, umap, tsne, page)}


def main() -> None:
    """Run the parts asked for, all by default, and write times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help="all if none is named")
    for name in parser.parse_args().parts or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
