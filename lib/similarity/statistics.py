"""The statistics of every head over a corpus: measured once, chance beside each, intervals over documents.

Statistics are per document, then averaged; documents are the unit of the bootstrap.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import joblib
import numpy as np
import pandas as pd

from lib.numerals import plural
from lib.stats import Interval, bootstrap_mean, weighted_mean
from lib.threads import one_thread

from .cooccurrence import cooccurrence
from .document import STATISTICS as WITHIN
from .document import DocumentStatistics, document_statistics
from .errors import SimilarityError
from .matrix import Kind
from .pairs import Settings
from .units import captured_units

Array = np.ndarray
Weights = Literal["documents", "pairs"]
STATISTICS = (*WITHIN, "cooccurrence")
SHORT = 20  # tokens; shorter documents are measured and pointed out


@dataclass(frozen=True, eq=False)
class Measured:
    """All statistics of all heads, per document: what every table and figure of the room is made from.

    values, chance: name of ``STATISTICS`` → (document, layer, head), NaN where undefined. selected: pairs selected
    (document, layer, head); undefined: units left out for a zero vector (document, layer, head). documents: the
    remaining details of each document; names: what a label means. layers: true layer numbers.
    """

    settings: Settings
    layers: tuple[int, ...]
    names: tuple[str, ...]
    values: dict[str, Array]
    chance: dict[str, Array]
    selected: Array
    undefined: Array
    documents: tuple[DocumentStatistics, ...]
    model: str
    stream: str
    causal: bool
    image: bool

    @property
    def shape(self) -> tuple[int, int]:
        """Number of layers and of heads in each."""
        return self.selected.shape[1:]

    def row(self, layer: int, head: int) -> int:
        """Place of a head on the flattened (layer, head) axis; raises SimilarityError if it was not measured."""
        n_heads = self.shape[1]
        if layer not in self.layers or not 0 <= head < n_heads:
            raise SimilarityError(
                f"a head of layers {self.layers} with 0 ≤ head < {n_heads}",
                f"L{layer} H{head}",
                "Choose a captured layer, or capture that layer too.",
            )
        return self.layers.index(layer) * n_heads + head

    def weights(self, weights: Weights) -> Array:
        """Weight of every document in an average (document,): equal, or its number of selected pairs."""
        if weights not in ("documents", "pairs"):
            raise SimilarityError('weights "documents" or "pairs"', repr(weights), "Choose one of the two.")
        if weights == "documents":
            return np.ones(len(self.documents))
        return self.selected.reshape(len(self.documents), -1).max(axis=1)

    @property
    def notes(self) -> tuple[str, ...]:
        """What a figure must say about the data behind it."""
        units = np.array([document.units for document in self.documents])
        said = [
            f"{plural(len(units), 'document')}, {plural(units.sum(), self.unit.removesuffix('s'), self.unit)}, "
            f"{plural(round(self.selected.sum()), 'selected pair')}"
        ]
        said.append(f"special tokens {'kept' if self.settings.special else 'left out'}")
        if self.causal:
            said.append("causal model: pairs are taken as they are, both tokens saw only what precedes them")
        if few := int((units < 2).sum()):
            said.append(f"left out for want of a pair: {plural(few, 'document')} of fewer than two {self.unit}")
        if short := int(((units >= 2) & (units < SHORT)).sum()):
            said.append(f"{plural(short, 'document')} of fewer than {SHORT} {self.unit}: shares move in large steps")
        if least := sum(document.at_least_one for document in self.documents):
            said.append(
                f"{100 * self.settings.top:g} % is less than one pair in {plural(least, 'document')}: one was taken"
            )
        if missing := int(self.undefined.sum()):
            said.append(f"excluded for want of a cosine: {plural(missing, 'zero vector')}, counted over heads")
        if not self.image and np.isnan(self.chance["same_sentence"]).all():
            said.append("no sentence boundaries: same-sentence share and contrast are not defined")
        elif not self.image and np.isnan(self.chance["contrast"]).all():
            said.append("no document has pairs within a sentence and between sentences: contrast is not defined")
        return tuple(said)

    @property
    def unit(self) -> str:
        """What is counted: "tokens", "words" or "patches"."""
        return "patches" if self.image else "words" if self.settings.words else "tokens"


@one_thread()
def measure(
    capture: Any,
    top: float = 0.01,
    kind: Kind = "dot",
    special: bool = False,
    words: bool = False,
    progress: Callable[[int, int, str], None] | None = None,
) -> Measured:
    """Measure every statistic of every head in every document of a capture.

    capture: a Capture that kept "z"; of an encoder–decoder, one of its streams. top: share of a document's pairs
    that counts as similar. kind: "dot" or "cosine". special: keep special tokens. words: whole words instead of
    tokens. progress(done, total, stage) may raise to cancel. Raises SimilarityError where z was not kept, no
    document has two units, or a setting is out of range.

    **Source**: Halevi et al., arXiv 2512.21956; see document.py for what is ours.
    """
    settings = Settings(top, kind, special, words)
    labels = captured_units(capture, special, words)
    if all(len(units) < 2 for units in labels.units):
        one = "word" if words else "token"
        raise SimilarityError(
            f"at least one document with two {one}s" + ("" if special else " that are not special"),
            f"{plural(len(labels.units), 'document')}, the longest of {plural(max(map(len, labels.units)), one)}",
            "Add text, or keep the special tokens.",
        )
    jobs = (
        joblib.delayed(document_statistics)(capture.z[:, :, start:stop], units, settings)
        for (start, stop), units in zip(pairwise(capture.doc_offsets), labels.units, strict=True)
    )
    documents = []
    for document in joblib.Parallel(n_jobs=-1, prefer="threads", return_as="generator")(jobs):
        documents.append(document)
        if progress:
            progress(len(documents), len(labels.units), "similarity")
    return _measured(capture, settings, labels.names, tuple(documents))


def _measured(
    capture: Any, settings: Settings, names: tuple[str, ...], documents: tuple[DocumentStatistics, ...]
) -> Measured:
    shape = (len(documents), *capture.z.shape[:2])
    values = {name: np.stack([d.values[name] for d in documents]).reshape(shape) for name in WITHIN}
    chance = {name: np.stack([d.chance[name] for d in documents]).reshape(shape) for name in WITHIN}
    across, expected = cooccurrence(documents, len(names))
    values["cooccurrence"], chance["cooccurrence"] = across.reshape(shape), expected.reshape(shape)
    return Measured(
        settings=settings,
        layers=tuple(capture.layers),
        names=names,
        values=values,
        chance=chance,
        selected=np.stack([d.selected for d in documents]).reshape(shape),
        undefined=np.stack([d.undefined for d in documents]).reshape(shape),
        documents=documents,
        model=str(capture.model),
        stream=str(capture.stream),
        causal=bool(capture.causal),
        image=bool((np.asarray(capture.tokens.row) >= 0).any()),
    )


def pair_statistics(
    capture: Any,
    top: float = 0.01,
    kind: Kind = "dot",
    special: bool = False,
    words: bool = False,
    weights: Weights = "documents",
    simultaneous: bool = False,
    level: float = 0.95,
    seed: int = 0,
    progress: Callable[[int, int, str], None] | None = None,
) -> pd.DataFrame:
    """Statistics of the most similar pairs of every head, one row per (layer, head), chance beside each.

    Arguments as in ``measure`` and ``summary``, which this joins. Columns NAME, NAME_chance, NAME_low, NAME_high,
    NAME_lift, NAME_lift_low, NAME_lift_high for each NAME of ``STATISTICS``; what they mean is said there. Raises
    SimilarityError as ``measure`` does.
    """
    return summary(measure(capture, top, kind, special, words, progress), weights, simultaneous, level, seed)


def summary(
    measured: Measured,
    weights: Weights = "documents",
    simultaneous: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> pd.DataFrame:
    """The table of heads: every statistic with its chance value, its lift over chance and both intervals.

    weights: "documents", every document counts alike, or "pairs", by its number of selected pairs. simultaneous:
    widen the intervals so that all heads and statistics are covered together. level: coverage of the intervals;
    seed: of the bootstrap over documents.

    distance         mean distance of the selected pairs in tokens (steps on a patch grid); chance (n + 1)/3
    same_sentence    share of pairs within a sentence; chance Σ n_s(n_s − 1)/n(n − 1)
    same_token       share of pairs of one token with itself (repetition); chance Σ c_t(c_t − 1)/n(n − 1)
    separator        share of endpoints on sentence-ending marks (and [SEP] where kept); chance: their share
    concentration    chance that endpoints in two places carry the same token; chance as for same_token
    contrast         similarity within minus between sentences, in standard deviations of the head; chance 0
    cooccurrence     how often a pair of different tokens selected here is selected in the other documents; chance:
                     how often any pair of the document is
    NAME_lift        Σ weight · NAME ÷ Σ weight · chance; its interval resamples both together

    Attributes of the frame: ``settings`` and ``notes``, what a figure must say.
    """
    weight = measured.weights(weights)
    names = list(STATISTICS)
    values = np.stack([measured.values[name] for name in names], axis=1)  # (document, statistic, layer, head)
    chance = np.stack([measured.chance[name] for name in names], axis=1)
    plain = bootstrap_mean(values, weight, level, seed=seed, simultaneous=simultaneous)
    expected = weighted_mean(chance, np.where(np.isnan(values), 0, weight[:, None, None, None]))
    lift = ratio(values, chance, weight, level, seed, simultaneous)
    columns = head_columns(measured.layers, measured.shape[1])
    for index, name in enumerate(names):
        columns[name] = plain.estimate[index].ravel()
        columns[f"{name}_chance"] = expected[index].ravel()
        columns[f"{name}_low"], columns[f"{name}_high"] = plain.low[index].ravel(), plain.high[index].ravel()
        if name != "contrast":  # its chance is zero
            columns[f"{name}_lift"] = lift.estimate[index].ravel()
            columns[f"{name}_lift_low"] = lift.low[index].ravel()
            columns[f"{name}_lift_high"] = lift.high[index].ravel()
    columns["pairs"] = measured.selected.sum(axis=0).ravel()
    columns["documents"] = (measured.selected > 0).sum(axis=0).ravel()
    columns["undefined"] = measured.undefined.sum(axis=0).ravel()
    frame = pd.DataFrame(columns)
    alike = "every document counts alike" if weights == "documents" else "documents count by their selected pairs"
    frame.attrs = {"settings": {**vars(measured.settings), "weights": weights}, "notes": [*measured.notes, alike]}
    return frame


def head_columns(layers: Sequence[int], n_heads: int) -> dict[str, Array]:
    """The columns layer and head of a table with one row per head, heads of the first layer first."""
    return {"layer": np.repeat(layers, n_heads), "head": np.tile(np.arange(n_heads), len(layers))}


def ratio(
    values: Array, base: Array, weights: Array, level: float = 0.95, seed: int = 0, simultaneous: bool = False
) -> Interval:
    """Σ w·value ÷ Σ w·base over documents with its bootstrap interval, both sums resampled together.

    values, base: (document, *cells), base ≥ 0; weights: (document,). Documents where either is undefined, or base is
    zero, say nothing about the ratio and are left out.
    """
    weights = weights.reshape(-1, *([1] * (values.ndim - 1)))
    with np.errstate(invalid="ignore", divide="ignore"):
        single = np.where(base > 0, values / base, np.nan)
    return bootstrap_mean(single, np.nan_to_num(base * weights), level, seed=seed, simultaneous=simultaneous)


def ratio_draws(values: Array, base: Array, weights: Array, draws: int, seed: int) -> tuple[Array, Array]:
    """Σ w·value ÷ Σ w·base over documents, and in each bootstrap draw: arrays (*cells) and (draw, *cells).

    values, base: (document, *cells); a cell that is undefined in either is left out of both sums.
    """
    defined = ~(np.isnan(values) | np.isnan(base))
    weights = weights.reshape(-1, *([1] * (values.ndim - 1)))
    sums = [np.where(defined, part, 0) * weights for part in (values, base)]
    documents = len(values)
    counts = np.random.default_rng(seed).multinomial(documents, np.full(documents, 1 / documents), size=draws)
    with np.errstate(invalid="ignore", divide="ignore"):
        top, bottom = (np.tensordot(counts, part, axes=1) for part in sums)
        return sums[0].sum(axis=0) / sums[1].sum(axis=0), top / bottom
