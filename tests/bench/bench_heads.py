"""What the catalogue and switching heads off cost, in units of the model's forward pass.

Run ``python -m tests.bench.bench_heads [model] [corpus] [documents]``, or ``… hover`` for the script time of a move of
the pointer over one head (Chromium, no server: the page that is downloaded; median and longest of 60 moves, processor
time of the page). Ratios are printed, never asserted: they are of one machine in one run. Time is processor time, the
better of two runs; wall time is printed beside it and holds what other processes take. The forward pass is the model
alone, over the same batches, in eager attention (which alone can show a pattern) and as the model comes. Memory is the
process's peak above what it held before, with freed pages given back (Linux with glibc only), for 16 short documents
and for more of the same.
"""

from __future__ import annotations

import ctypes
import gc
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import torch
from playwright.sync_api import sync_playwright

from lib.capture.batching import encoded, model_inputs
from lib.capture.check import trusted
from lib.capture.observers import plan
from lib.capture.tap import implementation
from lib.corpora import builtin, encode
from lib.heads import describe, likeness, sweep, tally_heads
from lib.models import load
from lib.views import figure_html, head_view_figure
from tests.browser.chromium import ARGUMENTS, executable

SWITCHED = 2000  # tokens on which heads are switched off
CUT = 128  # tokens of a document whose memory is measured


def forward(engine, encodings, kind="eager"):
    """The model alone."""
    with torch.inference_mode(), implementation(engine.model, kind):
        for batch in plan(encodings, trusted(engine)):
            engine.model(**model_inputs(engine, [encodings[i] for i in batch]))


def clocked(work, runs=2):
    """Processor and wall seconds, the better of the runs."""
    found = []
    for _ in range(runs):
        start, wall = time.process_time(), time.perf_counter()
        work()
        found.append((time.process_time() - start, time.perf_counter() - wall))
    return min(found)


def resident(field):
    """Kilobytes of the process now (VmRSS) or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def peak_megabytes(work):
    """Peak memory above what the process held before."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    work()
    return (resident("VmHWM") - before) / 1024


MOVES = 60
FIND = """() => {
  const shown = (one) => one.onpointermove && one.getBoundingClientRect().width > 100;
  window.canvas = [...document.querySelectorAll("*")].find(shown);
  return Boolean(window.canvas);
}"""
MOVE = """(i) => {
  const box = window.canvas.getBoundingClientRect();
  const at = { clientX: box.left + box.width * ((i * 0.37) % 1), clientY: box.top + box.height * ((i * 0.61) % 1) };
  window.canvas.dispatchEvent(new PointerEvent("pointermove", { ...at, bubbles: true }));
}"""


def moves(page):
    """Processor time of the script of each move (move,), ms; the page's thread alone, whatever else runs."""
    if not page.evaluate(FIND):
        return np.full(1, np.nan)
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})

    def spent():
        metrics = session.send("Performance.getMetrics")["metrics"]
        return next(one["value"] for one in metrics if one["name"] == "ScriptDuration")

    took = []
    for number in range(MOVES):
        before = spent()
        page.evaluate(MOVE, number)
        took.append(1000 * (spent() - before))
    return np.array(took)


def hover():
    """Print the script time of a move over a head, by number of tokens and form."""
    patterns = np.random.default_rng(0).dirichlet(np.full(512, 0.05), 512)
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=executable(), args=ARGUMENTS)
        for tokens in (128, 512):
            words = [f"word{i % 37}" for i in range(tokens)]
            for mode in ("text", "lines", "heatmap"):
                weights = patterns[:tokens, :tokens] / patterns[:tokens, :tokens].sum(axis=1, keepdims=True)
                page = browser.new_page(viewport={"width": 1280, "height": 900})
                place = Path(folder) / "head.html"
                place.write_bytes(figure_html(head_view_figure(weights, words, mode=mode), {}))
                page.goto(place.as_uri())
                page.wait_for_timeout(1500)
                took = moves(page)
                sys.stdout.write(
                    f"hover, {tokens} tokens, {mode}: median {np.median(took):.1f} ms, longest {took.max():.1f} ms "
                    "(wanted ≤ 16 at 128)\n"
                )
                page.close()
        browser.close()


def main(name="all-MiniLM-L6-v2", corpus="encyclopedia", documents="68"):
    """Print the costs of one model on one corpus."""
    if name == "hover":
        hover()
        return
    say = sys.stdout.write
    engine = load(name, device="cpu")
    encodings = [encode(document, engine) for document in builtin(corpus)[: int(documents)]]
    tokens = sum(len(encoding.table) for encoding in encodings)
    say(f"{name}, {corpus}: {len(encodings)} documents, {tokens} tokens, {torch.get_num_threads()} threads\n")
    forward(engine, encodings[:4])
    alone, alone_wall = clocked(lambda: forward(engine, encodings))
    plain, plain_wall = clocked(lambda: forward(engine, encodings, engine.attention))
    census, census_wall = clocked(lambda: tally_heads(engine, encodings))
    whole, whole_wall = clocked(lambda: describe(engine, tally_heads(engine, encodings)), runs=1)
    say(f"forward alone {alone:.1f} s (wall {alone_wall:.1f})\n")
    say(f"… as the model comes ({engine.attention}) {plain:.1f} s (wall {plain_wall:.1f})\n")
    say(f"census {census:.1f} s (wall {census_wall:.1f}) ÷ forward: {census / alone:.2f} (wanted ≤ 2)")
    say(f", ÷ as the model comes: {census / plain:.2f}\n")
    say(f"catalogue with probe, agreement, intervals and roles {whole:.1f} s (wall {whole_wall:.1f}, wanted ≤ 20)\n")
    if sys.platform == "linux":
        some = [encode(document, engine, max_length=CUT) for document in builtin(corpus)[:16]]
        peaks = [(len(some) * n, peak_megabytes(lambda n=n: tally_heads(engine, some * n))) for n in (1, 4, 12)]
        told = ", ".join(f"{peak:.0f} MB for {count}" for count, peak in peaks)
        say(f"peak memory of the census by documents of at most {CUT} tokens: {told}\n")
    shorter, total = [], 0
    for encoding in encodings:
        if total < SWITCHED:
            shorter.append(encoding)
            total += len(encoding.table)
    off, off_wall = clocked(lambda: sweep(engine, shorter), runs=1)
    once, _ = clocked(lambda: forward(engine, shorter))
    heads = sum(place.heads for place in trusted(engine).places)
    say(f"{heads} heads off over {total} tokens {off:.1f} s (wall {off_wall:.1f}, wanted ≤ 60 for 72 heads)\n")
    say(f"… ÷ (heads × forward over the same tokens {once:.2f} s): {off / (heads * once):.2f}\n")
    distances, distances_wall = clocked(lambda: likeness(engine, encoded(engine, encodings)), runs=1)
    say(f"likeness of all heads {distances:.1f} s (wall {distances_wall:.1f})\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
