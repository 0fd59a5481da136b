"""What segmentation costs: tokens per second, the ratio to a plain forward pass, and peak memory of a long text.

Run ``python -m tests.bench.bench_segmentation [model] [words]``. Ratios are printed, never asserted: they are of one
machine in one run. Both times are the best of several runs: by the clock, which tells something on a machine that does
nothing else, and of the processor, summed over threads, which other work disturbs less. The plain pass reads the same
text once in windows that do not overlap, with the model's own eager attention; segmentation reads about a third more,
because its windows overlap.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

from lib.capture.batching import model_inputs
from lib.capture.check import trusted
from lib.capture.tap import implementation
from lib.corpora import builtin
from lib.models import load
from lib.segmentation import read_tokens, segment
from lib.segmentation.passes import batches_of
from lib.segmentation.windows import windows_over

RUNS = 3


def plain(engine, tokens):
    """The text in windows side by side through the model's own eager attention, nothing looked at."""
    encodings = tokens.encodings(windows_over(len(tokens), 62, 62), engine)
    with implementation(engine.model, "eager"):
        for batch in batches_of([len(encoding.token_ids) for encoding in encodings]):
            engine.model(**model_inputs(engine, [encodings[i] for i in batch]))


def seconds(work):
    """Seconds by the clock, and of the processor in this process alone."""
    clock, processor = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - clock, time.process_time() - processor


def resident(field):
    """Megabytes of the process now (VmRSS) or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field)) / 1024


def peak(engine, words, text):
    """Megabytes above what the process held while a text of that many words is cut."""
    long = " ".join((text.split() * (words // len(text.split()) + 1))[:words])
    gc.collect()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    segment(long, engine)
    return resident("VmHWM") - before


def main():
    """Print tokens per second, ratios and memory."""
    engine = load(sys.argv[1] if len(sys.argv) > 1 else "all-MiniLM-L6-v2")
    words = int(sys.argv[2]) if len(sys.argv) > 2 else 20_000
    trusted(engine)
    text = " ".join(document.text for document in builtin("encyclopedia")[:20])
    tokens = read_tokens(text, engine)
    works = {
        "plain forward pass": lambda: plain(engine, tokens),
        "sentences, attention alone": lambda: segment(text, engine, surface=False),
        "sentences, with surface cues": lambda: segment(text, engine),
        "topics": lambda: segment(text, engine, "topic"),
    }
    taken = {name: [seconds(work) for _ in range(RUNS)] for name, work in works.items()}
    best = {name: tuple(map(min, zip(*runs, strict=True))) for name, runs in taken.items()}
    for name, (clock, processor) in best.items():
        ratios = [spent / plainly for spent, plainly in zip(best[name], best["plain forward pass"], strict=True)]
        sys.stdout.write(
            f"{name:32}{len(tokens) / clock:8.0f} tokens/s by the clock, {ratios[0]:.2f} × plain; "
            f"{len(tokens) / processor:6.0f} per processor second, {ratios[1]:.2f} ×\n"
        )
    for size in (words // 4, words):
        sys.stdout.write(f"peak memory of {size} words: {peak(engine, size, text):.0f} MB above the loaded model\n")


if __name__ == "__main__":
    main()
