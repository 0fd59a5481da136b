"""What a language model is asked to predict in a document, and where."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from lib.corpora import Encoding
from lib.errors import HeadlightError

MASKED = 0.15  # of the ordinary tokens of a document, for masked language models


def masked(engine: Any, encoding: Encoding, number: int) -> Encoding:
    """The document as a masked language model is asked about it; other models read it as it is.

    15 % of the ordinary tokens, at least one, the same in every run; ``number`` is the document's in its corpus. The
    token table keeps what stood there. Raises HeadlightError where the tokenizer has no mask token.

    **Source** Devlin et al., BERT, 2019, §3.1; here every chosen token becomes the mask.
    """
    if engine.head != "masked-lm":
        return encoding
    mask = getattr(engine.tokenizer, "mask_token_id", None)
    if mask is None:
        raise HeadlightError("a tokenizer with a mask token", f"{engine.name} without one", "Choose another model.")
    ordinary = np.flatnonzero(~encoding.table.is_special)
    count = min(len(ordinary), max(1, round(MASKED * len(ordinary))))
    ids = encoding.token_ids.copy()
    ids[np.random.default_rng([0, number]).choice(ordinary, size=count, replace=False)] = mask
    return replace(encoding, token_ids=ids)


def predicted(head: str | None, encoding: Encoding) -> tuple[np.ndarray, np.ndarray]:
    """Positions whose output predicts a token, and the token's id: two int64 (target,).

    causal-lm: every position but the last, the token after it. seq2seq-lm: the same on the decoder's side.
    masked-lm: the masked positions, what stood there. None: no position predicts anything.
    """
    if head == "masked-lm":
        places = np.flatnonzero(encoding.token_ids != encoding.table.token_id)
        return places, encoding.table.token_id[places]
    if head is None:
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    ids = encoding.target_ids if head == "seq2seq-lm" else encoding.token_ids
    return np.arange(len(ids) - 1), ids[1:]
