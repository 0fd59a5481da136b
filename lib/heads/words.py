"""Reading a pattern by words, without special tokens, or between the two texts of a pair; totals are kept."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib.corpora import TokenTable


@dataclass(frozen=True)
class Hidden:
    """A pattern with keys hidden.

    pattern  (head, query_pos, key_pos) of the kept queries and keys, each row divided by what it kept: a/(1 − hidden)
    hidden   (head, query_pos) mass that lay on hidden keys
    queries, keys  positions that were kept
    """

    pattern: np.ndarray
    hidden: np.ndarray
    queries: np.ndarray
    keys: np.ndarray


def hide(pattern: np.ndarray, queries: np.ndarray, keys: np.ndarray) -> Hidden:
    """Hide queries and keys (bool masks (query_pos,) and (key_pos,): what is kept) and renormalise the rows.

    Rows that kept nothing are NaN: there is nothing to renormalise.
    """
    part = pattern[:, queries][:, :, keys]
    kept = part.sum(axis=2)
    total = pattern[:, queries].sum(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        shown = np.where(kept[..., None] > 0, part / kept[..., None], np.nan)
    return Hidden(shown, total - kept, np.flatnonzero(queries), np.flatnonzero(keys))


@dataclass(frozen=True)
class Words:
    """A pattern between words.

    pattern  (head, word, word): the sum over a key word's tokens, the mean over a query word's tokens, so every row
             keeps its total
    queries, keys  what stands on the two axes; a special token, or white space of its own, is its own entry
    query_of, key_of  (token,) the entry of each token
    """

    pattern: np.ndarray
    queries: tuple[str, ...]
    keys: tuple[str, ...]
    query_of: np.ndarray
    key_of: np.ndarray


def merge_words(pattern: np.ndarray, queries: TokenTable, keys: TokenTable, text: str = "", source: str = "") -> Words:
    """Merge the tokens of a word: (head, query_pos, key_pos) of one document to (head, word, word).

    queries, keys: token tables of the two sides; text, source: the documents' texts of the query and of the key side,
    from which words are labelled. Without a text a word is labelled by its tokens.

    **Source** Clark et al., "What Does BERT Look At?", 2019, §4.1: sum over the tokens of a word attended *to*, mean
    over the tokens of a word attended *from*.
    """
    query_of, query_labels = entries(queries, text)
    key_of, key_labels = entries(keys, source or text)
    to_keys = np.zeros((len(keys), len(key_labels)), dtype=np.float64)
    to_keys[np.arange(len(keys)), key_of] = 1
    from_queries = np.zeros((len(query_labels), len(queries)), dtype=np.float64)
    from_queries[query_of, np.arange(len(queries))] = 1
    from_queries /= from_queries.sum(axis=1, keepdims=True)
    merged = np.matmul(from_queries, np.matmul(pattern, to_keys))
    return Words(merged.astype(np.float32), query_labels, key_labels, query_of, key_of)


def entries(table: TokenTable, text: str = "") -> tuple[np.ndarray, tuple[str, ...]]:
    """The entry of each token (token,), numbered in the order of the text, and what each entry is called."""
    entry, labels = np.empty(len(table), dtype=np.int64), []
    before = None
    for i, word in enumerate(table.word.tolist()):
        own = (word, int(table.segment[i])) if word >= 0 else None
        if own is None or own != before:
            labels.append([])
        entry[i] = len(labels) - 1
        labels[-1].append(i)
        before = own
    return entry, tuple(_label(table, tokens, text) for tokens in labels)


def _label(table: TokenTable, tokens: list[int], text: str) -> str:
    start, end = int(table.start[tokens[0]]), int(table.end[tokens[-1]])
    if text and table.word[tokens[0]] >= 0 and 0 <= start < end:
        return text[start:end]
    return "".join(table.text[i].removeprefix("##") for i in tokens)


def between(table: TokenTable, which: str) -> tuple[np.ndarray, np.ndarray]:
    """Queries and keys (bool masks) of one direction of a sentence pair: "A→A", "A→B", "B→A", "B→B" or "all"."""
    if which == "all":
        return np.ones(len(table), dtype=bool), np.ones(len(table), dtype=bool)
    asking, answering = (int(side == "B") for side in which.split("→"))
    return table.segment == asking, table.segment == answering
