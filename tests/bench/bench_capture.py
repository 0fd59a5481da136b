"""What capturing costs: time against a plain eager forward pass, peak memory against the bytes kept.

Run ``python -m tests.bench.bench_capture [model] [corpus] [documents]``. Ratios are printed, never asserted: they
are of one machine in one run. Time is processor time, the best of several alternating runs over the same batches;
the plain pass runs the whole model, while a capture stops after its last attention. Memory is the process's peak
above what it held with the model loaded and warm (Linux only): batches in flight and what the allocator does not
give back are in it.
"""

from __future__ import annotations

import gc
import sys
import time
from pathlib import Path

import torch

from lib.capture import capture, estimate, self_check
from lib.capture.batching import encoded, model_inputs
from lib.capture.check import trusted
from lib.capture.observers import plan
from lib.capture.tap import implementation
from lib.corpora import builtin
from lib.models import load

RUNS = 4


def plain(engine, encodings):
    """The same batches through the model's own eager attention, nothing kept."""
    with torch.inference_mode(), implementation(engine.model, "eager"):
        for batch in plan(encodings, trusted(engine)):
            engine.model(**model_inputs(engine, [encodings[i] for i in batch]))


def seconds(work):
    """Processor seconds of this process: other processes of a busy machine do not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def resident(field):
    """Kilobytes of the process now (VmRSS) or at its peak (VmHWM)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(field))


def peak_ratio(engine, encodings):
    """Peak memory above the model while capturing, over the bytes kept."""
    capture(engine, encodings[:8])
    gc.collect()
    before = resident("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")  # the peak counts from here
    captured = capture(engine, encodings)
    kept = sum(getattr(captured, name).nbytes for name in ("query", "key", "value", "z"))
    return 1024 * (resident("VmHWM") - before) / kept, kept


def main(name="all-MiniLM-L6-v2", corpus="encyclopedia", documents="24"):
    say = sys.stdout.write
    engine = load(name, device="cpu")
    encodings = encoded(engine, builtin(corpus)[: int(documents)])
    tokens = sum(len(encoding.table) for encoding in encodings)
    say(f"{name}, {corpus}: {len(encodings)} documents, {tokens} tokens, {torch.get_num_threads()} threads\n")
    say(f"self-check {self_check(engine).seconds:.2f} s\n")
    if sys.platform == "linux":
        ratio, kept = peak_ratio(engine, encodings)
        say(f"peak memory above the model ÷ {kept >> 20} MB kept: {ratio:.2f} (wanted ≤ 1.5)\n")
    times = [
        (seconds(lambda: capture(engine, encodings)), seconds(lambda: plain(engine, encodings))) for _ in range(RUNS)
    ]
    ours, theirs = (min(column) for column in zip(*times, strict=True))
    say(f"capture {ours:.2f} s ÷ plain eager {theirs:.2f} s: {ours / theirs:.2f} (wanted ≤ 1.3)\n")
    say(f"estimated beforehand {estimate(engine, encodings).seconds:.2f} s of wall time\n")


if __name__ == "__main__":
    main(*sys.argv[1:4])
