"""What "no order" looks like for one attribute: the same labels, exchanged so that only what is claimed is lost."""

from __future__ import annotations

import numpy as np

from .attributes import Attribute

Array = np.ndarray


def exchanged(values: Array, attribute: Attribute, doc: Array, token_id: Array, rng: np.random.Generator) -> Array:
    """Labels (token, …) exchanged as ``attribute.exchange`` says; unknown ones stay where they are.

    "token"     permuted over all tokens
    "type"      every kind of token gets the label of another kind of about the same frequency (of any other where the
                attribute is frequency itself), so a map that only keeps equal tokens together scores as well as before
    "shift"     each document's labels are moved round by a random number of tokens, so neighbours in the text still
                mostly share theirs
    """
    known = np.flatnonzero(attribute.known)
    result = values.copy()
    if attribute.exchange == "token":
        result[known] = values[rng.permutation(known)]
    elif attribute.exchange == "shift":
        for document in np.unique(doc[known]):
            own = known[doc[known] == document]
            result[own] = np.roll(values[own], rng.integers(len(own)), axis=0)
    else:
        result[known] = _between_types(values[known], token_id[known], attribute, rng)
    return result


def _between_types(values: Array, token_id: Array, attribute: Attribute, rng: np.random.Generator) -> Array:
    """Each kind of token takes the label of one token of another kind."""
    _, first, index, size = np.unique(token_id, return_index=True, return_inverse=True, return_counts=True)
    label = values[first]
    stratum = np.zeros(len(size), int) if attribute.name == "frequency" else np.log2(size).astype(int)
    moved = label.copy()
    for one in np.unique(stratum):
        inside = np.flatnonzero(stratum == one)
        moved[inside] = label[rng.permutation(inside)]
    return moved[index]
