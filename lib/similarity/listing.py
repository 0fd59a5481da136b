"""The similar pairs of one head in one text: as links between tokens, and as a list with its context."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from .errors import SimilarityError
from .matrix import Kind
from .pairs import Settings, blocks
from .units import units_of

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

    text: the document's, for the context. Columns first, second (position of the first token in the document),
    first_text, second_text, similarity, weight (below 1 where pairs tie for the last places), distance,
    same_sentence, same_token, first_context, second_context ("" without a text). ``attrs["pairs"]`` counts all pairs,
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
    labels = units_of(capture.tokens.at(np.arange(start, stop)), [0, stop - start], special, words)
    units = labels.units[0]
    z = capture.z[capture.layer_index(layer), head, start:stop]
    block = next(blocks(z[None], units, settings), None)
    if block is None:
        return pd.DataFrame(columns=["first", "second", "similarity", "weight"])
    chosen = block.selection
    value = block.values[0, chosen.pair]
    order = np.lexsort((chosen.pair, -value))
    pair = chosen.pair[order]
    columns: dict[str, Any] = {}
    for name, unit in (("first", block.pairs.first[pair]), ("second", block.pairs.second[pair])):
        begin = units.kept[units.starts[unit]]
        end = units.kept[units.starts[unit] + units.sizes[unit] - 1]
        columns[name] = begin
        columns[f"{name}_text"] = [
            "".join(capture.tokens.text[start + token] for token in range(a, b + 1))
            for a, b in zip(begin, end, strict=True)
        ]
        columns[f"{name}_context"] = [
            _context(text, capture.tokens.start[start + a], capture.tokens.end[start + b])
            for a, b in zip(begin, end, strict=True)
        ]
    frame = pd.DataFrame(
        {
            "first": columns["first"],
            "second": columns["second"],
            "first_text": columns["first_text"],
            "second_text": columns["second_text"],
            "similarity": value[order],
            "weight": chosen.weight[order],
            "distance": block.pairs.distance[pair],
            "same_sentence": block.pairs.same_sentence[pair],
            "same_token": block.pairs.same_label[pair],
            "first_context": columns["first_context"],
            "second_context": columns["second_context"],
        }
    )
    frame.attrs = {"pairs": len(block.pairs), "undefined": block.undefined}
    return frame


def _context(text: str, start: int, end: int) -> str:
    if not text or start < 0:
        return ""
    before, after = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    cut = ("…" if start > AROUND else "", "…" if end + AROUND < len(text) else "")
    return f"{cut[0]}{before}[{text[start:end]}]{after}{cut[1]}".replace("\n", " ")
