"""The induction probe: random tokens said twice, where only copying can tell what comes next.

On the repeat, a head that attends to the token *after* the earlier occurrence is an induction head; one that attends
to the token *before* it runs the other way, which a bidirectional model can do as well.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from lib.corpora import repeated_tokens
from lib.errors import HeadlightError
from lib.heads.census import tally_heads
from lib.heads.tally import Tally, columns

LENGTH, SEQUENCES = 25, 8
PROBED = ("induction", "induction_before")


def induction_probe(
    engine: Any, stream: str | None = None, length: int = LENGTH, sequences: int = SEQUENCES, seed: int = 0
) -> Tally:
    """The census over sequences of ``length`` random tokens, each said twice between the model's special tokens.

    Its scores "induction" and "induction_before" are the probe's: every token of the repeat has one earlier
    occurrence. The length is cut to what the model's window holds. Raises HeadlightError for models without tokens.

    **Source** Olsson et al., "In-context Learning and Induction Heads", 2022, arXiv 2209.11895.
    """
    if engine.max_length is not None:
        length = max(2, min(length, (engine.max_length - 4) // 2))  # four special tokens at most
    return tally_heads(engine, repeated_tokens(engine, length, count=sequences, seed=seed), stream)


def probe_columns(engine: Any, stream: str | None = None) -> tuple[dict[str, np.ndarray], str]:
    """probe_induction and probe_induction_before with chance and interval, and why there are none (else "")."""
    try:
        tally = induction_probe(engine, stream)
    except HeadlightError as error:
        return {}, str(error)
    found = {}
    for name in PROBED:
        found |= {f"probe_{column}": values for column, values in columns(tally, name).items()}
    return found, ""
