"""The maps of all heads, made beside the page: each is there as soon as it is ready, and whoever asks shares them.

PCA of all heads takes seconds and is waited for. UMAP and t-SNE take minutes: a thread draws head after head into the
store, one model and method at a time, and rests when nobody has looked for a while or somebody stopped it.
"""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field

import numpy as np

from lib.capture import Capture
from lib.embeddings import MapSettings, Tile, all_heads, load_tile, save_tile, tiles, warm_up
from lib.errors import HeadlightError
from lib.ui import cached
from lib.ui.embeddings.pace import expected, processes
from lib.ui.job import Stopped, require_watched
from lib.ui.message import explained
from lib.ui.progress import progress_line
from lib.ui.warm import settle
from lib.views import coordinates

REDRAW = 10  # seconds that a redraw may take; one that is cut short does not tell its end
UNSEEN = 75  # seconds after which maps that nobody looks at are not drawn on: a hidden tab looks once a minute
EDGE, BEYOND = 0.02, 1 / 3  # points outside this share, and further out than this part of the others' range, are strays
_ONE = threading.Lock()  # maps of one kind are drawn at a time; others queue


@dataclass(eq=False)
class Maps:
    """Pictures of all heads of one capture; arrays are filled in place.

    points   uint16 (layer, head, point, 2), see ``lib.views.coordinates``
    ready    bool (layer, head)
    notes    what was said of some map: clamps, a scale that could not be found
    state    "resting", "waiting" (for maps of another kind), "drawing", "done" or "failed"
    """

    taken: Capture
    settings: MapSettings
    points: np.ndarray
    ready: np.ndarray
    notes: dict[str, int] = field(default_factory=dict)
    state: str = "resting"
    error: HeadlightError | None = None
    stopped: bool = False
    first: tuple[int, int] | None = None  # the head that the thread began with
    seen: float = 0.0
    began: float = 0.0  # when the thread began to draw, and how many maps it has drawn since
    drawn: int = 0
    rests_until: float = 0.0  # work that nobody asked for makes way until then

    @property
    def busy(self) -> bool:
        """Whether a thread is at work, or waits to be."""
        return self.state in ("waiting", "drawing")

    def put(self, tile: Tile) -> None:
        """Take in one head's picture."""
        row = self.taken.layer_index(tile.layer)
        self.points[row, tile.head] = coordinates(framed(tile.projection.xy))
        self.ready[row, tile.head] = True
        for note in (tile.note, *tile.projection.notes):
            if note:
                self.notes[note] = self.notes.get(note, 0) + 1

    def begins_with(self, place: tuple[int, int]) -> bool:
        """Whether (layer, head) is what the thread is drawing right now."""
        row = self.taken.layer_index(place[0])
        return self.state == "drawing" and self.first == place and not (self.stopped or self.ready[row, place[1]])

    def left(self) -> None:
        """Whoever looked has asked for other maps: these are not drawn on, unless somebody else looks."""
        self.seen = 0.0

    def seconds_left(self) -> float:
        """Until all maps are there: by how long those took that were drawn since the thread began, else as expected."""
        heads = int((~self.ready).sum())
        if self.busy and self.drawn >= 2:
            return heads * (time.monotonic() - self.began) / self.drawn
        return expected(self.settings.method, heads, self.points.shape[2])

    def missing(self, first: tuple[int, int]) -> list[tuple[int, int]]:
        """(layer, head) of what is not drawn yet, nearest to ``first`` first."""
        there = [
            (layer, head)
            for layer, head in all_heads(self.taken)
            if not self.ready[self.taken.layer_index(layer), head]
        ]
        return sorted(there, key=lambda place: (place != first, abs(place[0] - first[0]), place))

    def go_on(self, first: tuple[int, int]) -> None:
        """Draw what is missing in a thread, unless one is at it, somebody stopped it, or it failed."""
        self.seen = time.monotonic()
        if self.busy or self.stopped or self.state in ("done", "failed"):
            return
        self.state, self.first = "waiting", first
        threading.Thread(target=self._work, args=(first,), daemon=True).start()

    def _work(self, first: tuple[int, int]) -> None:
        try:
            while not _ONE.acquire(timeout=0.5):
                self._check(0, 1, "")
            try:
                self.state = "drawing"
                self._draw(first)
            finally:
                _ONE.release()
            self.state = "done"
        except Stopped:
            self.state = "resting"
        except Exception as error:  # told on the page
            self.error, self.state = explained(error, "the maps of all heads"), "failed"

    def _draw(self, first: tuple[int, int]) -> None:
        missing, store = [], cached.store()
        for layer, head in self.missing(first):
            found = load_tile(store, self.taken.hash, self.settings, layer, head)
            if found is None:
                missing.append((layer, head))
            else:
                self.put(found)
        self.began, self.drawn = time.monotonic(), 0
        for tile in tiles(self.taken, self.settings, missing, self._check, processes(len(missing))):
            save_tile(store, self.taken.hash, self.settings, tile)
            self.put(tile)
            self.drawn += 1

    def _check(self, done: int, total: int, stage: str) -> None:
        require_watched(self.stopped, self.seen, UNSEEN)


def maps(taken: Capture, settings: MapSettings, points: int) -> Maps:
    """The maps with these settings, all drawn where the method is PCA, else as far as they are."""

    def build() -> Maps:
        shape = taken.query.shape[:2]
        made = Maps(taken, settings, np.zeros((*shape, points, 2), np.uint16), np.zeros(shape, bool))
        if settings.method == "pca":
            with progress_line() as progress:
                for tile in tiles(taken, settings, progress=progress):
                    made.put(tile)
            made.state = "done"
        return made

    return cached.kept("embeddings: maps", settings.key(taken.hash, -1, -1), build)


def framed(xy: np.ndarray) -> np.ndarray:
    """Points (point, 2) of which strays are drawn in: to a third beyond where all but 2 % lie along each axis.

    One stray point would make a speck of all the others in a small picture; the large one shows it where it is.
    """
    low, high = np.quantile(xy, [EDGE / 2, 1 - EDGE / 2], axis=0)
    beyond = BEYOND * (high - low)
    return np.clip(xy, low - beyond, high + beyond)


def known_maps(taken: Capture, settings: MapSettings) -> Maps | None:
    """The same where somebody asked for them before, who is there again: work unasked for makes way."""
    found: Maps | None = cached.known("embeddings: maps", settings.key(taken.hash, -1, -1))
    if found is not None:
        found.rests_until = time.monotonic() + REDRAW
    return found


def warm() -> None:
    """Compile UMAP in a thread, once per server, so that nobody's first click waits for it."""

    def compile_once() -> None:
        warm_up()
        settle()

    cached.kept("embeddings: warm", "", lambda: threading.Thread(target=compile_once, daemon=True).start() or True)
