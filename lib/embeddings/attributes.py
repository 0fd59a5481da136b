"""What is known about every token or patch that could order a head's map, or colour it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lib.capture.value import read_only
from lib.corpora.table import TokenTable
from lib.corpora.tokens import Encoding

from .errors import EmbeddingError
from .patch_features import patch_features

Array = np.ndarray
Kind = Literal["class", "number", "circle"]
Exchange = Literal["token", "type", "shift"]


@dataclass(frozen=True, eq=False)
class Attribute:
    """One thing known about tokens.

    name, title  its key, and what it is called on screen
    kind         "class": values are indices into ``labels`` · "number": only their order matters · "circle": turns, 0–1
    values       (token,)
    known        bool (token,), where it is known; special tokens have none
    exchange     what its null exchanges: values between "token"s; between "type"s (so that order by identity alone does
                 not count); or each document's values "shift"ed along it (so that nearness in the text alone does not)
    labels       names of the classes
    orders       whether a head can be ordered by it; the rest only colours
    """

    name: str
    title: str
    kind: Kind
    values: Array
    known: Array
    exchange: Exchange = "token"
    labels: tuple[str, ...] = ()
    orders: bool = True

    def __post_init__(self) -> None:
        for name in ("values", "known"):
            object.__setattr__(self, name, read_only(np.asarray(getattr(self, name))))

    def at(self, rows: Array) -> Attribute:
        """The attribute of the chosen tokens."""
        return Attribute(
            self.name,
            self.title,
            self.kind,
            self.values[rows],
            self.known[rows],
            self.exchange,
            self.labels,
            self.orders,
        )


def text_attributes(tokens: TokenTable) -> dict[str, Attribute]:
    """Position, position mod 5, identity, frequency, part of speech, sentence; for colour also length and the like.

    Frequency is log of how often the token occurs in these documents. Sentences are numbered through all documents.
    """
    word = ~tokens.is_special
    names, identity = np.unique(tokens.token_id, return_inverse=True)
    texts = dict(zip(identity.tolist(), tokens.text, strict=True))
    counts = np.bincount(identity, weights=word)[identity]
    tags, tag = np.unique(np.array(tokens.part_of_speech, dtype=object), return_inverse=True)
    in_sentence = word & (tokens.sentence >= 0)
    sentence = np.unique(np.stack([tokens.doc, tokens.sentence]), axis=1, return_inverse=True)[1].ravel()
    length = np.array([len(text.strip()) for text in tokens.text])
    mark = np.array([bool(text.strip()) and not any(map(str.isalnum, text)) for text in tokens.text])
    found = [
        Attribute("position", "position in the document", "number", tokens.pos.astype(float), word),
        Attribute("position_mod_5", "position mod 5", "class", tokens.pos % 5, word, labels=tuple("01234")),
        Attribute("identity", "token", "class", identity, word, labels=tuple(texts[i] for i in range(len(names)))),
        Attribute("frequency", "log frequency here", "number", np.log(np.maximum(counts, 1)), word, "type"),
        Attribute(
            "part_of_speech", "part of speech", "class", tag, word & (tags[tag] != ""), "type",
            tuple(str(name) or "unknown" for name in tags),
        ),
        Attribute("sentence", "sentence", "class", sentence, in_sentence, "shift"),
        Attribute("length", "length in characters", "number", length.astype(float), word, "type", orders=False),
        Attribute(
            "punctuation", "punctuation", "class", mark.astype(int), word, "type", ("word", "punctuation"), orders=False
        ),
    ]  # fmt: skip
    return {one.name: one for one in (*found, *_everywhere(tokens))}


def image_attributes(tokens: TokenTable, encodings: Sequence[Encoding]) -> dict[str, Attribute]:
    """Hue, brightness, row, column, spatial frequency and angle of patches.

    encodings: of the same images in the same order. Hue is known where there is colour, frequency and angle where there
    is structure.

    Raises EmbeddingError where encodings and tokens do not belong together.
    """
    features = [patch_features(encoding) for encoding in encodings]
    if sum(len(one.hue) for one in features) != len(tokens):
        raise EmbeddingError(
            f"images with {len(tokens)} tokens", f"{sum(len(one.hue) for one in features)}", "Pass those captured."
        )
    patch = tokens.row >= 0
    joined = {name: np.concatenate([getattr(one, name) for one in features]) for name in vars(features[0])}
    found = [
        Attribute("hue", "hue", "circle", joined["hue"], patch & joined["coloured"]),
        Attribute("brightness", "brightness", "number", joined["brightness"], patch),
        Attribute("row", "row", "number", tokens.row.astype(float), patch),
        Attribute("column", "column", "number", tokens.col.astype(float), patch),
        Attribute("frequency", "cycles per patch", "number", joined["frequency"], patch & joined["textured"]),
        Attribute("angle", "angle", "circle", joined["angle"], patch & joined["oriented"]),
    ]
    return {one.name: one for one in (*found, *_everywhere(tokens))}


def norm_attribute(vectors: Array, tokens: TokenTable) -> Attribute:
    """The length of each token's vector (token, d_head), as captured: before translation and scaling."""
    lengths = np.linalg.norm(np.asarray(vectors, np.float64), axis=1)
    return Attribute("norm", "length of the vector", "number", lengths, ~tokens.is_special)


def _everywhere(tokens: TokenTable) -> list[Attribute]:
    """What only colours, for texts and images alike."""
    kinds = tuple(f"document {index + 1}" for index in range(int(tokens.doc.max()) + 1))
    special = ("ordinary", "special")
    everyone = np.ones(len(tokens), bool)
    return [
        Attribute("document", "document", "class", tokens.doc.astype(int), everyone, labels=kinds, orders=False),
        Attribute(
            "special", "special token", "class", tokens.is_special.astype(int), everyone, labels=special, orders=False
        ),
    ]
