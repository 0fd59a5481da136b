"""From a Document to what a model reads: token ids or pixels, and the table that says what each token is.

No torch here. Texts are tokenised as text: a typed "[SEP]" stays five characters and never becomes a separator.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.errors import HeadlightError

from .align import Pieces, tokenised
from .document import Document, Span
from .patches import patch_table, patches
from .pieces import bare, shown, vocabulary_kind
from .pos import closed_class_tags
from .table import TokenTable
from .words import word_spans

__all__ = ["Encoding", "TokenTable", "encode", "encode_ids", "tokenise"]

USUAL_LENGTH = 256  # tokens of a document at most where nobody asks for others: in the app, and when filling its store
_TOKENIZING = threading.Lock()  # fast tokenizers keep truncation as state: two threads raise "Already borrowed"


@dataclass(frozen=True, eq=False, kw_only=True)
class Encoding:
    """One document, ready for a model.

    token_ids, type_ids  int64 (token,); None for images, type_ids None where the model has no segments
    pixels       float32 (channel, height, width), None for text
    seen         uint8 (height, width, 3): the image as the model sees it, after resizing and cropping
    grid         (rows, cols) of patches
    table        one row per token
    lost         tokens cut off by the model's window
    target_ids, target_table  what the decoder of an encoder–decoder reads: its start token, then the target
    interpolate  the model must stretch its position embeddings to the grid (`interpolate_pos_encoding=True`)
    """

    table: TokenTable
    token_ids: np.ndarray | None = None
    type_ids: np.ndarray | None = None
    pixels: np.ndarray | None = None
    seen: np.ndarray | None = None
    grid: tuple[int, int] | None = None
    lost: int = 0
    target_ids: np.ndarray | None = None
    target_table: TokenTable | None = None
    interpolate: bool = False

    def __post_init__(self) -> None:
        for name in ("token_ids", "type_ids", "pixels", "seen", "target_ids"):
            if (value := getattr(self, name)) is not None:
                value.setflags(write=False)


def encode(document: Document, engine: Any, max_length: int | None = None) -> Encoding:
    """Tokenise a text, or cut an image into patches, for one model.

    max_length  tokens at most, special tokens included; the model's own window applies as well

    Raises HeadlightError where the document and the model do not fit each other, or the text has no token.
    """
    if document.kind == "image":
        if engine.kind != "vision":
            raise HeadlightError(
                f"a text for {engine.name}, a text model",
                f"the image {document.name!r}",
                "Choose a text, or a vision model such as DINOv2.",
            )
        pixels, seen, grid, interpolate = patches(document, engine)
        table = patch_table(grid, engine.n_prefix)
        return Encoding(table=table, pixels=pixels, seen=seen, grid=grid, interpolate=interpolate)
    if engine.kind == "vision":
        raise HeadlightError(
            f"an image for {engine.name}, a vision model",
            f"the text {document.name!r}",
            "Choose an image, or a text model such as all-MiniLM-L6-v2.",
        )
    if engine.tokenizer is None:
        raise HeadlightError(
            "a tokenizer to read text with", f"{engine.name} without one", "Give token ids to encode_ids instead."
        )
    window = min((n for n in (max_length, engine.max_length) if n is not None), default=None)
    pieces = tokenise(document.text, engine, window, document.second)
    target = _target_pieces(document, engine, window)
    if not len(pieces.ids) or pieces.special.all():
        raise HeadlightError(
            f"a text with at least one token of {engine.name}",
            f"{document.name!r}, in which the tokenizer finds none",
            "Write some words.",
        )
    return Encoding(
        table=_table(pieces, document, engine.tokenizer),
        token_ids=pieces.ids,
        type_ids=pieces.types,
        lost=pieces.lost,
        **target,
    )


def tokenise(text: str, engine: Any, max_length: int | None = None, second: int | None = None) -> Pieces:
    """Token ids of a text with their character offsets, special tokens around them; safe from several threads.

    max_length  tokens at most, special tokens included; the model's own window is not looked at
    second      character offset where the second text of a pair begins

    Raises HeadlightError where ``max_length`` has no room for a token, or offsets cannot be found.
    """
    with _TOKENIZING:
        return tokenised(text, second, engine.tokenizer, max_length)


def encode_ids(token_ids: np.ndarray, engine: Any) -> Encoding:
    """A synthetic sequence of token ids (token,), fed as it is: nothing is added and nothing is cut.

    Raises HeadlightError for a vision model, for ids that are not a non-empty vector of the vocabulary's numbers, and
    past the model's window.
    """
    given = np.asarray(token_ids)
    whole = given.dtype.kind in "iuf" and given.ndim == 1 and given.size and (given == np.floor(given)).all()
    if engine.kind == "vision" or not whole:
        raise HeadlightError(
            "a text model and token ids (token,), whole numbers, at least one",
            f"{engine.name} ({engine.kind}) and ids {given.dtype} {given.shape}",
            "Choose a text model and give one sequence.",
        )
    ids = given.astype(np.int64)
    known = getattr(getattr(getattr(engine, "model", None), "config", None), "vocab_size", None)
    if known is not None and not 0 <= ids.min() <= ids.max() < known:
        raise HeadlightError(
            f"token ids from 0 to {known - 1}, the vocabulary of {engine.name}",
            f"{ids.min()} … {ids.max()}",
            "Give ids that this model's own tokenizer made.",
        )
    if engine.max_length is not None and ids.size > engine.max_length:
        raise HeadlightError(
            f"at most {engine.max_length} tokens for {engine.name}", f"{ids.size}", "Give a shorter sequence."
        )
    special = np.isin(ids, list(engine.special_ids))
    blank = np.full(ids.size, -1)
    pieces = Pieces(ids, None, blank, blank, special, np.zeros(ids.size), 0)
    target: dict[str, Any] = {}
    if engine.kind == "encoder-decoder":
        target = _decoder_side(pieces, Document("target"), engine)
    return Encoding(table=_table(pieces, Document("ids"), engine.tokenizer), token_ids=ids, **target)


def _target_pieces(document: Document, engine: Any, window: int | None) -> dict[str, Any]:
    """The decoder's side of an encoder–decoder; nothing for other models."""
    if engine.kind != "encoder-decoder":
        return {}
    text = document.text if document.target is None else document.target
    room = None if window is None else max(2, window - 1)  # the start token takes one place
    pieces = tokenise(text, engine, room)
    source = document if document.target is None else Document("target", text)
    return _decoder_side(pieces, source, engine)


def _decoder_side(pieces: Pieces, document: Document, engine: Any) -> dict[str, Any]:
    config = getattr(getattr(engine, "model", None), "config", None)
    start = getattr(config, "decoder_start_token_id", None)
    if start is None:
        start = getattr(engine.tokenizer, "pad_token_id", None) or 0  # T5's convention
    shifted = pieces.after(int(start))
    return {"target_ids": shifted.ids, "target_table": _table(shifted, document, engine.tokenizer)}


def _table(pieces: Pieces, document: Document, tokenizer: Any) -> TokenTable:
    n = len(pieces.ids)
    content = ~pieces.special
    start, end = _trimmed(pieces, document.text)
    if document.text:
        words = document.words or word_spans(document.text, until=int(pieces.end.max(initial=0)))
        word = np.where(content, _word_of(start, end, words), -1)
        starts = np.array([span[0] for span in document.sentences] or [0])
        sentence = np.searchsorted(starts, start, side="right") - 1
    else:  # ids without a text: every ordinary token is its own word
        words, word = (), np.where(content, np.cumsum(content) - 1, -1)
        sentence = np.zeros(n)
    tags = _tags(document, words)
    return TokenTable(
        doc=np.zeros(n),
        pos=np.arange(n),
        text=_labels(pieces, start, end, document.text, tokenizer),
        start=start,
        end=end,
        word=word,
        sentence=np.where(content, np.maximum(sentence, 0), -1),
        is_special=pieces.special,
        token_id=pieces.ids,
        part_of_speech=tuple(tags[w] if 0 <= w < len(tags) else "" for w in word),
        segment=pieces.segment,
        row=np.full(n, -1),
        col=np.full(n, -1),
    )


def _tags(document: Document, words: tuple[Span, ...]) -> tuple[str, ...]:
    if document.tags:
        return document.tags
    return closed_class_tags([document.text[start:end] for start, end in words])


def _trimmed(pieces: Pieces, text: str) -> tuple[np.ndarray, np.ndarray]:
    """Offsets without the white space that byte-level pieces carry; white space alone keeps its own."""
    start, end = pieces.start.copy(), pieces.end.copy()
    for i in range(len(start)):
        covered = text[start[i] : end[i]] if start[i] >= 0 else ""
        if covered.strip():
            start[i] += len(covered) - len(covered.lstrip())
            end[i] -= len(covered) - len(covered.rstrip())
    return start, end


def _word_of(start: np.ndarray, end: np.ndarray, words: tuple[Span, ...]) -> np.ndarray:
    """Index of the word in which each token begins, -1 where it touches none (white space)."""
    if not words:
        return np.full(len(start), -1)
    begins, ends = np.array(words).T
    index = np.minimum(np.searchsorted(ends, start, side="right"), len(words) - 1)
    touches = (begins[index] < end) & (ends[index] > start)
    return np.where(touches, index, -1)


def _labels(pieces: Pieces, start: np.ndarray, end: np.ndarray, text: str, tokenizer: Any) -> tuple[str, ...]:
    """What each token is called on screen: the characters it covers alone, else its vocabulary entry."""
    if tokenizer is None:
        return tuple(str(token_id) for token_id in pieces.ids)
    kind, unknown = vocabulary_kind(tokenizer), getattr(tokenizer, "unk_token", None)
    entries = tokenizer.convert_ids_to_tokens(pieces.ids.tolist())
    labels = []
    for i, entry in enumerate(entries):
        if pieces.special[i] or entry == unknown:
            labels.append(entry)
            continue
        content = bare(entry, kind)
        alone = (i == 0 or end[i - 1] <= start[i]) and (i + 1 == len(entries) or not 0 <= start[i + 1] < end[i])
        if isinstance(content, str) and alone and 0 <= start[i] < end[i]:
            content = text[start[i] : end[i]]
        labels.append(shown(content))
    return tuple(labels)
