"""The most similar pairs of every head in one document, by a rule that is exact about ties and chance.

Pairs i < j of the kept units; the top share p of them, at least one. The paper does not publish its rule: this one
is ours. Knows one document; statistics.py adds documents up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .errors import SimilarityError
from .matrix import KINDS, Kind, directed
from .units import Units

Array = np.ndarray
CHUNK_BYTES = 8e6  # of one chunk of heads (matrix, upper triangle, the copy that is partitioned): fits a cache
ROUNDING = 8 * float(np.finfo(np.float32).eps)  # similarities closer than this share are one float32 value


@dataclass(frozen=True)
class Settings:
    """What counts as similar.

    top: share of a document's pairs that is selected, 0 < top ≤ 1. kind: "dot" or "cosine". special: keep special
    tokens. words: whole words instead of tokens. Raises SimilarityError for values outside these.
    """

    top: float = 0.01
    kind: Kind = "dot"
    special: bool = False
    words: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.top <= 1:
            raise SimilarityError("top, a share with 0 < top ≤ 1", f"{self.top}", "1 % is 0.01.")
        if self.kind not in KINDS:
            raise SimilarityError('kind "dot" or "cosine"', repr(self.kind), "Choose one of the two.")


@dataclass(frozen=True, eq=False)
class Pairs:
    """All pairs i < j of some units of one document, with what the statistics ask about a pair.

    used: the units that take part (used,). first, second: unit index of either end (pair,); flat: the pair's place
    in the flattened matrix over ``used``; distance: units apart in reading order, on images steps on the patch grid
    (-1 to a token without a place); same_sentence, other_sentence, same_label: bool (pair,), other_sentence where both
    ends know their sentence.
    """

    units: Units
    used: Array
    first: Array
    second: Array
    flat: Array
    distance: Array
    same_sentence: Array
    other_sentence: Array
    same_label: Array

    def __len__(self) -> int:
        return len(self.first)

    @property
    def has_sentences(self) -> bool:
        """Whether any unit knows its sentence."""
        return bool((self.units.sentence[self.used] >= 0).any())

    @property
    def has_labels(self) -> bool:
        """Whether any unit has a label, i.e. whether repetition means anything."""
        return bool((self.units.label[self.used] >= 0).any())


def pairs_of(units: Units, used: Array | None = None) -> Pairs:
    """Every pair of the units, or of the ``used`` ones (indices in reading order)."""
    used = np.arange(len(units)) if used is None else np.asarray(used)
    i, j = np.triu_indices(len(used), 1)
    first, second = used[i].astype(np.int32), used[j].astype(np.int32)
    if units.place is None:
        distance = second - first
    else:
        distance = np.abs(units.place[first] - units.place[second]).sum(axis=1).astype(np.int32)
        distance[(units.place[first] < 0).any(axis=1) | (units.place[second] < 0).any(axis=1)] = -1
    same_sentence = _alike(units.sentence, first, second)
    return Pairs(
        units=units,
        used=used,
        first=first,
        second=second,
        flat=i * len(used) + j,
        distance=distance,
        same_sentence=same_sentence,
        other_sentence=(units.sentence[first] >= 0) & (units.sentence[second] >= 0) & ~same_sentence,
        same_label=_alike(units.label, first, second),
    )


def _alike(groups: Array, first: Array, second: Array) -> Array:
    return (groups[first] == groups[second]) & (groups[first] >= 0)


@dataclass(frozen=True, eq=False)
class Selection:
    """The selected pairs of several heads, as one list: row of the head, pair, weight (selected,).

    Weights are 1; pairs that tie at the edge share the places left equally, so that a head whose similarities are
    all equal selects every pair alike and sits exactly at chance. They add up to ``count`` in each head.
    """

    row: Array
    pair: Array
    weight: Array
    count: int


def number_selected(pairs: int, top: float) -> int:
    """How many pairs the share ``top`` selects: ⌊top·pairs⌋, at least one."""
    return max(1, int(np.floor(top * pairs + 1e-9)))


def select(values: Array, top: float) -> Selection:
    """The top share of the pairs of every head.

    values: (head, pair), finite. Similarities that differ by float32 rounding only are ties.
    """
    count = number_selected(values.shape[1], top)
    edge = np.partition(values, values.shape[1] - count, axis=1)[:, -count]  # (head,) the count-th largest
    slack = ROUNDING * np.abs(edge)
    row, pair = np.divmod(np.flatnonzero(values >= (edge - slack)[:, None]), values.shape[1])
    above = values[row, pair] > (edge + slack)[row]
    n_above = np.bincount(row, above, minlength=len(values))
    n_tied = np.bincount(row, ~above, minlength=len(values))
    weight = np.where(above, 1.0, ((count - n_above) / n_tied)[row])
    return Selection(row, pair, weight, count)


@dataclass(frozen=True, eq=False)
class Block:
    """Some heads of one document that share their pairs.

    heads: index into the document's flattened (layer, head) axis; values: (head, pair); lengths: ‖z‖ of every unit
    (head, unit); undefined: units left out because their vector is zero.
    """

    heads: Array
    pairs: Pairs
    values: Array
    lengths: Array
    selection: Selection
    undefined: int

    def ends(self, what: Array | None = None) -> Array:
        """How many selected pairs end in each unit (head, unit); with ``what`` (pair,), its sum over those pairs."""
        n_heads, n_units, chosen = len(self.heads), len(self.pairs.units), self.selection
        weight = chosen.weight if what is None else chosen.weight * what[chosen.pair]
        both = [
            np.bincount(chosen.row * n_units + end[chosen.pair], weight, minlength=n_heads * n_units)
            for end in (self.pairs.first, self.pairs.second)
        ]
        return (both[0] + both[1]).reshape(n_heads, n_units)


def blocks(z: Array, units: Units, settings: Settings) -> Iterator[Block]:
    """The pairs, similarities and selection of every head, in chunks that bound memory.

    z: (head, token, d_head) of one document, all its tokens. A head in which fewer than two units have a defined
    similarity is left out. Heads with zero vectors under "cosine" come one by one, with their own pairs.
    """
    vectors, lengths, defined = directed(units.pool(z), settings.kind)
    whole = np.flatnonzero(defined.all(axis=1))
    if len(units) >= 2 and len(whole):
        pairs = pairs_of(units)
        step = max(1, int(CHUNK_BYTES // (4 * (len(units) ** 2 + 2 * len(pairs)))))
        for start in range(0, len(whole), step):
            yield _block(whole[start : start + step], vectors, lengths, pairs, settings, 0)
    for head in np.flatnonzero(~defined.all(axis=1)):
        used = np.flatnonzero(defined[head])
        if len(used) >= 2:
            missing = len(units) - len(used)
            yield _block(np.array([head]), vectors, lengths, pairs_of(units, used), settings, missing)


def _block(heads: Array, vectors: Array, lengths: Array, pairs: Pairs, settings: Settings, undefined: int) -> Block:
    chosen = vectors[heads]
    if len(pairs.used) < chosen.shape[1]:
        chosen = chosen[:, pairs.used]
    matrix = chosen @ chosen.swapaxes(1, 2)  # (head, used, used)
    values = np.take(matrix.reshape(len(heads), -1), pairs.flat, axis=1)
    return Block(heads, pairs, values, lengths[heads], select(values, settings.top), undefined)
