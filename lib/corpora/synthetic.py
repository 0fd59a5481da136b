"""Random token sequences said several times: the standard probe for induction heads."""

from __future__ import annotations

from typing import Any

import numpy as np

from lib.errors import HeadlightError

from .pieces import bare, vocabulary_kind
from .tokens import Encoding, encode_ids

ENOUGH = 50  # with fewer whole words in a vocabulary (characters), every ordinary token is used


def repeated_tokens(engine: Any, length: int, copies: int = 2, count: int = 8, seed: int = 0) -> list[Encoding]:
    """Sequences of `length` random ordinary tokens, each repeated `copies` times, between the model's special tokens.

    Tokens are whole words of ASCII letters where the vocabulary has enough of them, and differ within one sequence
    where there are at least `length` to draw from.

    Raises HeadlightError where the model reads no tokens or the sequence is longer than its window.

    **Source** Olsson et al., "In-context Learning and Induction Heads", 2022, arXiv 2209.11895.
    """
    if engine.kind == "vision" or min(length, copies, count) < 1:
        raise HeadlightError(
            "a text model, and length, copies and count of at least 1",
            f"{engine.name} ({engine.kind}), {length}, {copies}, {count}",
            "Choose a text model.",
        )
    before, after = special_frame(engine)
    total = len(before) + length * copies + len(after)
    if engine.max_length is not None and total > engine.max_length:
        raise HeadlightError(
            f"at most {engine.max_length} tokens for {engine.name}",
            f"{copies} × {length} and {len(before) + len(after)} special ones",
            f"Choose a length of at most {(engine.max_length - len(before) - len(after)) // copies}.",
        )
    random, vocabulary = np.random.default_rng(seed), ordinary_ids(engine)
    sequences = []
    for _ in range(count):
        once = random.choice(vocabulary, size=length, replace=len(vocabulary) < length)
        sequences.append(encode_ids(np.r_[before, np.tile(once, copies), after], engine))
    return sequences


def special_frame(engine: Any) -> tuple[list[int], list[int]]:
    """Ids that the tokenizer puts before and after a text."""
    if engine.tokenizer is None:
        return [], []
    read = engine.tokenizer("a", return_special_tokens_mask=True)
    ids, mask = list(read["input_ids"]), list(read["special_tokens_mask"])
    if 0 not in mask:
        return ids, []
    return ids[: mask.index(0)], ids[len(mask) - mask[::-1].index(0) :]


def ordinary_ids(engine: Any) -> np.ndarray:
    """Ids of whole words of three or more ASCII letters; of all but special tokens where these are few."""
    if engine.tokenizer is None:
        ids = np.arange(engine.require_loaded().config.vocab_size)
        return ids[~np.isin(ids, list(engine.special_ids))]
    kind = vocabulary_kind(engine.tokenizer)
    entries = engine.tokenizer.convert_ids_to_tokens(list(range(len(engine.tokenizer))))
    spaced = any(_word(entry, kind)[:1] == " " for entry in entries if entry)
    words, others = [], []
    for token_id, entry in enumerate(entries):
        if not entry or token_id in engine.special_ids or (kind == "wordpiece" and entry.startswith("##")):
            continue
        content = _word(entry, kind)
        word = content[1:] if spaced and content.startswith(" ") else content
        whole = spaced == content.startswith(" ") and word.isascii() and word.isalpha() and len(word) >= 3
        if content.strip():
            others.append(token_id)
        if whole:
            words.append(token_id)
    return np.array(words if len(words) >= ENOUGH else others, dtype=np.int64)


def _word(entry: str, kind: str) -> str:
    content = bare(entry, kind)
    return content.decode("utf-8", "replace") if isinstance(content, bytes) else content
