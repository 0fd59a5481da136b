"""Places for results: each is made once, whoever asks, and the ones unused for longest are dropped."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any


class Shelf:
    """A place for one result."""

    def __init__(self) -> None:
        self.lock, self.made = threading.Lock(), []

    def get(self, build: Callable[[], Any]) -> Any:
        """The result, made first where it is missing; a making that is cut short leaves the place empty."""
        with self.lock:
            if not self.made:
                self.made.append(build())
            return self.made[0]


class Shelves:
    """At most ``most`` places; a look never takes one. Safe for several threads."""

    def __init__(self, most: int) -> None:
        self._most, self._lock = most, threading.Lock()
        self._places: OrderedDict[Hashable, Shelf] = OrderedDict()

    def get(self, key: Hashable, build: Callable[[], Any]) -> Any:
        """The result of that key, ``build()`` where it is missing."""
        with self._lock:
            shelf = self._places.setdefault(key, Shelf())
            self._places.move_to_end(key)
            while len(self._places) > self._most:
                self._places.popitem(last=False)
        return shelf.get(build)

    def look(self, key: Hashable) -> Any | None:
        """The result of that key, None where it was not made or has been dropped."""
        with self._lock:
            shelf = self._places.get(key)
            if shelf is None or not shelf.made:
                return None
            self._places.move_to_end(key)
            return shelf.made[0]
