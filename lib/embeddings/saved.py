"""Maps in the store: written by whoever computed them first, read by everyone after."""

from __future__ import annotations

import numpy as np

from lib.capture import Store

from .projection import Projection
from .tiles import MapSettings, Tile


def save_tile(store: Store, capture_hash: str, settings: MapSettings, tile: Tile) -> None:
    """Write the map of one head, all or nothing."""
    drawn = tile.projection
    notes = {
        "layer": tile.layer, "head": tile.head, "note": tile.note, "method": drawn.method,
        "parameters": dict(drawn.parameters), "fidelity": dict(drawn.fidelity), "notes": list(drawn.notes),
    }  # fmt: skip
    store.save(settings.key(capture_hash, tile.layer, tile.head), {"xy": drawn.xy, "role": tile.role}, notes)


def load_tile(store: Store, capture_hash: str, settings: MapSettings, layer: int, head: int) -> Tile | None:
    """The map of one head, memory-mapped; None where nobody has computed it."""
    found = store.load(settings.key(capture_hash, layer, head))
    if found is None:
        return None
    arrays, notes = found
    drawn = Projection(arrays["xy"], notes["method"], notes["parameters"], notes["fidelity"], tuple(notes["notes"]))
    return Tile(notes["layer"], notes["head"], drawn, np.asarray(arrays["role"]), notes["note"])
