"""The models kept in memory: at most so many, and one gives way before the next is read, not after."""

from __future__ import annotations

import gc
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

from lib.errors import HeadlightError
from lib.models import Engine


def resident_engines() -> int:
    """How many models are kept in memory: HEADLIGHT_ENGINES, 1 where it is not set."""
    given = os.environ.get("HEADLIGHT_ENGINES", "").strip() or "1"
    if not (given.isascii() and given.isdigit() and int(given) >= 1):
        raise HeadlightError("HEADLIGHT_ENGINES, a whole number from 1", repr(given[:40]), "Correct or unset it.")
    return int(given)


class Residents:
    """Loaded engines by key; the one unused for longest is released first. Safe for several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[Hashable, Engine] = OrderedDict()
        self._table, self._loading = threading.Lock(), threading.Lock()  # a resident engine waits for no loading

    def get(self, key: Hashable, most: int, load: Callable[[Callable[[], None]], Engine]) -> Engine:
        """The engine of a key, one of at most ``most``.

        load: called where it is not resident with a function that makes room, to be called once a model was found
        and before its weights are read. A model that cannot be found costs nobody theirs; who still computes with
        an engine that gives way gets EngineReleased at the next step.
        """
        found = self._find(key)
        if found is not None:
            return found
        with self._loading:
            found = self._find(key)  # another session loaded it meanwhile
            if found is None:
                found = load(lambda: self._make_room(most))
                self._make_room(most)
                with self._table:
                    self._kept[key] = found
            return found

    def clear(self) -> None:
        """Release every engine."""
        self._make_room(1)

    def _find(self, key: Hashable) -> Engine | None:
        with self._table:
            if key in self._kept:
                self._kept.move_to_end(key)
            return self._kept.get(key)

    def _make_room(self, most: int) -> None:
        while True:
            with self._table:
                if len(self._kept) < most:
                    return
                _, oldest = self._kept.popitem(last=False)
            gc.unfreeze()  # its parts may be among what later collections were told to skip
            oldest.release()  # waits for the step that is being computed with it
            gc.freeze()
