"""A use of the neighbourhood features: ranking the words of a text, scored on titles that the model never saw.

The question is whether words that many others resemble are what a text is about; tf-idf is the baseline to beat.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer

from lib.stats import bootstrap_mean

from .errors import SimilarityError
from .features import FEATURES, Features

Array = np.ndarray
_WORD = re.compile(r"[^\W\d_]{3,}")


@dataclass(frozen=True, eq=False)
class Keywords:
    """How well rankings find the words of titles and subjects.

    scores: frame with one row per method, mean reciprocal rank of the best-placed true word, share of the true words
    among the first ten, intervals over documents. difference: features minus tf-idf in reciprocal rank, with
    interval, paired by document. chosen: (layer, feature) picked on the other half of the documents, for each half.
    rankings: the first ten words per document and method.
    """

    scores: pd.DataFrame
    difference: tuple[float, float, float]
    chosen: tuple[tuple[int, str], tuple[int, str]]
    rankings: pd.DataFrame
    documents: int


def rank_keywords(features: Features, documents: Sequence[Any], seed: int = 0) -> Keywords:
    """Rank the words of every document by a feature, by tf-idf and by frequency, and score against titles.

    features: of whole words (words=True) over ``documents``, Documents whose names are titles. Candidates are words
    of three letters or more that are no stop words; true ones are those of the title and subject that the text holds,
    singular and plural alike. A word's score is its best occurrence's. Which layer and feature ranks is chosen on one
    half of the documents and scored on the other, both ways round, so that choosing gains nothing by chance.
    Raises SimilarityError where fewer than four documents have a true word.

    **Source**: the use is proposed by Halevi et al., arXiv 2512.21956; the protocol is ours.
    """
    if not features.settings.words:
        raise SimilarityError("features of whole words", "features of tokens", "Compute them with words=True.")
    wide = features.frame()
    names = [(layer, name) for layer in features.layers for name in FEATURES]
    columns = [f"L{layer} {name}" for layer, name in names]
    wide["word"] = [token.lower() if _WORD.fullmatch(token) else "" for token in wide["token"]]
    wide = wide[(wide["word"] != "") & ~wide["word"].isin(ENGLISH_STOP_WORDS)]
    tables = [table.groupby("word", sort=True)[columns].max() for _, table in wide.groupby("document", sort=True)]
    kept = [int(document) for document in sorted(wide["document"].unique())]
    truth = [_true_words(documents[index], table.index) for index, table in zip(kept, tables, strict=True)]
    usable = [place for place, words in enumerate(truth) if words.any()]
    if len(usable) < 4:
        raise SimilarityError(
            "four documents whose title or subject occurs in their text",
            f"{len(usable)} of {len(documents)}",
            "Use a corpus with titles, such as the built-in encyclopedia.",
        )
    baselines = _baselines([documents[kept[place]].text for place in usable], [tables[p].index for p in usable])
    scores = {
        name: [(values, truth[p]) for values, p in zip(per_document, usable, strict=True)]
        for name, per_document in baselines.items()
    }
    by_column = np.array(
        [[_score(tables[p][column].to_numpy(), truth[p]) for p in usable] for column in columns]
    )  # (column, document, score)
    halves = [np.arange(len(usable)) % 2 == k for k in (0, 1)]
    picked = [int(np.argmax(by_column[:, halves[1 - k], 0].mean(axis=1))) for k in (0, 1)]
    mine = np.where(halves[0][:, None], by_column[picked[0]], by_column[picked[1]])
    per_method = {"features": mine, **{name: np.array([_score(*s) for s in found]) for name, found in scores.items()}}
    change = bootstrap_mean(mine[:, 0] - per_method["tf-idf"][:, 0], seed=seed)
    ranked = {"features": [tables[p][columns[picked[0 if halves[0][i] else 1]]] for i, p in enumerate(usable)]}
    for name in baselines:
        ranked[name] = [pd.Series(v, tables[p].index) for v, p in zip(baselines[name], usable, strict=True)]
    return Keywords(
        _table(per_method, seed),
        (float(change.estimate), float(change.low), float(change.high)),
        (names[picked[0]], names[picked[1]]),
        _first_ten(ranked, [documents[kept[p]].name for p in usable]),
        len(usable),
    )


def _true_words(document: Any, words: Sequence[str]) -> Array:
    wanted = {form for word in _WORD.findall(f"{document.name} {document.subject}") for form in _forms(word.lower())}
    wanted -= ENGLISH_STOP_WORDS
    return np.array([bool(_forms(word) & wanted) for word in words], dtype=bool)


def _forms(word: str) -> set[str]:
    return {word} | {word.removesuffix(end) for end in ("s", "es") if len(word.removesuffix(end)) >= 3}


def _baselines(texts: list[str], words: list[Any]) -> dict[str, list[Array]]:
    vectorizer = TfidfVectorizer(analyzer=lambda text: [word.lower() for word in _WORD.findall(text)])
    weights = vectorizer.fit_transform(texts).tocsr()
    column = vectorizer.vocabulary_
    tf_idf, frequency = [], []
    for row, index in enumerate(words):
        places = [column.get(word, -1) for word in index]
        dense = weights[row].toarray()[0]
        weight = np.array([dense[place] if place >= 0 else 0.0 for place in places])
        rarity = np.array([vectorizer.idf_[place] if place >= 0 else 1.0 for place in places])
        tf_idf.append(weight)
        frequency.append(weight / rarity)
    chance = [np.zeros(len(index)) for index in words]
    return {"tf-idf": tf_idf, "frequency": frequency, "chance": chance}


def _score(values: Array, true: Array) -> tuple[float, float]:
    """Reciprocal rank of the best true word, and share of the true words in the first ten; ties share their ranks.

    Expected values when ties are ordered at random; undefined features rank last.
    """
    values = np.nan_to_num(values.astype(np.float64), nan=-np.inf)
    above = values.max(initial=-np.inf, where=true)
    better, tied = int((values > above).sum()), np.flatnonzero(values == above)
    n_tied, n_true = len(tied), int(true[tied].sum())
    # P(first true word among the tied ones comes at place k) without replacement
    reciprocal, none_before = 0.0, 1.0
    for place in range(n_tied - n_true + 1):
        here = none_before * n_true / (n_tied - place)
        reciprocal += here / (better + place + 1)
        none_before -= here
    inside = 0.0
    for value in np.unique(values[true]):
        before, level = int((values > value).sum()), values == value
        inside += (true & level).sum() * np.clip((10 - before) / level.sum(), 0, 1)
    return reciprocal, inside / int(true.sum())


def _table(per_method: dict[str, Array], seed: int) -> pd.DataFrame:
    rows = []
    for name, values in per_method.items():
        interval = bootstrap_mean(values, seed=seed)
        rank, ten = zip(interval.estimate, interval.low, interval.high, strict=True)
        rows.append((name, *rank, *ten))
    names = ["reciprocal_rank", "rank_low", "rank_high", "in_first_ten", "ten_low", "ten_high"]
    return pd.DataFrame(rows, columns=["method", *names])


def _first_ten(ranked: dict[str, list[pd.Series]], titles: list[str]) -> pd.DataFrame:
    rows = [
        (titles[document], method, ", ".join(scores.sort_values(ascending=False, kind="stable").index[:10]))
        for method, per_document in ranked.items()
        if method != "chance"
        for document, scores in enumerate(per_document)
    ]
    return pd.DataFrame(rows, columns=["title", "method", "words"])
