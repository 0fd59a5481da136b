"""Which tokens a map shows when there are too many: an even share of every document, and a sentence that says so."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from lib.capture.value import read_only

from .errors import EmbeddingError
from .spans import offsets, whole

MOST = 5_000  # tokens: 10,000 points
THUMBNAIL = 1_000  # tokens: 2,000 points


@dataclass(frozen=True, eq=False)
class Sample:
    """Tokens chosen from a corpus.

    rows         int64 (chosen,), ascending
    doc_offsets  (document + 1,) bounds of the documents among them
    of           tokens there were
    note         what was left out, in words; "" where nothing was
    """

    rows: np.ndarray
    doc_offsets: np.ndarray
    of: int
    note: str

    def __post_init__(self) -> None:
        for name in ("rows", "doc_offsets"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    def __len__(self) -> int:
        return len(self.rows)


def sample_tokens(doc_offsets: np.ndarray, most: int = MOST, seed: int = 0, keep: np.ndarray | None = None) -> Sample:
    """At most ``most`` tokens, drawn at random within each document in proportion to its length.

    doc_offsets: (document + 1,). keep: bool (token,), tokens that may be chosen, all if None. Every document keeps at
    least one token as long as there is room. Seeded: the same arguments choose the same tokens.

    Raises EmbeddingError where nothing may be chosen, and for offsets, a number or flags that cannot be.
    """
    ends = np.asarray(doc_offsets).ravel()
    bounds = offsets(doc_offsets, int(ends[-1]) if ends.size and ends.dtype.kind in "iu" else 0)
    tokens, most = int(bounds[-1]), whole("most, tokens to show", most, 1)
    able = np.ones(tokens, bool) if keep is None else np.asarray(keep, bool)
    if able.shape != (tokens,):
        raise EmbeddingError(f"keep: one flag for each of {tokens:,} tokens", f"{able.shape}", "Pass (token,).")
    if not able.any():
        raise EmbeddingError("at least one token to show", f"none of {tokens:,}", "Include more tokens.")
    candidates = [start + np.flatnonzero(able[start:stop]) for start, stop in pairwise(bounds)]
    sizes = np.array([len(c) for c in candidates])
    if sizes.sum() <= most:
        rows, note = np.concatenate(candidates), ""
    else:
        rng = np.random.default_rng(seed)
        shares = _shares(sizes, most)
        picked = [np.sort(rng.choice(c, size=n, replace=False)) for c, n in zip(candidates, shares, strict=True)]
        rows = np.concatenate(picked)
        note = f"{len(rows):,} of {sizes.sum():,} tokens, drawn from every document in proportion to its length"
        missing = int(((shares == 0) & (sizes > 0)).sum())
        note += f"; {missing:,} of {len(sizes):,} documents have none" if missing else ""
        note += f" (seed {seed})."
    return Sample(rows, np.searchsorted(rows, bounds), tokens, note)


def _shares(sizes: np.ndarray, most: int) -> np.ndarray:
    """Tokens per document by largest remainder; one each first where there is room for all."""
    filled = np.flatnonzero(sizes)
    if len(filled) > most:
        shares = np.zeros(len(sizes), int)
        shares[filled[np.linspace(0, len(filled) - 1, most).astype(int)]] = 1
        return shares
    base = (sizes > 0).astype(int)
    room = (most - base.sum()) * (sizes - base) / max(1, (sizes - base).sum())
    shares = base + np.floor(room).astype(int)
    order = np.argsort(-(room - np.floor(room)), kind="stable")
    left = most - shares.sum()
    for index in order[sizes[order] > shares[order]][:left]:
        shares[index] += 1
    return shares
