"""Token ids and their character offsets, from any tokenizer of transformers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.errors import HeadlightError

from .pieces import bare, shown, vocabulary_kind


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
    whole = _read(texts, tokenizer, None)
    kept = whole if window is None or len(whole.ids) <= window else _read(texts, tokenizer, window)
    shift = np.where((kept.segment == 1) & ~kept.special, second or 0, 0)
    segment = np.where(kept.start >= (second or 0), 1, 0) if joined else kept.segment
    return Pieces(
        kept.ids,
        kept.types,
        kept.start + shift,
        kept.end + shift,
        kept.special,
        segment,
        lost=int((~whole.special).sum() - (~kept.special).sum()),
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
    return Pieces(
        ids,
        None if types is None else np.array(types, dtype=np.int64),
        offsets[:, 0],
        offsets[:, 1],
        special,
        _carried(sequence),
        lost=0,
    )


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

    Letter case is ignored. A piece that is not found (unknown token, normalised characters) takes the characters
    between its found neighbours. A space between the segments of a pair is found by the special tokens.
    """
    kind = vocabulary_kind(tokenizer)
    entries = tokenizer.convert_ids_to_tokens(ids.tolist())
    first = int(np.argmin(special)) if not special.all() else 0
    breaks = np.flatnonzero(special[first:]) + first
    middle = int(breaks[0]) if len(texts) == 2 and len(breaks) else len(ids)
    offsets = np.full((len(ids), 2), -1, dtype=np.int64)
    missing = 0
    for text, where in ((texts[0], range(middle)), (texts[-1], range(middle, len(ids)))):
        lowered, cursor = "".join(c.lower() if len(c.lower()) == 1 else c for c in text), 0
        for i in where:
            if special[i]:
                continue
            piece = bare(entries[i], kind)
            piece = shown(piece).lower() if isinstance(piece, bytes) else piece.strip().lower()
            found = lowered.find(piece, cursor, cursor + len(piece) + 64) if piece else cursor
            missing += found < 0
            found, length = (found, len(piece)) if found >= 0 else (cursor, 0)
            offsets[i] = found, found + length
            cursor = found + length
    if missing > 0.5 * max(1, int((~special).sum())):
        raise HeadlightError(
            "a tokenizer that reports character offsets, or whose pieces occur in the text",
            f"{type(tokenizer).__name__}, with {missing} of {len(ids)} pieces not found",
            "Use the model's fast tokenizer (tokenizer.json).",
        )
    return offsets, [0 if i < middle else 1 for i in range(len(ids))]
