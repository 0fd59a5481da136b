"""What topics have to beat: bag-of-words methods, chance, and rules. No model reads anything here.

Every baseline takes the sentences of a text (strings) and the number of topics, None where it is not known, and
returns the first sentences of all topics but the first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from itertools import pairwise

import numpy as np

from lib.corpora.pos import CLOSED_CLASS

from .topics import cut_rows, kernel_rows

TopicCutter = Callable[[Sequence[str], int | None], np.ndarray]
RANKS = 5  # half width of the square in which C99 ranks similarities


def word_counts(sentences: Sequence[str]) -> np.ndarray:
    """Occurrences of words, crudely stemmed and without function words: float64 (sentence, word)."""
    rows = [
        Counter(re.sub(r"(?:ing|ed|es|s|ly)$", "", w) for w in re.findall(r"\w+", s.lower()) if w not in CLOSED_CLASS)
        for s in sentences
    ]
    index = {word: i for i, word in enumerate(sorted(set().union(*rows)))}
    counts = np.zeros((len(rows), max(1, len(index))))
    for i, row in enumerate(rows):
        for word, n in row.items():
            counts[i, index[word]] = n
    return counts


def tf_idf(sentences: Sequence[str], topics: int | None) -> np.ndarray:
    """Change points of tf-idf vectors, cut exactly as the model's vectors are."""
    counts = word_counts(sentences)
    weights = np.log1p(counts) * np.log(len(counts) / np.maximum(1, (counts > 0).sum(axis=0)))
    return cut_rows(kernel_rows({"tf-idf": weights}, "tf-idf"), topics).cuts


def c99(sentences: Sequence[str], topics: int | None) -> np.ndarray:
    """Divisive clustering of a ranked similarity matrix.

    **Source** Choi, "Advances in domain independent linear text segmentation", NAACL 2000: cosine of word counts,
    ranks in an 11 × 11 neighbourhood, splits that most raise the inside density, stopped where the gradient falls below
    its mean + 1.2 deviations.
    """
    counts = word_counts(sentences)
    norms = np.linalg.norm(counts, axis=1)
    similarity = counts @ counts.T / np.maximum(np.outer(norms, norms), 1e-12)
    n = len(similarity)
    rank = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            around = similarity[max(0, i - RANKS) : i + RANKS + 1, max(0, j - RANKS) : j + RANKS + 1]
            rank[i, j] = (around < similarity[i, j]).sum() / max(1, around.size - 1)
    sums = np.zeros((n + 1, n + 1))
    sums[1:, 1:] = rank.cumsum(axis=0).cumsum(axis=1)
    order, densities = _divide(sums, n if topics is None else topics)
    if topics is not None:
        return np.sort(order[: topics - 1])
    gradient = np.diff(densities)
    smooth = np.convolve(np.pad(gradient, 2, mode="edge"), [1 / 8, 1 / 4, 1 / 4, 1 / 4, 1 / 8], "valid")
    below = np.flatnonzero(smooth < smooth.mean() + 1.2 * smooth.std()) if len(smooth) else np.zeros(0, dtype=int)
    return np.sort(order[: int(below[0]) if len(below) else 0])


def _divide(sums: np.ndarray, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Sentences at which a text is split, best split first, and the inside density after 0, 1, 2 … splits."""
    n = len(sums) - 1

    def inside(a: int, b: np.ndarray | int) -> np.ndarray:
        return sums[b, b] - sums[a, b] - sums[b, a] + sums[a, a]

    edges, order = [0, n], []
    total, area = float(inside(0, n)), float(n * n)
    densities = [total / area]
    while len(order) < min(most, n) - 1:
        best = (-np.inf, 0, 0.0, 0.0)
        for a, b in pairwise(edges):
            cuts = np.arange(a + 1, b)
            if not len(cuts):
                continue
            right = sums[b, b] - sums[cuts, b] - sums[b, cuts] + sums[cuts, cuts]
            totals = total - inside(a, b) + inside(a, cuts) + right
            areas = area - (b - a) ** 2 + (cuts - a) ** 2 + (b - cuts) ** 2
            k = int((totals / areas).argmax())
            best = max(best, (float(totals[k] / areas[k]), int(cuts[k]), float(totals[k]), float(areas[k])))
        _, cut, total, area = best
        edges = sorted([*edges, cut])
        order.append(cut)
        densities.append(total / area)
    return np.array(order, dtype=np.int64), np.array(densities)


def text_tiling(sentences: Sequence[str], topics: int | None) -> np.ndarray:
    """nltk's TextTiling, every sentence a paragraph; it takes no number of topics.

    **Source** Hearst, "TextTiling", Computational Linguistics 23 (1997).
    """
    from nltk.tokenize import TextTilingTokenizer

    text = "\n\n" + "\n\n".join(sentences)
    starts = np.cumsum([2, *(len(s) + 2 for s in sentences)])[:-1]
    try:
        tiles = TextTilingTokenizer(stopwords=sorted(CLOSED_CLASS)).tokenize(text)
    except ValueError:  # too short for its blocks
        return np.zeros(0, dtype=np.int64)
    ends = np.cumsum([len(tile) for tile in tiles])[:-1]
    cuts = np.unique(np.searchsorted(starts, ends, side="left"))
    return cuts[(cuts > 0) & (cuts < len(sentences))]


def evenly(sentences: Sequence[str], topics: int | None, usual: float = 8.0) -> np.ndarray:
    """Equal parts: as many as there are, or topics of the usual number of sentences."""
    count = topics or max(1, round(len(sentences) / usual))
    return np.unique(np.round(np.linspace(0, len(sentences), count + 1)).astype(np.int64)[1:-1])


def at_random(sentences: Sequence[str], topics: int | None, usual: float = 8.0) -> np.ndarray:
    """As many boundaries, anywhere."""
    count = topics or max(1, round(len(sentences) / usual))
    rng = np.random.default_rng([len(sentences), count])
    return np.sort(rng.choice(np.arange(1, len(sentences)), size=count - 1, replace=False))


def topic_methods() -> dict[str, TopicCutter]:
    """Topic baselines that can run here, by name."""
    methods: dict[str, TopicCutter] = {"tf-idf change points": tf_idf, "C99 on words": c99}
    if find_spec("nltk"):
        methods["TextTiling (nltk)"] = text_tiling
    return methods | {"equal parts": evenly, "random": at_random}
