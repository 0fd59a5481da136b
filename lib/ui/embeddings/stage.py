"""What the page shows in this run: the scene, what the controls ask for, and everything read and captured for it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from lib.capture import Capture
from lib.embeddings import MapSettings, Search, search
from lib.ui.embeddings.colours import NORM, Known, colouring, known, norm_colouring, norms
from lib.ui.embeddings.controls import Look
from lib.ui.embeddings.measures import Ask, Points, Reading, captured, map_points, reading, reading_key, samples
from lib.ui.scene import Scene
from lib.views import Colouring


@dataclass(frozen=True, eq=False)
class Stage:
    """One run of the page; made afresh each time, everything in it is kept elsewhere."""

    now: Scene
    ask: Ask
    look: Look
    read: Reading
    taken: Capture
    known: Known

    @property
    def image(self) -> bool:
        """Whether the documents are images."""
        return self.read.encodings[0].grid is not None

    @property
    def place(self) -> tuple[int, int]:
        """The chosen head as (row of the capture's layers, head), or the nearest there is."""
        row = int(np.abs(np.array(self.taken.layers) - self.now.choice.layer).argmin())
        return row, min(self.now.choice.head, self.taken.query.shape[1] - 1)

    @property
    def chosen(self) -> tuple[int, int]:
        """The same with the layer's true number."""
        row, head = self.place
        return self.taken.layers[row], head

    @property
    def name(self) -> str:
        """The chosen head as it is written: L4 H11."""
        return "L{} H{}".format(*self.chosen)

    @property
    def document(self) -> int:
        """The chosen document's place among those read, or the first."""
        places = self.read.places
        return places.index(self.now.choice.document) if self.now.choice.document in places else 0

    @property
    def key(self) -> str:
        """Names the model with these texts as they are read, and the attention looked at."""
        return f"{reading_key(self.now, self.ask)} {self.ask.stream}"

    def points(self, settings: MapSettings) -> Points:
        """Which token each point of a map with these settings is."""
        return map_points(settings, *samples(self.taken, settings))

    def coloured(self, points: Points, layer: int, head: int) -> Colouring:
        """The colours of one head's points."""
        if self.look.colour == NORM:
            return norm_colouring(norms(self.taken, layer, head, points), points)
        return colouring(self.look.colour, self.known, points, (self.taken.tokens, self.taken.key_tokens), self.image)

    @cached_property
    def found(self) -> tuple[Search, Search] | None:
        """What the search finds among all tokens of both sides that were read; None where nothing is searched for."""
        if not self.look.wanted.strip():
            return None
        tables = self.taken.tokens, self.taken.key_tokens
        same = tables[0] is tables[1]
        found = [search(table.text, self.look.wanted, self.look.kind, table.doc) for table in tables[: 2 - same]]
        return found[0], found[-1]

    def lit(self, points: Points) -> np.ndarray | None:
        """Which points the search lights (point,)."""
        if self.found is None:
            return None
        hits = [side.hits[np.minimum(points.token, len(side.hits) - 1)] for side in self.found]
        return np.where(points.key_side, hits[1], hits[0])


def stage(now: Scene, ask: Ask, look: Look) -> Stage:
    """Read, capture and describe what is asked for; each is done once. Raises what reading and capturing raise."""
    read, taken = reading(now, ask), captured(now, ask)
    return Stage(now, ask, look, read, taken, known(taken, read, reading_key(now, ask)))
