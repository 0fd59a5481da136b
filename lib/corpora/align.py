"""Token ids and their character offsets, from any tokenizer of transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.errors import HeadlightError

from .pieces import bare, shown, vocabulary_kind

REACH = 64  # characters that may lie between a piece and the next one


@dataclass(frozen=True)
class Pieces:
    """What a tokenizer made of a text; every array is (token,), offsets are -1 for special tokens."""

    ids: np.ndarray
    types: np.ndarray | None
    start: np.ndarray
    end: np.ndarray
    special: np.ndarray
    segment: np.ndarray
    lost: int

    def after(self, token_id: int) -> Pieces:
        """The same pieces behind one special token."""
        return Pieces(
            ids=np.r_[token_id, self.ids],
            types=None,
            start=np.r_[-1, self.start],
            end=np.r_[-1, self.end],
            special=np.r_[True, self.special],
            segment=np.r_[0, self.segment],
            lost=self.lost,
        )


def tokenised(text: str, second: int | None, tokenizer: Any, window: int | None) -> Pieces:
    """Tokenise a text, or the two texts of a pair from offset `second` on, into at most `window` tokens.

    A pair of a tokenizer that puts nothing between two texts is read as one text, so that no space is lost.

    Raises HeadlightError where the window has no room for a token, or offsets cannot be found.
    """
    extra = tokenizer.num_special_tokens_to_add(pair=second is not None)
    if window is not None and window <= extra:
        raise HeadlightError(
            f"a window of more than {extra} tokens, {extra} of which are special",
            f"{window}",
            "Allow more tokens.",
        )
    joined = second is not None and extra == tokenizer.num_special_tokens_to_add(pair=False)
    texts = (text,) if second is None or joined else (text[:second].rstrip(), text[second:])
    kept = _read(texts, tokenizer, window)
    lost = 0
    if window is not None and len(kept.ids) >= window:
        if len(kept.ids) > window:  # special tokens spelled out took more room
            kept = _read(texts, tokenizer, 2 * window - len(kept.ids))
        lost = _length(texts, tokenizer) - int((~kept.special).sum())
    shift = np.where((kept.segment == 1) & ~kept.special, second or 0, 0)
    segment = np.where(kept.start >= (second or 0), 1, 0) if joined else kept.segment
    return Pieces(
        kept.ids,
        kept.types,
        kept.start + shift,
        kept.end + shift,
        kept.special,
        segment,
        lost=lost,
    )


def _read(texts: tuple[str, ...], tokenizer: Any, window: int | None) -> Pieces:
    read = tokenizer(
        *texts,
        return_special_tokens_mask=True,
        return_offsets_mapping=tokenizer.is_fast,
        return_token_type_ids="token_type_ids" in tokenizer.model_input_names,
        truncation=window is not None,
        max_length=window,
        split_special_tokens=True,  # a typed "[SEP]" is text
        verbose=False,
    )
    ids = np.array(read["input_ids"], dtype=np.int64)
    special = np.array(read["special_tokens_mask"], dtype=bool)
    types = read.get("token_type_ids")
    if tokenizer.is_fast:
        offsets = np.array(read["offset_mapping"], dtype=np.int64).reshape(-1, 2)
        sequence = [-1 if s is None else s for s in read.sequence_ids(0)]
    else:
        offsets, sequence = _aligned(texts, ids, special, tokenizer)
    offsets[special] = -1
    types = None if types is None else np.array(types, dtype=np.int64)
    return _spelled(Pieces(ids, types, *offsets.T, special, _carried(sequence), lost=0), texts, tokenizer)


def _length(texts: tuple[str, ...], tokenizer: Any) -> int:
    """Tokens of the texts themselves, however long."""
    ids = tokenizer(*texts, add_special_tokens=False, split_special_tokens=True, verbose=False)["input_ids"]
    reserved = _reserved(tokenizer)
    entries = tokenizer.convert_ids_to_tokens([token_id for token_id in ids if token_id in reserved])
    return len(ids) + sum(len(entry) - 1 for entry in entries)


def _reserved(tokenizer: Any) -> set[int]:
    return set(tokenizer.all_special_ids) - {tokenizer.unk_token_id}


def _spelled(pieces: Pieces, texts: tuple[str, ...], tokenizer: Any) -> Pieces:
    """Typed special tokens letter by letter, where a vocabulary holds them as ordinary entries too (unigram models)."""
    reserved, rows = _reserved(tokenizer), []
    columns = [pieces.ids, pieces.start, pieces.end, pieces.special, pieces.segment]
    typed = ~pieces.special & np.isin(pieces.ids, list(reserved))
    if not typed.any():
        return pieces
    types = np.zeros(len(pieces.ids)) if pieces.types is None else pieces.types
    for i, (token_id, start, end, special, segment, kind) in enumerate(zip(*columns, types, strict=True)):
        if not typed[i]:
            rows.append((token_id, start, end, special, segment, kind))
            continue
        letters = tokenizer.convert_tokens_to_ids(list(texts[segment][start:end]))
        rows += [(one, start + n, start + n + 1, False, segment, kind) for n, one in enumerate(letters)]
    ids, start, end, special, segment, kinds = (np.array(column) for column in zip(*rows, strict=True))
    return Pieces(ids, None if pieces.types is None else kinds, start, end, special, segment, lost=0)


def _carried(sequence: list[int]) -> np.ndarray:
    """Special tokens (-1) take the segment of the token before them, 0 at the start."""
    segment, last = [], 0
    for entry in sequence:
        last = entry if entry >= 0 else last
        segment.append(last)
    return np.array(segment, dtype=np.int8)


def _aligned(
    texts: tuple[str, ...], ids: np.ndarray, special: np.ndarray, tokenizer: Any
) -> tuple[np.ndarray, list[int]]:
    """Offsets for a tokenizer that reports none: each piece is searched for behind the one before it.

    Letter case is ignored. A piece that is not found (unknown token, normalised characters) gets the empty span where
    the search stands; single bytes get the character they belong to. The second text begins at the first special token
    between two ordinary ones.

    Raises HeadlightError where more than half of the pieces are not found.
    """
    kind = vocabulary_kind(tokenizer)
    entries = tokenizer.convert_ids_to_tokens(ids.tolist())
    first = int(np.argmin(special))
    breaks = np.flatnonzero(special[first:]) + first
    middle = int(breaks[0]) if len(texts) == 2 and len(breaks) else len(ids)
    offsets, missing = np.full((len(ids), 2), -1, dtype=np.int64), 0
    for text, places in ((texts[0], range(middle)), (texts[-1], range(middle, len(ids)))):
        own = [i for i in places if not special[i]]
        if kind == "raw":
            character = [n for n, letter in enumerate(text) for _ in letter.encode()]
            offsets[own] = [(character[n], character[n] + 1) for n in range(len(own))] or np.empty((0, 2))
            continue
        spans, unfound = _searched(text, [bare(entries[i], kind) for i in own])
        offsets[own] = spans
        missing += unfound
    if missing > 0.5 * max(1, int((~special).sum())):
        raise HeadlightError(
            "a tokenizer that reports character offsets, or whose pieces occur in the text",
            f"{type(tokenizer).__name__}, with {missing} of {len(ids)} pieces not found",
            "Use the model's fast tokenizer (tokenizer.json).",
        )
    return offsets, [-1 if special[i] else int(i >= middle) for i in range(len(ids))]


def _searched(text: str, pieces: list[str | bytes]) -> tuple[np.ndarray, int]:
    """Spans (piece, 2) of pieces looked for in order, and how many were not found."""
    lowered = "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
    spans, cursor, missing = np.zeros((len(pieces), 2), dtype=np.int64), 0, 0
    for i, content in enumerate(pieces):
        piece = (shown(content) if isinstance(content, bytes) else content).strip().lower()
        found = lowered.find(piece, cursor, cursor + len(piece) + REACH) if piece else cursor
        if found < 0:
            missing += 1
            found, piece = cursor, ""
        cursor = found + len(piece)
        spans[i] = found, cursor
    return spans, missing
