"""All pair statistics of all heads, and a matrix on screen: python -m tests.bench.bench_similarity.

Caveats: the straightforward version is measured on a few heads of a few documents and scaled by pairs, since all of
it takes minutes to hours; it computes six statistics per document and nothing else, while the product also counts
anchors, token pairs, distances and similarities. Memory is what NumPy allocates, by tracemalloc, and what the process
holds more at its highest than before (Linux), each in a run of its own. Times depend on what else the machine does,
which the mean load tells; nothing is asserted.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from lib.capture import Capture, capture
from lib.corpora import builtin
from lib.models import load
from lib.similarity import (
    Measured,
    anchors,
    distance_distribution,
    layer_trend,
    measure,
    similarity_distribution,
    similarity_matrix,
    summary,
)

STEPS, TRIES = 10, 3  # heads shown one after another in the browser; clicks tried for each
# Remember when messages of the server came, of what size.
LISTEN = """
window.came = [];
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    this.addEventListener("message", (event) => window.came.push([performance.now(), event.data.byteLength || 0]));
  }
};
document.addEventListener("pointerdown", () => { window.came = []; }, true);
"""


def say(text: str) -> None:
    """Print at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


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


def everything(taken: Capture) -> Measured:
    """What the page shows of a corpus: measured once, then every table."""
    measured = measure(taken)
    for table in (summary, layer_trend, distance_distribution, similarity_distribution, anchors):
        table(measured)
    return measured


def resident_peak(work: Callable[[], Any]) -> float:
    """MB that the process holds at most while it works, above what it held before, looked at every 5 ms; Linux."""
    page = os.sysconf("SC_PAGE_SIZE")

    def held() -> int:
        return int(Path("/proc/self/statm").read_text().split()[1]) * page

    before, highest, done = held(), [0], threading.Event()

    def look() -> None:
        while not done.wait(0.005):
            highest[0] = max(highest[0], held())

    looking = threading.Thread(target=look)
    looking.start()
    try:
        work()
    finally:
        done.set()
        looking.join()
    return (highest[0] - before) / 1e6


def all_statistics(taken: Capture, slow_heads: int) -> None:
    """Time and memory of all statistics, and their ratio to the loop over pairs."""
    layers, heads = taken.z.shape[:2]
    wall, cpu = time.perf_counter(), time.process_time()
    measured = everything(taken)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    say(f"all statistics: {wall:.1f} s, {cpu:.1f} s of CPU; mean load {os.getloadavg()[0]:.1f}\n")
    tracemalloc.start()
    everything(taken)
    peak = tracemalloc.get_traced_memory()[1] / 1e6
    tracemalloc.stop()
    say(f"peak above the capture: {peak:.0f} MB allocated")
    if Path("/proc/self/statm").exists():
        say(f", {resident_peak(lambda: everything(taken)):.0f} MB more held by the process")
    pairs = sum(document.pairs for document in measured.documents) * layers * heads
    done, slow = 0, time.process_time()
    for head in range(slow_heads):
        one = taken.of(head % taken.documents)
        keep = ~one.tokens.is_special
        ends = np.array([text in {".", "!", "?"} for text in one.tokens.text])[keep]
        straightforward(one.z[0, head][keep], one.tokens.token_id[keep], one.tokens.sentence[keep], ends)
        done += keep.sum() * (keep.sum() - 1) // 2
    slow = (time.process_time() - slow) * pairs / done
    say(f"\none loop over pairs: {slow:,.0f} s of CPU for the same {pairs:,} pairs, scaled from {done:,}: ")
    say(f"{slow / cpu:.0f} × as long\n")


def matrix(width: int) -> None:
    """The arithmetic of one matrix alone."""
    z = np.random.default_rng(0).normal(size=(512, width)).astype(np.float32)
    start = time.perf_counter()
    similarity_matrix(z, "cosine")
    say(f"a matrix of 512 tokens, computed: {(time.perf_counter() - start) * 1e3:.1f} ms\n")


def on_screen() -> None:
    """Another head by a click on the map: from the click, and from the server's answer, until its matrix is drawn."""
    from tests.bench.visitor import visitor  # only here is a browser needed

    with visitor(LISTEN) as (tab, address, _):
        tab.goto(f"{address}/similarity?corpus=topics&tokens=512&layer=0&head=0", timeout=300_000)
        tab.get_by_text("In the last layer: ").first.wait_for(timeout=600_000)
        times = [_clicked(tab, head) for head in range(1, STEPS + 1)]
    say(f"a matrix of 512 tokens on screen, {STEPS} times, mean load {os.getloadavg()[0]:.1f}:\n")
    names = (
        "from the click",
        "from the server's answer",
        "processor time of server and browser from the click",
        "from the click until the server has sent everything, the Layers section last",
        "processor time until then",
    )
    for name, part in zip(names, zip(*times, strict=True), strict=True):
        say(f"  {name}: {statistics.median(part):.0f} ms ({min(part):.0f} … {max(part):.0f})\n")


def spent(parent: int) -> float:
    """Milliseconds of processor time of all processes that a process started, and theirs; 0 where it cannot be read."""
    started: dict[int, list[tuple[int, int]]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = file.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        started.setdefault(int(fields[1]), []).append((int(file.parent.name), int(fields[11]) + int(fields[12])))

    def under(process: int) -> int:
        return sum(ticks + under(child) for child, ticks in started.get(process, []))

    return 1000 * under(parent) / os.sysconf("SC_CLK_TCK")


def _quiet(tab: Any) -> float:
    """When the last message came, once none has come for a second; milliseconds of the page's clock."""
    while True:
        now, last = tab.evaluate("[performance.now(), window.came.at(-1)[0]]")
        if now - last > 1000:
            return last
        tab.wait_for_timeout(100)


def _clicked(tab: Any, head: int) -> tuple[float, float, float, float, float]:
    """Milliseconds until the matrix of a head of L1 is drawn, and until everything is there, and processor time.

    From the click, from the answer, processor time; from the click until the last message, processor time until then.
    """
    from playwright.sync_api import TimeoutError

    tab.locator("[data-testid=stStatusWidget]").wait_for(state="detached", timeout=120_000)
    tab.wait_for_timeout(1500)
    whole = tab.locator(".st-key-similarity-map canvas[tabindex]").first
    box = whole.bounding_box(timeout=300_000)
    left, top = 32, 18  # the labels of rows and columns
    place = {"x": left + (box["width"] - left) * (head + 0.5) / 12, "y": top + (box["height"] - top) * 1.5 / 6}
    matrix = tab.locator(".st-key-similarity-matrix canvas[tabindex]").first
    known = matrix.get_attribute("aria-label", timeout=300_000)
    find = "known => window.drawn.find(([at, label]) => label.startsWith('Similarity of outputs') && label !== known)"
    for left in reversed(range(TRIES)):  # a redraw may swallow the click
        before = spent(os.getpid())
        whole.click(position=place)
        try:
            tab.wait_for_function(find, arg=known, timeout=60_000)
            break
        except TimeoutError:
            if not left:
                raise
    processor = spent(os.getpid()) - before
    drawn = tab.evaluate(f"known => ({find})(known)[0]", known)
    begun, came = tab.evaluate("window.begun"), tab.evaluate("window.came")
    answered = max((size, at) for at, size in came if at <= drawn)[1]  # the matrix is the largest message
    last = _quiet(tab)
    return drawn - begun, drawn - answered, processor, last - begun, spent(os.getpid()) - before


def main() -> None:
    """Write times, memory and the ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="all-MiniLM-L6-v2")
    parser.add_argument("--corpus", default="encyclopedia")
    parser.add_argument("--heads", type=int, default=4, help="heads of the straightforward version")
    parser.add_argument("--screen", action="store_true", help="nothing but the matrix in the browser")
    given = parser.parse_args()
    if given.screen:
        on_screen()
        return
    taken = capture(load(given.model), builtin(given.corpus), keep=("z",))
    layers, heads, tokens, width = taken.z.shape
    say(f"{given.model} on {given.corpus}: {layers} × {heads} heads, {tokens:,} tokens, {taken.documents} documents\n")
    all_statistics(taken, given.heads)
    matrix(width)
    on_screen()


if __name__ == "__main__":
    main()
