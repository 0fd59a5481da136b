"""How long the pictures of all heads take: said before they are begun, and while they are drawn."""

from __future__ import annotations

import os

from lib.models.devices import free_bytes

SECONDS = {"pca": 0.0, "umap": 0.6e-3, "tsne": 5.2e-3}  # of one processor for each point of a head
MANY = 8  # heads from which a second process is worth its start
PROCESS = 1 << 30  # free bytes that a process of its own may need: numba and UMAP are large


def processes(heads: int) -> int:
    """Processes that draw so many heads: two where there is a second processor, and memory for it."""
    return 2 if heads > MANY and (os.cpu_count() or 1) > 1 and (free_bytes("cpu") or 0) > 3 * PROCESS else 1


def expected(method: str, heads: int, points: int) -> float:
    """Seconds that so many heads of so many points each take here, if nothing else keeps the processors busy."""
    return SECONDS[method] * heads * points / processes(heads)


def spoken(seconds: float) -> str:
    """A duration as it is said, rounded up: "10 s", "40 s", "2 min", "7 min".

    >>> spoken(3), spoken(41), spoken(61), spoken(374.4)
    ('10 s', '50 s', '2 min', '7 min')
    """
    if seconds <= 60:
        return f"{10 * max(1, -int(-seconds // 10))} s"
    return f"{-int(-seconds // 60)} min"
