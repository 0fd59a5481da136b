"""The similar pairs of one head in one text: as links between tokens, and as a list with its context."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .errors import SimilarityError
from .matrix import Kind
from .pairs import Settings, blocks
from .units import document_units

Array = np.ndarray
AROUND = 30  # characters of context on either side


def pair_list(
    capture: Any,
    document: int,
    layer: int,
    head: int,
    top: float = 0.01,
    kind: Kind = "dot",
    special: bool = False,
    words: bool = False,
    text: str = "",
) -> pd.DataFrame:
    """The selected pairs of one head in one document, most similar first.

    text: the document's, for words and context. Columns first, second (position of the first token in the document),
    first_text, second_text, similarity, weight (below 1 where pairs tie for the last places), distance,
    same_sentence, other_sentence (neither where a token stands in no sentence, as [SEP] does), same_token,
    first_context, second_context ("" without a text). ``attrs["pairs"]`` counts all pairs,
    ``attrs["undefined"]`` zero vectors left out. Empty where fewer than two units are defined. Raises SimilarityError
    for a document, layer or head that was not captured.
    """
    settings = Settings(top, kind, special, words)
    if not 0 <= document < len(capture.doc_offsets) - 1 or not 0 <= head < capture.z.shape[1]:
        raise SimilarityError(
            f"document < {len(capture.doc_offsets) - 1} and head < {capture.z.shape[1]}",
            f"document {document}, head {head}",
            "Count both from 0.",
        )
    start, stop = (int(offset) for offset in capture.doc_offsets[document : document + 2])
    tokens = capture.tokens.at(np.arange(start, stop))
    units = document_units(tokens, special, words)
    z = capture.z[capture.layer_index(layer), head, start:stop]
    block = next(blocks(z[None], units, settings), None)
    if block is None:
        return pd.DataFrame(columns=["first", "second", "similarity", "weight"])
    chosen = block.selection
    value = block.values[0, chosen.pair]
    order = np.lexsort((chosen.pair, -value))
    pair = chosen.pair[order]
    table = units.table(tokens, text)
    first, second = (_ends(table, end[pair], text) for end in (block.pairs.first, block.pairs.second))
    frame = pd.DataFrame(
        {
            "first": first["token"],
            "second": second["token"],
            "first_text": first["text"],
            "second_text": second["text"],
            "similarity": value[order],
            "weight": chosen.weight[order],
            "distance": block.pairs.distance[pair],
            "same_sentence": block.pairs.same_sentence[pair],
            "other_sentence": block.pairs.other_sentence[pair],
            "same_token": block.pairs.same_label[pair],
            "first_context": first["context"],
            "second_context": second["context"],
        }
    )
    frame.attrs = {"pairs": len(block.pairs), "undefined": block.undefined}
    return frame


def _ends(table: Any, unit: Array, text: str) -> pd.DataFrame:
    """One end of every pair: its first token, its text and its context. table: of the units."""
    return pd.DataFrame(
        {
            "token": table.pos[unit],
            "text": [table.text[i] for i in unit],
            "context": [_context(text, table.start[i], table.end[i]) for i in unit],
        }
    )


def _context(text: str, start: int, end: int) -> str:
    if not text or start < 0:
        return ""
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    cut = ("…" if start > AROUND else "", "…" if end + AROUND < len(text) else "")
    return f"{cut[0]}{before}[{text[start:end]}]{after}{cut[1]}".replace("\n", " ")
