"""What is measured of all heads: long work beside the page, kept by model, texts and attention."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from contextlib import suppress

import numpy as np
import pandas as pd

from lib import models
from lib.embeddings import (
    Evidence,
    Orders,
    Tile,
    all_heads,
    evidence,
    load_tile,
    tiles,
    trust_table,
    what_orders,
)
from lib.ui import cached
from lib.ui.embeddings.maps import Maps
from lib.ui.embeddings.source import stream_name
from lib.ui.embeddings.stage import Stage
from lib.ui.job import Progress, worked
from lib.ui.progress import give_way

EVIDENCE, TWIN, TRUST = "embeddings-evidence", "embeddings-twin", "embeddings-trust"
QUIET = 1.0  # seconds after a redraw before trust is measured unasked


def measured(on: Stage) -> Evidence | None:
    """What the claims and rankings rest on; None until somebody asked for it and it is there."""

    def work(progress: Progress) -> Evidence:
        return evidence(on.now.engine, on.read.encodings, on.taken, stream_name(on.ask), progress)

    return worked(EVIDENCE, on.key, "Measure all heads", work)


def known_evidence(on: Stage) -> Evidence | None:
    """The same where it has been measured already."""
    return cached.known(EVIDENCE, on.key)


def measured_twin(on: Stage) -> Evidence | None:
    """The same of the untrained twin, which is drawn, measured and released."""

    def work(progress: Progress) -> Evidence:
        progress(0, 1, "drawing the weights of the untrained twin")
        twin = models.untrained_twin(on.now.engine)
        try:
            return evidence(twin, on.read.encodings, stream=stream_name(on.ask), progress=progress)
        finally:
            twin.release()

    return worked(TWIN, on.key, "Measure the untrained twin as well", work)


def measured_trust(on: Stage, made: Maps) -> pd.DataFrame | None:
    """The trust numbers of every head's small picture; None until they are there."""

    def work(progress: Progress) -> pd.DataFrame:
        return trust_table(on.taken, _tiles(on, made), made.settings, progress=progress)

    return worked(TRUST, trust_key(on, made), "Measure the trust of all pictures", work)


def trust_soon(on: Stage, made: Maps) -> None:
    """Measure the trust of all pictures in a thread, once: what is drawn next marks those of low trust.

    Called when a redraw ends. Whoever clicks goes first: the thread rests while the page is redrawn, and a second.
    """
    made.rests_until = time.monotonic() + QUIET
    if not (made.ready.all() and {"query", "key"} <= set(on.ask.roles)):
        return

    def rest(done: int, total: int, stage: str) -> None:
        while time.monotonic() < made.rests_until:
            time.sleep(0.1)

    def build() -> pd.DataFrame:
        return trust_table(on.taken, _tiles(on, made), made.settings, progress=rest)

    def measure() -> None:
        with suppress(Exception):  # told where somebody asks for it
            cached.kept(TRUST, trust_key(on, made), build)

    def start() -> bool:
        threading.Thread(target=measure, daemon=True).start()
        return True

    cached.kept("embeddings: trust begun", trust_key(on, made), start)


def known_trust(on: Stage, made: Maps | None) -> pd.DataFrame | None:
    """The same where it has been measured already."""
    return None if made is None else cached.known(TRUST, trust_key(on, made))


def trust_key(on: Stage, made: Maps) -> str:
    """Names the pictures whose trust is measured."""
    return made.settings.key(on.taken.hash, -1, -1)


def _tiles(on: Stage, made: Maps) -> Iterable[Tile]:
    if made.settings.method == "pca":
        return tiles(on.taken, made.settings)
    found = [load_tile(cached.store(), on.taken.hash, made.settings, *place) for place in all_heads(on.taken)]
    return [tile for tile in found if tile is not None]


def head_orders(on: Stage) -> Orders:
    """What orders the chosen head's map, in the full space; a moment's work."""
    key = f"{on.key} {on.ask.scale} {on.name}"
    images = on.read.encodings if on.image else None
    return cached.kept(
        "embeddings: orders",
        key,
        lambda: what_orders(on.taken, images, heads=[on.chosen], scale=on.ask.scale, progress=give_way),
    )


def doubtful(on: Stage, table: pd.DataFrame | None) -> np.ndarray | None:
    """Which pictures are of low trust, bool (layer, head), where that has been measured."""
    if table is None:
        return None
    found = np.zeros(on.taken.query.shape[:2], bool)
    for row in table[table.doubtful != ""].itertuples():
        found[on.taken.layer_index(row.layer), row.head] = True
    return found
