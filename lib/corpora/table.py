"""TokenTable: what is known about every token, one row per (doc, pos)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
import pandas as pd

from lib.errors import HeadlightError

_DTYPES = {
    "doc": np.int32,
    "pos": np.int32,
    "start": np.int32,
    "end": np.int32,
    "word": np.int32,
    "sentence": np.int32,
    "is_special": np.bool_,
    "token_id": np.int64,
    "segment": np.int8,
    "row": np.int32,
    "col": np.int32,
}


@dataclass(frozen=True, eq=False)
class TokenTable:
    """One row per token; all columns have the length of the token axis and arrays are read-only.

    doc, pos        index of the document and of the token within it
    text            the token as it is shown
    start, end      character offsets into Document.text without white space around; -1 special tokens, patches
    word, sentence  index within the document; -1 for special tokens, word also for white space alone
    is_special      added by the tokenizer or the model, not part of the input
    token_id        -1 for patches
    part_of_speech  Universal Dependencies tag, "" unknown
    segment         0 first text, 1 second text of a pair
    row, col        place on the patch grid, -1 for text and for special tokens

    Raises HeadlightError where the columns differ in length.
    """

    doc: np.ndarray
    pos: np.ndarray
    text: tuple[str, ...]
    start: np.ndarray
    end: np.ndarray
    word: np.ndarray
    sentence: np.ndarray
    is_special: np.ndarray
    token_id: np.ndarray
    part_of_speech: tuple[str, ...]
    segment: np.ndarray
    row: np.ndarray
    col: np.ndarray

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if dtype := _DTYPES.get(field.name):
                value = np.array(value, dtype=dtype)
                value.setflags(write=False)
            else:
                value = tuple(value)
            object.__setattr__(self, field.name, value)
            shape = np.shape(value) if dtype else (len(value),)
            if shape != (len(self.text),):
                raise HeadlightError(
                    f"axis token of {field.name!r} to be ({len(self.text)},) like 'text'",
                    f"{shape}",
                    "Give every column one entry per token.",
                )

    def __len__(self) -> int:
        return len(self.text)

    def at(self, rows: np.ndarray) -> TokenTable:
        """The table of the chosen rows; `rows` is a boolean mask or integer positions (token,)."""
        positions = np.arange(len(self))[rows]
        return TokenTable(
            **{
                field.name: getattr(self, field.name)[positions]
                if field.name in _DTYPES
                else tuple(getattr(self, field.name)[position] for position in positions)
                for field in fields(self)
            }
        )

    def of(self, doc: int) -> TokenTable:
        """The rows of one document."""
        return self.at(self.doc == doc)

    def frame(self) -> pd.DataFrame:
        """The table as a data frame with one column per field."""
        return pd.DataFrame(
            {
                field.name: getattr(self, field.name) if field.name in _DTYPES else list(getattr(self, field.name))
                for field in fields(self)
            }
        )

    @staticmethod
    def join(tables: Sequence[TokenTable]) -> TokenTable:
        """Tables of one document each, end to end; documents are numbered in the order given."""
        columns = {
            field.name: np.concatenate([getattr(table, field.name) for table in tables] or [np.empty(0)])
            if field.name in _DTYPES
            else [entry for table in tables for entry in getattr(table, field.name)]
            for field in fields(TokenTable)
        }
        columns["doc"] = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        return TokenTable(**columns)
