"""Units: what similarity is measured between in one document, tokens, whole words or image patches.

Decides what is kept and how it is labelled; knows neither vectors' values nor pairs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from .errors import SimilarityError

Array = np.ndarray
SENTENCE_END = frozenset(".!?。！？…؟۔।॥")
OTHER, FIRST, SEPARATOR, END = range(4)
CLASSES = ("other", "[CLS]", "[SEP]", "'.'")  # names of the classes above, as shown


def token_classes(table: Any) -> Array:
    """Class of every token (token,): 0 other, 1 [CLS] or BOS, 2 [SEP] or EOS, 3 sentence-ending mark.

    table: a TokenTable. A special token that opens its document is [CLS], every later one [SEP], whatever the model
    calls them; a mark ends a sentence if all its characters do (. ! ? and their kin in other scripts).
    """
    special, pos = np.asarray(table.is_special, dtype=bool), np.asarray(table.pos)
    ends = np.array([bool(text) and set(text) <= SENTENCE_END for text in table.text], dtype=bool)
    return np.select([special & (pos == 0), special, ends], [FIRST, SEPARATOR, END], OTHER)


@dataclass(frozen=True, eq=False)
class Units:
    """The units of one document in reading order; every array has the axis (unit,) unless it says otherwise.

    kept: tokens of the document that belong to a unit (kept token,); starts: first kept token of each unit;
    sizes: its number of tokens; label: index into Labels.names, -1 for patches, which repeat nothing; sentence: -1
    unknown; separator: ends a sentence; place: (unit, 2) row and column on the patch grid, or None for text.
    """

    kept: Array
    starts: Array
    sizes: Array
    label: Array
    sentence: Array
    separator: Array
    place: Array | None

    def __len__(self) -> int:
        return len(self.starts)

    def pool(self, z: Array) -> Array:
        """Mean output vector of every unit: (…, token, d_head) of the whole document → (…, unit, d_head)."""
        kept = z[..., self.kept, :]
        if len(self.starts) == len(self.kept):
            return kept
        return np.add.reduceat(kept, self.starts, axis=-2) / self.sizes[:, None].astype(kept.dtype)

    def table(self, tokens: Any, text: str = "") -> Any:
        """The token table of the units: of each its first token's row, but the text and the end of all its tokens.

        tokens: TokenTable of the whole document. text: the document's, from which words are read; without it a word is
        the joined text of its tokens.
        """
        firsts = self.kept[self.starts]
        table = tokens.at(firsts)
        if len(firsts) == len(self.kept):
            return table
        end = tokens.end[self.kept[self.starts + self.sizes - 1]]
        parts = [self.kept[a : a + size] for a, size in zip(self.starts, self.sizes, strict=True)]
        spelt = [
            text[a:b] if word >= 0 and 0 <= a < b <= len(text) else "".join(tokens.text[t] for t in part)
            for a, b, word, part in zip(table.start, end, table.word, parts, strict=True)
        ]
        return replace(table, text=spelt, end=end)


@dataclass(frozen=True, eq=False)
class Labels:
    """What the labels of the units mean over the whole corpus: names[label] is the token or word as shown."""

    names: tuple[str, ...]
    units: tuple[Units, ...]  # one per document


def captured_units(capture: Any, special: bool, words: bool) -> Labels:
    """Units of every document of a capture, as ``units_of``; raises SimilarityError where z was not kept."""
    if capture.z is None:
        raise SimilarityError('a capture with "z"', "one that did not keep it", 'Capture with keep=("z",).')
    return units_of(capture.tokens, capture.doc_offsets, special, words)


def document_units(tokens: Any, special: bool, words: bool) -> Units:
    """Units of one document, from its own token table, as ``units_of``; labels are its own."""
    return units_of(tokens, [0, len(tokens)], special, words).units[0]


def units_of(table: Any, doc_offsets: Sequence[int] | Array, special: bool, words: bool) -> Labels:
    """Units of every document, labelled alike over the corpus.

    table: TokenTable of all documents end to end; doc_offsets: (document + 1,). special: keep [CLS], [SEP] and
    their kin. words: merge the pieces of a word into one unit (mean vector, joined text); tokens of no word stand
    alone. Tokens are the same if their id is; words if their joined text is.
    Raises SimilarityError where the offsets do not fit the table.
    """
    offsets = np.asarray(doc_offsets)
    if len(offsets) < 2 or offsets[0] != 0 or offsets[-1] != len(table) or (np.diff(offsets) < 0).any():
        raise SimilarityError(
            f"doc_offsets ascending from 0 to the {len(table)} tokens",
            f"{offsets[:1]} … {offsets[-1:]} for {len(offsets) - 1} documents",
            "Pass the capture's own doc_offsets.",
        )
    is_special, token_id = np.asarray(table.is_special, dtype=bool), np.asarray(table.token_id)
    keep = np.ones(len(table), dtype=bool) if special else ~is_special
    bounds = [_bounds(table, start + np.flatnonzero(keep[start:stop]), words) for start, stop in pairwise(offsets)]
    if words:
        texts = [["".join(table.text[t] for t in part) for part in parts] for parts in bounds]
    else:
        texts = [[table.text[part[0]] for part in parts] for parts in bounds]
    heads = [np.array([part[0] for part in parts], dtype=np.int64) for parts in bounds]  # first token of each unit
    names, label = _labels(texts, heads, token_id, words)
    classes = token_classes(table)
    return Labels(
        names,
        tuple(
            _units(table, classes, parts, first, lab, int(start))
            for parts, first, lab, start in zip(bounds, heads, label, offsets[:-1], strict=True)
        ),
    )


def _bounds(table: Any, kept: Array, words: bool) -> list[Array]:
    if not len(kept):
        return []
    if not words:
        return list(kept[:, None])
    word, segment = np.asarray(table.word)[kept], np.asarray(table.segment)[kept]
    new = np.ones(len(kept), dtype=bool)
    new[1:] = (word[1:] != word[:-1]) | (word[1:] < 0) | (segment[1:] != segment[:-1])
    return np.split(kept, np.flatnonzero(new)[1:])


def _labels(
    texts: list[list[str]], heads: list[Array], token_id: Array, words: bool
) -> tuple[tuple[str, ...], list[Array]]:
    flat_heads = np.concatenate(heads) if heads else np.empty(0, dtype=np.int64)
    flat_texts = [text for parts in texts for text in parts]
    known = token_id[flat_heads] >= 0
    keys = [text if words else int(identity) for text, identity in zip(flat_texts, token_id[flat_heads], strict=True)]
    index: dict[str | int, int] = {}
    names: list[str] = []
    label = np.full(len(keys), -1, dtype=np.int64)
    for row in np.flatnonzero(known):
        label[row] = index.setdefault(keys[row], len(index))
        if label[row] == len(names):
            names.append(flat_texts[row])
    sizes = [len(first) for first in heads]
    return tuple(names), np.split(label, np.cumsum(sizes)[:-1]) if sizes else []


def _units(table: Any, classes: Array, parts: list[Array], first: Array, label: Array, start: int) -> Units:
    sizes = np.array([len(part) for part in parts], dtype=np.int64)
    place = np.stack([np.asarray(table.row)[first], np.asarray(table.col)[first]], axis=1)
    return Units(
        kept=(np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)) - start,
        starts=np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64) if parts else sizes,
        sizes=sizes,
        label=label,
        sentence=np.asarray(table.sentence)[first].astype(np.int64),
        separator=(classes[first] == SEPARATOR) | (classes[first] == END),
        place=place if (place >= 0).any() else None,
    )
