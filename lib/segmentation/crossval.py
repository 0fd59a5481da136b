"""Cross-validation by document: every reading is judged on documents that nothing of it has seen.

Surface trees read attention's scores, so their training documents need scores from heads' readings that have not seen
the *test* documents either: for folds f (test) and g (training) a reading is fitted without both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from lib.corpora import Document
from lib.numerals import plural

from .calibration import combined_cues, threshold_for
from .errors import SegmentationError
from .features import Gathered, gather, part_shapes
from .gold import folds_of
from .passes import Progress
from .positions import boundaries_of, candidate_gaps, gaps_at
from .ridge import Linear, fit_many, scores_of_many
from .signals import signal_names
from .surface import surface_cues, words_between
from .trees import Trees, fit_trees
from .turns import turn_scores
from .windows import Tokens, read_tokens

STRENGTHS = (0.1, 0.4, 0.5)  # ridge per standardised weight: boundary signals; z; queries, keys and values
ITERATIONS = 24
FOLDS = 5
LEAST = 3  # folds with boundaries: where two are left out, one still tells what a boundary is


@dataclass(frozen=True)
class Prepared:
    """Gold documents as gaps, documents end to end.

    tokens    per document; allowed, target  per document bool (gap,): can be cut; is a gold boundary
    cues      per document float32 (candidate gap, cue)
    turns     per document (candidate gap,): what speakers' labels add to a reading of surface cues
    fold      int (document,)
    """

    tokens: tuple[Tokens, ...]
    allowed: tuple[np.ndarray, ...]
    target: tuple[np.ndarray, ...]
    cues: tuple[np.ndarray, ...]
    turns: tuple[np.ndarray, ...]
    fold: np.ndarray


def prepared(documents: Sequence[Document], engine: Any, folds: int = FOLDS, seed: int = 0) -> Prepared:
    """Tokens, candidate gaps, gold boundaries and surface cues of documents, dealt into folds.

    Raises SegmentationError for too few documents with boundaries.
    """
    tokens, allowed, target, cues, turns = [], [], [], [], []
    for document in documents:
        own = read_tokens(document.text, engine)
        can = candidate_gaps(document.text, own.start, own.end)
        gold = np.zeros(max(0, len(own) - 1), dtype=bool)
        gold[gaps_at(boundaries_of(document.sentences), own.end)] = True
        tokens.append(own)
        allowed.append(can)
        target.append(gold)
        words = words_between(own.start, own.end, can)
        cues.append(surface_cues(document.text, words))
        turns.append(turn_scores(document.text, words))
    fold = folds_of(len(documents), folds, seed)
    told = {int(f) for f, gold in zip(fold, target, strict=True) if gold.any()}
    if len(told) < LEAST:
        raise SegmentationError(
            f"boundaries in documents of {LEAST} folds or more: two are left out at a time",
            f"{plural(len(documents), 'document')}, boundaries in {len(told)} of the folds",
            "Give more gold documents.",
        )
    return Prepared(tuple(tokens), tuple(allowed), tuple(target), tuple(cues), tuple(turns), fold)


@dataclass(frozen=True)
class HeadFits:
    """Readings of all heads by the folds they have not seen, and what each says of every gap.

    scores: by frozenset of unseen folds, per document (gap,); whole: the reading that has seen all, and the standard
    deviations of its features.
    """

    scores: Mapping[frozenset[int], tuple[np.ndarray, ...]]
    whole: tuple[Linear, np.ndarray]


def fit_heads(
    engine: Any,
    data: Prepared,
    strengths: tuple[float, float, float] = STRENGTHS,
    iterations: int = ITERATIONS,
    progress: Progress | None = None,
) -> HeadFits:
    """Readings of all folds, without each one, and without each two.

    strengths: ridge of boundary signals, of z, and of queries, keys and values, each in standard deviations of its
    feature.
    """
    rows = gather(engine, data.tokens, progress)
    offsets = np.cumsum([0, *map(len, data.tokens)])
    place = offsets[rows.document] + rows.token
    target, allowed = (
        np.concatenate([np.r_[gaps, False][: len(own)] for gaps, own in zip(parts, data.tokens, strict=True)])[place]
        for parts in (data.target, data.allowed)
    )
    fold = data.fold[rows.document]
    numbers = sorted(set(data.fold.tolist()))
    unseen = [frozenset(c) for size in (0, 1, 2) for c in combinations(numbers, size) if size < len(numbers)]
    base = rows.weight * allowed
    weights = np.stack([base * ~np.isin(fold, list(left)) for left in unseen], axis=1)
    first = data.tokens[0]
    shapes = part_shapes(engine, len(signal_names(len(first.prefix), len(first.suffix), engine.causal)))
    widths = [heads * numbers for heads, numbers in shapes.values()]
    strength = np.tile(np.repeat([*strengths, *strengths[2:] * 2], widths), engine.n_layers)
    fits = fit_many(rows.values, rows.window, target, weights, strength, iterations)
    every = scores_of_many([model for model, _ in fits], rows.values, rows.window)
    scores = {left: _per_gap(own, rows, data.tokens) for left, own in zip(unseen, every.T, strict=True)}
    return HeadFits(scores, fits[0])


def _per_gap(scores: np.ndarray, rows: Gathered, tokens: Sequence[Tokens]) -> tuple[np.ndarray, ...]:
    """Scores of window rows averaged over windows: per document (gap,)."""
    offsets = np.cumsum([0, *map(len, tokens)])
    place = offsets[rows.document] + rows.token
    total = np.bincount(place, rows.weight * scores, minlength=offsets[-1])
    weight = np.bincount(place, rows.weight, minlength=offsets[-1])
    mean = total / np.maximum(weight, 1e-12)
    return tuple(mean[a : max(a, b - 1)] for a, b in pairwise(offsets))


@dataclass(frozen=True)
class Judged:
    """Boundaries found in documents that a reading has not seen: per document bool (gap,); and the final reading."""

    found: tuple[np.ndarray, ...]
    threshold: float
    trees: Trees | None = None


def judge_heads(data: Prepared, fits: HeadFits) -> Judged:
    """Attention alone: every fold with the threshold that is best on the others."""
    found: list[np.ndarray] = [np.zeros(0, dtype=bool)] * len(data.tokens)
    held_out = [fits.scores[frozenset([f])][i] for i, f in enumerate(data.fold)]
    for f in sorted(set(data.fold.tolist())):
        own = np.flatnonzero(data.fold == f)
        others = np.flatnonzero(data.fold != f)
        inner = [fits.scores[frozenset([f, data.fold[i]])][i] for i in others]
        threshold = _threshold(inner, data, others)
        for i in own:
            found[i] = data.allowed[i] & (held_out[i] >= threshold)
    return Judged(tuple(found), _threshold(held_out, data, np.arange(len(data.tokens))))


def _threshold(scores: Sequence[np.ndarray], data: Prepared, documents: np.ndarray) -> float:
    """Best threshold for scores (gap,) of the chosen documents, candidate gaps only."""
    kept = [s[data.allowed[i]] for s, i in zip(scores, documents, strict=True)]
    gold = [data.target[i][data.allowed[i]] for i in documents]
    return threshold_for(np.concatenate(kept), np.concatenate(gold))


def judge_trees(data: Prepared, fits: HeadFits | None, **options: Any) -> Judged:
    """Surface cues, with attention's scores where there are fits: trees per fold, threshold from the other folds."""
    everything = np.arange(len(data.tokens))
    target = [data.target[i][data.allowed[i]] for i in everything]
    found: list[np.ndarray] = [np.zeros(0, dtype=bool)] * len(data.tokens)
    outer: list[np.ndarray] = [np.zeros(0)] * len(data.tokens)
    for f in sorted(set(data.fold.tolist())):
        training = np.flatnonzero(data.fold != f)
        inputs = {i: _inputs(data, fits, i, frozenset([f, data.fold[i]])) for i in everything}
        trees = fit_trees(_joined(inputs, training), np.concatenate([target[i] for i in training]), **options)
        for i in np.flatnonzero(data.fold == f):
            outer[i] = trees.scores(inputs[i]) + data.turns[i]
    for f in sorted(set(data.fold.tolist())):
        others = np.flatnonzero(data.fold != f)
        scores, gold = (np.concatenate([part[i] for i in others]) for part in (outer, target))
        threshold = threshold_for(scores, gold)
        for i in np.flatnonzero(data.fold == f):
            found[i] = np.zeros(len(data.allowed[i]), dtype=bool)
            found[i][np.flatnonzero(data.allowed[i])[outer[i] >= threshold]] = True
    final = {i: _inputs(data, fits, i, frozenset([data.fold[i]])) for i in everything}
    trees = fit_trees(_joined(final, everything), np.concatenate(target), **options)
    return Judged(tuple(found), threshold_for(np.concatenate(outer), np.concatenate(target)), trees)


def _inputs(data: Prepared, fits: HeadFits | None, document: int, unseen: frozenset[int]) -> np.ndarray:
    cues = data.cues[document]
    if fits is None:
        return cues
    return combined_cues(cues, fits.scores[unseen][document][data.allowed[document]])


def _joined(inputs: Mapping[int, np.ndarray], documents: np.ndarray) -> np.ndarray:
    return np.concatenate([inputs[i] for i in documents])
