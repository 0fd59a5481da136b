"""Fill the store on a bigger machine: python -m lib.precompute MODEL CORPUS PROJECTION.

The capture and one map per head are written as soon as each is ready, so a run that was stopped goes on where it was.
The app finds them when it looks into the same folder (HEADLIGHT_STORE) with the same device, precision and token limit,
for the whole corpus and for its first documents. Heads are spread over processes by joblib: call
``fill`` under ``joblib.parallel_config`` to hand them to Dask or Ray instead. On a graphics card UMAP and t-SNE run
there where TorchDR is installed.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from joblib import parallel_config

from lib.capture import Capture, Store, capture, capture_key
from lib.corpora import USUAL_LENGTH, Document, Encoding, builtin, conllu, encode
from lib.embeddings import METHODS, MapSettings, Tile, all_heads, head_map, load_tile, save_tile, tiles
from lib.embeddings.gpu import installed, project_on
from lib.embeddings.sampling import MOST

Progress = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Filled:
    """What a run did: the capture's hash, maps there were already, and maps it made."""

    capture_hash: str
    found: int
    made: int


def fill(
    engine: Any,
    documents: Sequence[Document | Encoding],
    settings: MapSettings,
    store: Store,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Filled:
    """Capture documents and draw every head's map, writing what the store does not have.

    settings: of the maps. jobs: processes, joblib's configuration if None. ``progress(done, total, stage)`` may raise
    to stop; what was written stays. Raises what ``capture`` and ``tiles`` raise.
    """
    key = capture_key(engine, documents)
    taken = store.capture(key, lambda: capture(engine, documents, progress=progress))
    places = all_heads(taken)
    missing = [place for place in places if load_tile(store, key, settings, *place) is None]
    for tile in _drawn(engine, taken, settings, missing, jobs, progress):
        save_tile(store, key, settings, tile)
    return Filled(key, len(places) - len(missing), len(missing))


def _drawn(
    engine: Any,
    taken: Capture,
    settings: MapSettings,
    places: list[tuple[int, int]],
    jobs: int | None,
    progress: Progress | None,
) -> Iterator[Tile]:
    """The maps of some heads: one after the other on a graphics card, else by joblib."""
    on_card = engine.device.startswith("cuda") and installed() and settings.method != "pca"
    if not on_card:
        yield from tiles(taken, settings, places, progress, jobs)
        return
    own, theirs = settings.samples(taken)
    for done, (layer, head) in enumerate(places):
        if progress:
            progress(done, len(places), f"arranging {len(places)} heads on {engine.device}")
        joint = head_map(taken, layer, head, settings.scale, settings.roles, own.rows, theirs.rows)
        drawn = project_on(engine.device, joint.points, settings.method, settings.dimensions, settings.seed)
        yield Tile(layer, head, drawn, joint.role, joint.note)


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the command line and fill the store."""
    parser = argparse.ArgumentParser(prog="python -m lib.precompute", description=__doc__)
    parser.add_argument("model", help="a name of the catalogue, a folder or a Hub id")
    parser.add_argument("corpus", help="a built-in corpus, or a .conllu file")
    parser.add_argument("projection", choices=METHODS)
    parser.add_argument("--dimensions", type=int, choices=(2, 3), default=2)
    parser.add_argument("--scale", default="variance", help="variance, norm, search or a number")
    parser.add_argument("--most", type=int, default=MOST, help=f"tokens shown at most ({MOST:,})")
    parser.add_argument(
        "--length", type=int, default=USUAL_LENGTH, help=f"tokens of a document at most ({USUAL_LENGTH})"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; −1: one per core")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--store", type=Path, default=Path(os.environ.get("HEADLIGHT_STORE", ".headlight/store")))
    given = parser.parse_args(arguments)

    from lib.models import load  # after the arguments were found to be right: it takes seconds

    engine = load(given.model, device=given.device, dtype=given.dtype)
    documents = conllu(given.corpus) if given.corpus.endswith(".conllu") else builtin(given.corpus)
    encodings = [encode(document, engine, given.length) for document in documents]
    scale = given.scale if given.scale in ("variance", "norm", "search") else float(given.scale)
    settings = MapSettings(given.projection, given.dimensions, scale, most=given.most, seed=given.seed)
    with parallel_config("loky", n_jobs=given.jobs, inner_max_num_threads=1):
        done = fill(engine, encodings, settings, Store(given.store), progress=_say)
    sys.stdout.write(f"\n{done.made} maps made, {done.found} there already, in {given.store}\n")


def _say(done: int, total: int, stage: str) -> None:
    sys.stdout.write(f"\r{stage}: {done} of {total}    ")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
