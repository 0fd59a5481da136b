"""Memory over many captures: what is not kept goes back, and the measure would see what is."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RUNS, FLAT = 50, 40  # runs, and megabytes that the allocator may hold on to; one capture is 9 MB

PROGRAM = """
import psutil
from lib.capture import capture
from lib.corpora import builtin, encode
from lib.models import load
engine = load("all-MiniLM-L6-v2", device="cpu")
read = [encode(document, engine, 64) for document in builtin("conversation")[:4]]
sizes, kept = [], []
for run in range({runs}):
    captured = capture(engine, read)
    if {keep}:
        kept.append(captured)
    sizes.append(psutil.Process().memory_info().rss / 2**20)
print(sizes[9], max(sizes[-5:]))
"""


def growth(keep, runs=RUNS):
    """Megabytes by which the process grew from its tenth run to its last."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM.format(runs=runs, keep=keep))],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    early, late = map(float, done.stdout.split())
    return late - early


@pytest.mark.slow
def test_fifty_captures_leave_the_memory_flat():
    assert growth(keep=False) < FLAT


@pytest.mark.slow
def test_captures_that_are_kept_would_be_seen():
    assert growth(keep=True, runs=25) > 2.5 * FLAT
