"""Captures with chosen queries, keys and tokens; a small real capture; what planted structure needs."""

import numpy as np
import pytest

from lib.capture.value import Capture
from lib.corpora.table import TokenTable


def bounds(sizes):
    return np.concatenate([[0], np.cumsum(sizes)])


@pytest.fixture(scope="session")
def table():
    """A function that makes a token table of documents of the given sizes."""

    def make(sizes, *, ids=None, text=None, sentence=None, special=None, tags=None, places=None):
        n = int(np.sum(sizes))
        pos = np.concatenate([np.arange(size) for size in sizes])
        ids = np.arange(n) if ids is None else np.asarray(ids)
        places = np.full((n, 2), -1) if places is None else np.asarray(places)
        return TokenTable(
            doc=np.repeat(np.arange(len(sizes)), sizes),
            pos=pos,
            text=[f"t{i}" for i in ids] if text is None else text,
            start=pos * 2,
            end=pos * 2 + 1,
            word=pos,
            sentence=np.full(n, -1) if sentence is None else sentence,
            is_special=np.zeros(n, dtype=bool) if special is None else special,
            token_id=ids,
            part_of_speech=[""] * n if tags is None else tags,
            segment=np.zeros(n),
            row=places[:, 0],
            col=places[:, 1],
        )

    return make


@pytest.fixture(scope="session")
def made(table):
    """A function that makes a Capture of queries and keys (layer, head, token, d_head)."""

    def make(query, key, sizes=None, *, value=None, z=None, causal=False, layers=None, **columns):
        sizes = [query.shape[2]] if sizes is None else list(sizes)
        given = {"query": query, "key": key, "value": value, "z": z}
        return Capture(
            tokens=table(sizes, **columns),
            doc_offsets=bounds(sizes),
            layers=tuple(range(query.shape[0])) if layers is None else layers,
            causal=causal,
            model="made",
            hash=f"made-{query.sum():.6f}-{key.sum():.6f}",
            **{name: array.astype(np.float32) for name, array in given.items() if array is not None},
        )

    return make


@pytest.fixture(scope="session")
def articles(minilm):
    """Six articles of the built-in encyclopedia, 40 tokens of each."""
    from lib.corpora import builtin, encode

    return [encode(document, minilm, 40) for document in builtin("encyclopedia")[::12][:6]]


@pytest.fixture(scope="session")
def minilm_capture(minilm, articles):
    """All vectors of two layers of the default model over those articles."""
    from lib.capture import capture

    return capture(minilm, articles, layers=[1, 4])
