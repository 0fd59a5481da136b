"""The catalogue: one row per head, every score beside its chance level, and a role in plain language."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.corpora import Document, Encoding
from lib.heads.agreement import projection_agreement, unwritten
from lib.heads.census import Progress, tally_heads
from lib.heads.induction import PROBED, probe_columns
from lib.heads.roles import with_roles
from lib.heads.tally import Tally, frame
from lib.models import WeightsUnknown


def score_heads(
    engine: Any,
    documents: Sequence[Document | Encoding],
    stream: str | None = None,
    special: bool = True,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Every score of every head over a corpus: one row per (layer, head).

    stream: None for the only one, or the encoder's; "encoder", "decoder", "cross". special: whether special tokens
    take part, as rows and as columns; without them rows are renormalised over the other tokens.

    Columns: layer, head; for each score NAME its mean over rows, NAME_chance the same for uniform rows, NAME_low and
    NAME_high its 95 % interval (bootstrap over documents, simultaneous over all heads); excluded_rows; role, also,
    role_strength. probe_induction and probe_induction_before are measured on repeated random tokens, all else on the
    documents. ``attrs``: model, stream, special, documents, tokens, lost, and missing: score -> why it is NaN.

    Raises what ``lib.capture.observe`` raises.
    """
    tally = tally_heads(engine, documents, stream, special, progress)
    return describe(engine, tally)


def describe(engine: Any, tally: Tally) -> pd.DataFrame:
    """The catalogue of a census, as ``score_heads`` returns it."""
    table = frame(tally)
    missing = {score.name: _why(tally, score.name) for score in tally.scores if table[score.name].isna().all()}
    probe, why = probe_columns(engine, tally.stream)
    if why:
        missing |= {f"probe_{name}": why for name in PROBED}
    agreement, silent, why = _weights(engine, tally)
    if why:
        missing["qk_agreement"] = why
    table = table.assign(
        **probe,
        qk_agreement=agreement.ravel(),
        qk_agreement_chance=0.0,
        qk_agreement_low=np.nan,
        qk_agreement_high=np.nan,
    )
    table = with_roles(table, tally.documents, silent.ravel())
    table.attrs = {
        "model": tally.model, "stream": tally.stream, "special": tally.special, "documents": tally.documents,
        "tokens": tally.tokens, "lost": tally.lost, "missing": missing,
    }  # fmt: skip
    return table


def _weights(engine: Any, tally: Tally) -> tuple[np.ndarray, np.ndarray, str]:
    """W_Q/W_K agreement, heads whose W_O is zero, both (layer, head), and why they are not known."""
    unknown = np.full(tally.excluded.shape, np.nan), np.zeros(tally.excluded.shape, dtype=bool)
    try:
        silent = unwritten(engine, tally.layers, tally.stream)
        if tally.stream == "cross":
            return unknown[0], silent, "queries and keys are made from two different texts"
        return projection_agreement(engine, tally.layers, tally.stream), silent, ""
    except WeightsUnknown as error:
        return *unknown, str(error)


def _why(tally: Tally, name: str) -> str:
    """Why a score is NaN for every head."""
    if tally.stream == "cross" and name in ("previous_token", "next_token", "self", "same_sentence", "mean_lag"):
        return "queries and keys are tokens of two different texts"
    if name in ("cls", "sep", "bos", "eos", "special") and not tally.special:
        return "special tokens are left out"
    if name == "next_token":
        return "a causal row does not see the token after it"
    return "no such token in these documents"
