"""Reading many documents takes the memory of one batch: what is freed goes back to the system."""

import sys
from pathlib import Path

import pytest

from lib.capture import observe
from lib.corpora import builtin, encode


class Nothing:
    needs = frozenset({"pattern"})

    def see(self, block):
        pass


def resident():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_does_not_grow_with_the_documents(minilm):
    encodings = [encode(document, minilm, max_length=128) for document in builtin("encyclopedia")[:16]] * 8
    megabytes = []
    observe(minilm, encodings, Nothing(), progress=lambda done, total, stage: megabytes.append(resident()))
    assert len(megabytes) > 4  # batches
    assert megabytes[-1] - megabytes[1] < 150  # kept, the batches after the first would be 700
