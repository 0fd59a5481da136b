"""What one document says about every head: the statistics of its selected pairs, each with its exact chance value.

Chance is a selection that ignores the vectors: every pair equally likely, or, for statistics of units, every
permutation of the units. Random vectors therefore reproduce every chance value exactly in expectation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib.stats import same_group_chance

from .pairs import Block, Pairs, Settings, blocks
from .units import Units

Array = np.ndarray
STATISTICS = ("distance", "same_sentence", "same_token", "separator", "concentration", "contrast")
SIMILARITY_EDGES = np.linspace(-1.5, 2.5, 161)  # bins of similarity; outermost bins take what lies beyond
SAMPLED_PAIRS = 2000  # pairs per head and document, evenly spaced, that enter the distribution of similarity


@dataclass(frozen=True, eq=False)
class Links:
    """The selected pairs of a document by their labels: one row per (head, label, label) with u ≤ v.

    head: flattened (layer, head); first, second: index into the document's own labels; weight: pairs.
    """

    head: Array
    first: Array
    second: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class DocumentStatistics:
    """All statistics of one document.

    values, chance: name → (head,), heads of all layers in a row, NaN where undefined. selected: weight of the
    selected pairs (head,); undefined: units left out (head,). pairs: all pairs of the document. distances,
    distances_chance: share of pairs at each distance (layer, Δ) and (Δ,). similarity: (layer, bin) counts.
    labels: labels that occur (label,); counts: how often (label,); ends, lengths: endpoint mass and summed ‖z‖ of
    each label (head, label). at_least_one: the share asked for is less than one pair.
    """

    values: dict[str, Array]
    chance: dict[str, Array]
    selected: Array
    undefined: Array
    units: int
    pairs: int
    distances: Array
    distances_chance: Array
    similarity: Array
    labels: Array
    counts: Array
    ends: Array
    lengths: Array
    links: Links
    at_least_one: bool


def document_statistics(z: Array, units: Units, settings: Settings) -> DocumentStatistics:
    """Every statistic of every head in one document.

    z: (layer, head, token, d_head), all tokens of the document.

    **Source**: Halevi et al., arXiv 2512.21956, for distance, sentences, repetition and anchors; the pair rule, the
    chance values, contrast and concentration are ours.
    """
    layers, heads = z.shape[:2]
    total = layers * heads
    labels, own = np.unique(units.label[units.label >= 0], return_inverse=True)
    local = np.full(len(units), -1)
    local[units.label >= 0] = own
    values = {name: np.full(total, np.nan) for name in STATISTICS}
    chance = {name: np.full(total, np.nan) for name in STATISTICS}
    selected = np.zeros(total)
    undefined = np.full(total, len(units) if len(units) > 1 else 0)  # of heads without a block: all
    ends, lengths = np.zeros((total, len(labels))), np.zeros((total, len(labels)))
    all_pairs = len(units) * (len(units) - 1) // 2
    longest = _longest(units)
    distances, similarity = np.zeros((total, longest + 1)), np.zeros((layers, len(SIMILARITY_EDGES) - 1))
    by_distance, links = None, []
    for block in blocks(z.reshape(total, *z.shape[2:]), units, settings):
        rows = block.heads
        mass = block.ends()
        measured = _statistics(block, mass, local)
        expected = _chance(block.pairs)
        for name in STATISTICS:
            values[name][rows], chance[name][rows] = measured[name], expected[name]
        selected[rows], undefined[rows] = block.selection.count, block.undefined
        ends[rows], lengths[rows] = _by_label(mass, local, len(labels)), _by_label(block.lengths, local, len(labels))
        distances[rows] = _at_distance(block, longest)
        by_distance = _histogram(block.pairs.distance, longest) if by_distance is None else by_distance
        np.add.at(similarity, rows // heads, _similarity_counts(block, settings))
        links.append(_links(block, local, len(labels)))
    by_distance = np.zeros(longest + 1) if by_distance is None else by_distance
    per_layer = distances.reshape(layers, heads, -1).sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        return DocumentStatistics(
            values=values,
            chance=chance,
            selected=selected,
            undefined=undefined,
            units=len(units),
            pairs=all_pairs,
            distances=per_layer / per_layer.sum(axis=1, keepdims=True),
            distances_chance=by_distance / by_distance.sum(),
            similarity=similarity,
            labels=labels,
            counts=np.bincount(own, minlength=len(labels)),
            ends=ends.astype(np.float32),
            lengths=lengths.astype(np.float32),
            links=_joined(links),
            at_least_one=all_pairs > 0 and settings.top * all_pairs < 1,
        )


def _longest(units: Units) -> int:
    if units.place is None:
        return max(len(units) - 1, 0)
    return int(units.place.max(axis=0).sum())


def _statistics(block: Block, mass: Array, local: Array) -> dict[str, Array]:
    pairs, chosen = block.pairs, block.selection
    n = len(block.heads)

    def total(what: Array) -> Array:
        return np.bincount(chosen.row, chosen.weight * what[chosen.pair], minlength=n)

    placed = pairs.distance >= 0
    with np.errstate(invalid="ignore", divide="ignore"):
        return {
            "distance": total(np.where(placed, pairs.distance, 0)) / total(placed),
            "same_sentence": total(pairs.same_sentence) / chosen.count if pairs.has_sentences else np.full(n, np.nan),
            "same_token": total(pairs.same_label) / chosen.count if pairs.has_labels else np.full(n, np.nan),
            "separator": mass @ pairs.units.separator / (2 * chosen.count),
            "concentration": _concentration(mass, local),
            "contrast": _contrast(block.values, pairs),
        }


def _chance(pairs: Pairs) -> dict[str, float]:
    """The value of every statistic under a selection that ignores the vectors."""
    placed = pairs.distance[pairs.distance >= 0]
    labels, sentences = pairs.units.label[pairs.used], pairs.units.sentence[pairs.used]
    repeat = same_group_chance(labels) if pairs.has_labels else np.nan
    return {
        "distance": placed.mean() if len(placed) else np.nan,
        "same_sentence": same_group_chance(sentences) if pairs.has_sentences else np.nan,
        "same_token": repeat,
        "separator": pairs.units.separator[pairs.used].mean(),
        "concentration": repeat,
        "contrast": 0.0 if pairs.same_sentence.any() and pairs.other_sentence.any() else np.nan,
    }


def _concentration(mass: Array, local: Array) -> Array:
    """Chance that two endpoints in different places carry the same label: Σ m_a m_b [same] / Σ m_a m_b, a ≠ b."""
    if not (local >= 0).any():
        return np.full(len(mass), np.nan)
    together = _by_label(mass, local, local.max() + 1)
    labelled = (mass[:, local >= 0] ** 2).sum(axis=1)
    return ((together**2).sum(axis=1) - labelled) / (mass.sum(axis=1) ** 2 - (mass**2).sum(axis=1))


def _contrast(values: Array, pairs: Pairs) -> Array:
    """Mean similarity within sentences minus between them, in standard deviations of the head's similarities.

    Pairs with a unit of no sentence, such as [CLS], are neither.
    """
    within, between = (which.astype(values.dtype) for which in (pairs.same_sentence, pairs.other_sentence))
    if not (within.any() and between.any()):
        return np.full(len(values), np.nan)
    gap = values @ within / within.sum() - values @ between / between.sum()
    spread = values.std(axis=1)
    flat = spread <= 1e-5 * np.abs(values.mean(axis=1))  # equal but for rounding
    return np.where(flat, 0.0, gap / np.where(flat, 1, spread))


def _by_label(mass: Array, local: Array, n_labels: int) -> Array:
    """Sum over the units of a label: (head, unit) → (head, label)."""
    known = local >= 0
    member = np.zeros((int(known.sum()), n_labels), dtype=mass.dtype)
    member[np.arange(len(member)), local[known]] = 1
    return mass[:, known] @ member


def _histogram(distance: Array, longest: int) -> Array:
    return np.bincount(distance[distance >= 0], minlength=longest + 1)


def _at_distance(block: Block, longest: int) -> Array:
    chosen, distance = block.selection, block.pairs.distance[block.selection.pair]
    placed = distance >= 0
    flat = chosen.row[placed] * (longest + 1) + distance[placed]
    size = len(block.heads) * (longest + 1)
    return np.bincount(flat, chosen.weight[placed], minlength=size).reshape(-1, longest + 1)


def _similarity_counts(block: Block, settings: Settings) -> Array:
    """Histogram of similarity (head, bin); the dot product in units of the head's mean ‖z‖² here."""
    sample = block.values[:, :: max(1, block.values.shape[1] // SAMPLED_PAIRS)]
    if settings.kind == "dot":
        square = (block.lengths[:, block.pairs.used] ** 2).mean(axis=1, keepdims=True)
        sample = sample / np.where(square > 0, square, 1)
    low, high, bins = SIMILARITY_EDGES[0], SIMILARITY_EDGES[-1], len(SIMILARITY_EDGES) - 1
    place = np.clip(((sample - low) / (high - low) * bins).astype(int), 0, bins - 1)
    flat = np.arange(len(sample))[:, None] * bins + place
    return np.bincount(flat.ravel(), minlength=len(sample) * bins).reshape(len(sample), bins)


def _links(block: Block, local: Array, n_labels: int) -> Links:
    chosen, pairs = block.selection, block.pairs
    one, two = local[pairs.first[chosen.pair]], local[pairs.second[chosen.pair]]
    known = (one >= 0) & (two >= 0)
    low, high = np.minimum(one, two)[known], np.maximum(one, two)[known]
    base = max(n_labels, 1)
    unique, inverse = np.unique((chosen.row[known] * base + low) * base + high, return_inverse=True)
    rest, second = np.divmod(unique, base)
    head, first = np.divmod(rest, base)
    weight = np.bincount(inverse, chosen.weight[known], minlength=len(unique))
    return Links(block.heads[head].astype(np.int32), first.astype(np.int32), second.astype(np.int32), weight)


def _joined(links: list[Links]) -> Links:
    def column(name: str, dtype: type) -> Array:
        return np.concatenate([getattr(link, name) for link in links] or [np.empty(0)]).astype(dtype)

    return Links(
        column("head", np.int32), column("first", np.int32), column("second", np.int32), column("weight", np.float32)
    )
