"""Which keys a row may see: the mask behind every chance level.

Read from the configuration, because a pattern cannot tell a key that may not be seen from one that is not looked at.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def visible(queries: int, keys: int, causal: bool, window: int | None = None) -> np.ndarray:
    """Bool (query_pos, key_pos): which keys each row may attend to.

    causal: only keys at or before the row. window: for causal rows the number of keys seen, the row's own included;
    else the largest distance seen on either side.
    """
    lag = np.arange(queries)[:, None] - np.arange(keys)
    seen = lag >= 0 if causal else np.ones((queries, keys), dtype=bool)
    if window is not None:
        seen &= (lag < window) if causal else (np.abs(lag) <= window)
    return seen


def attention_window(engine: Any, layer: int) -> int | None:
    """The window of a layer as ``visible`` counts it; None where rows see everything.

    Newer configurations name the kind of each layer (``layer_types``), older ones have one window for all.
    """
    config = engine.require_loaded().config
    window = getattr(config, "sliding_window", None)
    kinds = getattr(config, "layer_types", None)
    if kinds is not None and (layer >= len(kinds) or kinds[layer] != "sliding_attention"):
        return None
    return window if getattr(config, "use_sliding_window", True) else None


def causal_stream(engine: Any, stream: str) -> bool:
    """Whether rows of a stream see only keys at or before them."""
    return engine.causal if stream == "self" else stream == "decoder"
