"""What the Spectral room costs: ratios measured side by side in one run. Nothing is asserted.

    python -m tests.bench.bench_spectral [--quick]

Seconds depend on the machine and on what else runs there; ratios of processor time are steadier, so both stand in
the table. The literal loop is timed on a stated fraction of the same fields and scaled up. Both sides of a ratio use
one thread.
"""

from __future__ import annotations

import argparse
import cmath
import math
import os
import resource
import sys
import time

import numpy as np
from scipy.linalg import eigh

from lib.spectral import Field, lag_bands, lag_scalogram, reconstruct, snapshot_pod
from lib.spectral.analysis import analyse, ensemble
from lib.spectral.morlet import folded_wavelets
from lib.spectral.scalogram import lag_covariances, quadratic_forms
from lib.threads import one_thread

DOCUMENTS, LENGTH, LAYERS, CENTRES = 150, 256, 6, (2, 8, 24, 64)


def say(line: str = "") -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def timed(work, repeats: int = 3) -> tuple[float, float]:
    """Best wall and processor seconds of a call."""
    wall, processor = [], []
    for _ in range(repeats):
        start, spent = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - spent)
    return min(wall), min(processor)


def made_field(documents: int, length: int, seed: int = 0) -> Field:
    """A causal softmax field that decays with the lag and carries an oscillation of period 12."""
    rng = np.random.default_rng(seed)
    lag = np.subtract.outer(np.arange(length), np.arange(length))
    pattern = np.empty((documents, length, length), np.float32)
    for document in pattern:
        wave = np.cos(2 * np.pi * lag / 12 + rng.uniform(0, 2 * np.pi))
        scores = rng.standard_normal((length, length)) - 0.02 * lag + 0.5 * wave
        weights = np.where(lag >= 0, np.exp(scores), 0)
        document[:] = weights / weights.sum(axis=-1, keepdims=True)
    return Field(pattern)


def literal_scalogram(field: Field, scales, documents: int, rows: int) -> list[list[float]]:
    """⟨|W|²⟩ as it is defined: loops over snapshots, rows and lags, for the first documents and rows."""
    length, half = field.length, field.length // 2
    mean = field.mean.tolist()
    energy = [[0.0] * half for _ in scales]
    for s in range(documents):
        pattern = field.pattern[s].tolist()
        for i in range(length - half, length - half + rows):
            signal = [pattern[i][i - t] - mean[i][i - t] for t in range(half)]
            average = sum(signal) / half
            extended = [signal[abs(t)] - average for t in range(1 - half, half)]
            for a, scale in enumerate(scales):
                for b in range(half):
                    w = 0j
                    for k, value in enumerate(extended):
                        t = (k + 1 - half - b) / scale
                        w += value * cmath.exp(complex(-t * t / 2, -6 * t))
                    energy[a][b] += abs(w * math.pi**-0.25) ** 2 / scale / (documents * rows)
    return energy


def loop_with_array_bodies(field: Field, scales, documents: int, rows: int) -> np.ndarray:
    """The same loops over snapshots, rows and lags, the innermost body an array product over all scales."""
    half = field.length // 2
    wavelets = folded_wavelets(half, tuple(scales)).conj()  # (scale, b, τ)
    energy = np.zeros((len(scales), half))
    for s in range(documents):
        for i in range(field.length - half, field.length - half + rows):
            signal = (field.pattern[s, i] - field.mean[i])[i - half + 1 : i + 1][::-1]
            signal = signal - signal.mean()
            for b in range(half):
                energy[:, b] += np.abs(wavelets[:, b] @ signal) ** 2
    return energy / (documents * rows)


@one_thread()
def against_the_literal_loop(field: Field) -> None:
    scales = lag_scalogram(field).scales
    half = field.length // 2
    _, mean_only = timed(lambda: quadratic_forms(folded_wavelets(half, tuple(scales)), lag_covariances(field)[0]))
    _, ours = timed(lambda: lag_scalogram(field))
    say(f"Scalogram of one layer, {len(scales)} scales: {mean_only:.2f} s of processor time for the mean energies,")
    say(f"  {ours:.2f} s with its null and the energies of every document.")
    chosen = scales[:: len(scales) // 3][:3]
    for name, loop, part, documents, rows in (
        ("Literal loop over snapshots, rows and lags", literal_scalogram, chosen, 1, 1),
        ("The same loop with NumPy over the scales inside", loop_with_array_bodies, scales, 1, half),
    ):
        fraction = documents * rows * len(part) / (field.documents * half * len(scales))
        _, spent = timed(lambda n=loop, p=part, d=documents, r=rows: n(field, p, d, r), 1)
        say(f"{name}: {spent:.2f} s on {fraction:.1e} of the data, {spent / fraction:,.0f} s for all:")
        say(f"  {spent / fraction / mean_only:,.0f} × the mean energies, {spent / fraction / ours:,.0f} × everything.")


@one_thread()
def against_the_gram_product(field: Field) -> None:
    u = field.pattern.reshape(field.documents, -1).astype(np.float64)
    gram = u @ u.T
    floor = sum(timed(work, 5)[1] for work in (lambda: u @ u.T, lambda: eigh(gram)))
    say(f"One float64 Gram product {u.shape} and one eigh {gram.shape}: {floor * 1e3:.0f} ms of processor time.")
    dense = Field(field.pattern + np.float32(1e-3), causal=False)
    for name, work in (
        ("POD, spectrum only, causal field", lambda: snapshot_pod(field)),
        ("POD, spectrum only, dense field", lambda: snapshot_pod(dense)),
        ("POD and 6 leading modes", lambda: snapshot_pod(field).leading(6)),
        ("POD and all modes", lambda: snapshot_pod(field).modes),
    ):
        spent = timed(work, 5)[1]
        say(f"  {name}: {spent * 1e3:.0f} ms, {spent / floor:.2f} ×")


def whole(documents: int) -> None:
    fields = [made_field(documents, LENGTH, seed) for seed in range(LAYERS)]
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    what = f"N = {documents}, L = {LENGTH}, {LAYERS} layers, {len(CENTRES)} bands, all nulls, {cores} cores"
    for jobs in (1, 2):
        wall, processor = timed(lambda j=jobs: analyse(fields, CENTRES, jobs=j), 2)
        say(f"{what}, jobs={jobs}: {wall:.2f} s ({processor:.2f} s of processor time)")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 if sys.platform == "darwin" else 1024)
    say(f"Largest resident memory so far, the fields included: {peak:,.0f} MB")


def interactions(field: Field) -> None:
    window = lag_bands(field.length, [20])[0]
    modes = snapshot_pod(field, window)
    for name, work in (
        ("another band", lambda: ensemble(field, window, 20.0)),
        ("reconstruct a document from 20 modes", lambda: reconstruct(modes, 3, 20)),
    ):
        wall, processor = timed(work)
        say(f"  {name}: {wall * 1e3:.0f} ms ({processor * 1e3:.0f} ms of processor time)")


@one_thread()
def cost_table(quick: bool) -> None:
    say("    N    L   Gram ms  per N²L²   covariances ms  scalogram ms  per N·L³")
    sizes = [(n, 256) for n in (50, 150, 300, 1000)] + [(150, length) for length in (64, 128, 512)]
    spent = {}
    for documents, length in sizes[:2] if quick else sizes:
        field = made_field(documents, length)
        works = (snapshot_pod, lag_covariances, lag_scalogram)
        gram, covariances, scalogram = (timed(lambda f=field, w=w: w(f), 2)[1] for w in works)
        spent[documents, length] = gram, scalogram
        say(
            f"{documents:5d} {length:4d} {gram * 1e3:9.0f} {gram / (documents * length) ** 2 * 1e12:9.1f}"
            f" {covariances * 1e3:16.0f} {scalogram * 1e3:13.0f} {scalogram / documents / length**3 * 1e12:9.1f}"
        )
    if quick:
        return
    for name, axis, chosen in (
        ("N", 0, [size for size in spent if size[1] == 256]),
        ("L", 1, [size for size in spent if size[0] == 150]),
    ):
        x = np.log([size[axis] for size in chosen])
        slopes = [np.polyfit(x, np.log([spent[size][work] for size in chosen]), 1)[0] for work in (0, 1)]
        most = 1 + 2 * axis
        say(f"Fitted exponents of {name}: POD {slopes[0]:.2f} (at most 2), scalogram {slopes[1]:.2f} (at most {most}).")


def main() -> None:
    """Print every ratio."""
    parser = argparse.ArgumentParser(description="Ratios of the Spectral room's cost.")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and documents")
    quick = parser.parse_args().quick
    field = made_field(DOCUMENTS, LENGTH)
    against_the_literal_loop(field)
    say()
    against_the_gram_product(field)
    say()
    whole(30 if quick else DOCUMENTS)
    say()
    say("Changing one thing, no forward pass:")
    interactions(field)
    say()
    say("Processor time against N and L (last column of each pair in units of 1e-12 s):")
    cost_table(quick)


if __name__ == "__main__":
    main()
