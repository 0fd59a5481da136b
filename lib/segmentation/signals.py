"""Boundary signals: what every head does around every gap, from its pattern and its z, as array operations.

Gap g lies between tokens g and g + 1. Signals of a token are told for the token before the gap. All arrays are
batches of equally long windows: pattern (window, head, query_pos, key_pos) and z (window, head, query_pos, d_head),
special tokens included; results leave special tokens out.
"""

from __future__ import annotations

import numpy as np

FLOOR = 1e-4  # added to every mass before its logarithm
NEAR, FAR = 3, 10  # tokens on either side within which attention across a gap is counted
AT_ONCE = 8  # windows worked on at a time: whole batches take twice as long, in fresh memory
SPANS = (1, 4, 12)  # tokens on either side whose mean z are compared

_ALWAYS = ("to_first", "self", "previous", "from_later", "entropy", "back_near", "back_far")
_BOTH_WAYS = ("from_first", "next", "from_earlier", "forward_share", "ahead_near", "ahead_far")
_LAST = ("to_last", "from_last")
_COSINES = tuple(f"z_cosine_{span}" for span in SPANS)

MEANINGS = {
    "to_first": "log mass that the token before the gap sends to the first position ([CLS], or the sink)",
    "to_last": "log mass that it sends to the last special token ([SEP])",
    "from_first": "log mass that it receives from the first position",
    "from_last": "log mass that it receives from the last special token",
    "self": "log mass on itself",
    "previous": "log mass on the token before it",
    "next": "log mass on the token after it",
    "forward_share": "share of its attention to words that looks ahead",
    "from_earlier": "log mass received from earlier words",
    "from_later": "log mass received from later words",
    "entropy": "entropy of its attention, in nats",
    "back_near": "log mean mass from 3 tokens after the gap to 3 before it",
    "back_far": "the same within 10 tokens",
    "ahead_near": "log mean mass from 3 tokens before the gap to 3 after it",
    "ahead_far": "the same within 10 tokens",
    "z_cosine_1": "cosine of the head outputs of the two tokens beside the gap",
    "z_cosine_4": "cosine of the mean head outputs of 4 tokens on either side",
    "z_cosine_12": "the same for 12 tokens",
}


def signal_names(prefix: int, suffix: int, causal: bool) -> tuple[str, ...]:
    """Signals that exist for a model with that many special tokens before and after a text.

    A causal model has no attention ahead, and its first position receives only.

    >>> signal_names(0, 0, causal=True)[:4]
    ('to_first', 'self', 'previous', 'from_later')
    """
    names = _ALWAYS
    if not causal:
        names += _BOTH_WAYS + (_LAST if suffix else ())
    return names + _COSINES


def boundary_signals(pattern: np.ndarray, z: np.ndarray, prefix: int, suffix: int, causal: bool) -> np.ndarray:
    """All signals of all heads of one layer: float32 (window, token, head, signal), in the order of `signal_names`.

    The last token of a window has no gap behind it: signals of its gap repeat those of the last gap.

    **Source** Halevi et al., arXiv 2512.21956 (attention to separators, similarity of z); the remaining signals are
    this product's.
    """
    names = signal_names(prefix, suffix, causal)
    b, heads, n = pattern.shape[:3]
    told = np.empty((b, heads, len(names), n - prefix - suffix), dtype=pattern.dtype)
    for first in range(0, b, AT_ONCE):
        some = slice(first, first + AT_ONCE)
        signals = _signals(pattern[some], z[some], slice(prefix, n - suffix), bool(suffix), causal)
        for place, name in enumerate(names):
            told[some, :, place] = signals[name]
    return told.transpose(0, 3, 1, 2)


def _signals(pattern: np.ndarray, z: np.ndarray, inner: slice, closed: bool, causal: bool) -> dict[str, np.ndarray]:
    """Signals by name, each (window, head, token); inner: the tokens that are words; closed: a special one follows."""
    words = pattern[:, :, inner, inner]
    signals = _token_signals(pattern, words, inner, causal) | _crossing(words, causal) | _cosines(z[:, :, inner])
    if closed and not causal:
        signals["to_last"] = _log(pattern[:, :, inner, -1])
        signals["from_last"] = _log(pattern[:, :, -1, inner])
    return signals


def _log(mass: np.ndarray) -> np.ndarray:
    return np.log(np.maximum(mass, 0) + FLOOR)


def _token_signals(pattern: np.ndarray, words: np.ndarray, inner: slice, causal: bool) -> dict[str, np.ndarray]:
    m = words.shape[-1]
    own = np.diagonal(words, axis1=2, axis2=3)  # (window, head, token)
    below = np.tri(m, k=-1, dtype=words.dtype)
    ones = np.ones(m, dtype=words.dtype)
    columns, later = ones @ words, np.einsum("bhqk,qk->bhk", words, below)
    signals = {
        "to_first": _log(pattern[:, :, inner, 0]),
        "self": _log(own),
        "previous": _log(_shifted(np.diagonal(words, -1, 2, 3), before=True)),
        "from_later": _log(later),
        "entropy": -np.einsum("bhqk,bhqk->bhq", pattern[:, :, inner], np.log(pattern[:, :, inner] + 1e-9)),
    }
    if not causal:
        back, rows = np.einsum("bhqk,qk->bhq", words, below), words @ ones
        signals["from_first"] = _log(pattern[:, :, 0, inner])
        signals["next"] = _log(_shifted(np.diagonal(words, 1, 2, 3), before=False))
        signals["from_earlier"] = _log(columns - later - own)
        signals["forward_share"] = np.clip((rows - back - own + FLOOR) / (rows - own + 2 * FLOOR), 0, 1)
    return signals


def _shifted(neighbour: np.ndarray, before: bool) -> np.ndarray:
    """Neighbour masses (window, head, token − 1) as one per token; the token without a neighbour has none."""
    none = np.zeros((*neighbour.shape[:2], 1), dtype=neighbour.dtype)
    return np.concatenate([none, neighbour] if before else [neighbour, none], axis=-1)


def _crossing(words: np.ndarray, causal: bool) -> dict[str, np.ndarray]:
    """Mean mass across each gap, from rectangle sums of the summed-area table of the pattern."""
    m = words.shape[-1]
    lower = np.tri(m + 1, m, k=-1, dtype=words.dtype)
    # One product for all windows, heads and queries is several times as fast as one for each.
    summed = (words.reshape(-1, m) @ lower.T).reshape(*words.shape[:-1], m + 1)
    table = lower @ summed  # (window, head, m + 1, m + 1): sums over queries < row and keys < column
    middle = np.minimum(np.arange(1, m + 1), max(1, m - 1))  # first token after the gap; the last gap is repeated
    signals = {}
    for name, reach in (("near", NEAR), ("far", FAR)):
        low, high = np.maximum(0, middle - reach), np.minimum(m, middle + reach)
        back = _rectangle(table, middle, high, low, middle)
        signals[f"back_{name}"] = _log(back / np.maximum(1, high - middle))
        if not causal:
            signals[f"ahead_{name}"] = _log(_rectangle(table, low, middle, middle, high) / (middle - low))
    return signals


def _rectangle(table: np.ndarray, top: np.ndarray, bottom: np.ndarray, left: np.ndarray, right: np.ndarray):
    """Sum over queries [top, bottom) and keys [left, right), one rectangle per gap: (window, head, gap)."""
    return table[:, :, bottom, right] - table[:, :, top, right] - table[:, :, bottom, left] + table[:, :, top, left]


def _cosines(z: np.ndarray) -> dict[str, np.ndarray]:
    b, heads, m, width = z.shape
    tokens = z.transpose(0, 2, 1, 3).reshape(b, m, -1)  # no copy: a model makes the heads of a token side by side
    sums = np.tri(m + 1, m, k=-1, dtype=z.dtype) @ tokens  # (window, m + 1, head · d_head): over tokens before each
    middle = np.minimum(np.arange(1, m + 1), max(1, m - 1))
    centre = sums[:, middle]
    signals = {}
    for span in SPANS:
        before = (centre - sums[:, np.maximum(0, middle - span)]).reshape(b, m, heads, width)
        after = (sums[:, np.minimum(m, middle + span)] - centre).reshape(b, m, heads, width)
        dot = np.einsum("bihd,bihd->bhi", before, after)
        norms = np.einsum("bihd,bihd->bhi", before, before) * np.einsum("bihd,bihd->bhi", after, after)
        signals[f"z_cosine_{span}"] = dot / np.sqrt(norms + 1e-12)
    return signals
