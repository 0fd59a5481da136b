"""Fill the store on a bigger machine: python -m lib.precompute MODEL CORPUS PROJECTION.

The corpus as Similarity and Heads read it, the tokens that Embeddings reads of it, and one map per head are written as
soon as each is ready, so a run that was stopped goes on where it was. The app finds them when it looks into the same
folder (HEADLIGHT_STORE) with the same device, precision and limits of tokens; a capture of the whole corpus also serves
its first documents and each alone. Heads are spread over processes by joblib: call
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

from joblib import parallel_config

from lib.capture import Capture, Store, capture_key, stored
from lib.command import documents, say, told
from lib.corpora import USUAL_LENGTH, Document, Encoding, encode
from lib.embeddings import METHODS, MapSettings, Tile, all_heads, head_map, load_tile, save_tile, tiles
from lib.embeddings.gpu import installed, project_on
from lib.embeddings.reading import READ, read_documents
from lib.embeddings.sampling import THUMBNAIL
from lib.models import Engine

Progress = Callable[[int, int, str], None]
DRAWN = ("query", "key")  # what the Embeddings page captures: its maps are named by that


@dataclass(frozen=True)
class Filled:
    """What a run did: the hash by which maps are named, maps there were already, and maps it made."""

    capture_hash: str
    found: int
    made: int


def fill(
    engine: Engine,
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
    taken = stored(store, engine, documents, progress=progress)
    key = capture_key(engine, documents, DRAWN)
    places = all_heads(taken)
    missing = [place for place in places if load_tile(store, key, settings, *place) is None]
    for tile in _drawn(engine, taken, settings, missing, jobs, progress):
        save_tile(store, key, settings, tile)
    return Filled(key, len(places) - len(missing), len(missing))


def _drawn(
    engine: Engine,
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
    parser.add_argument("corpus", help="a built-in corpus, or a file that the app could read")
    parser.add_argument("projection", choices=METHODS)
    parser.add_argument("--dimensions", type=int, choices=(2, 3), default=2)
    parser.add_argument("--scale", type=_scale, default="variance", help="variance, norm, search or a number")
    parser.add_argument("--read", type=int, default=READ, help="tokens that the maps are made of (%(default)s)")
    parser.add_argument("--most", type=int, default=THUMBNAIL, help="tokens shown at most (%(default)s)")
    parser.add_argument("--length", type=int, default=USUAL_LENGTH, help="tokens of a document at most (%(default)s)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=-1, help="processes; −1: one per core")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--store", type=Path, default=Path(os.environ.get("HEADLIGHT_STORE", ".headlight/store")))
    given = parser.parse_args(arguments)

    from lib.models import load  # after the arguments were found to be right: it takes seconds

    with told(parser):
        settings = MapSettings(given.projection, given.dimensions, given.scale, most=given.most, seed=given.seed)
        texts, store = documents(given.corpus), Store(given.store)
        engine = load(given.model, device=given.device, dtype=given.dtype)
        stored(store, engine, [encode(text, engine, given.length) for text in texts], progress=say)
        read = read_documents(texts, engine, given.read, given.length)
        with parallel_config("loky", n_jobs=given.jobs, inner_max_num_threads=1):
            done = fill(engine, read.encodings, settings, store, progress=say)
    sys.stdout.write(f"\n{done.made} maps made, {done.found} there already, in {given.store}\n")


def _scale(given: str) -> str | float:
    if given in ("variance", "norm", "search"):
        return given
    try:
        return float(given)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"variance, norm, search or a number, not {given!r}") from error


if __name__ == "__main__":
    main()
