"""Captures with chosen vectors and tokens: what a planted structure needs."""

import numpy as np
import pytest

from lib.capture.value import Capture
from lib.corpora.table import TokenTable


@pytest.fixture(scope="session")
def made():
    """A function that makes a Capture of z (layer, head, token, d_head) and of columns of its token table."""

    def make(z, sizes=None, *, ids=None, text=None, sentence=None, special=None, word=None, places=None, segment=None,
             start=None, end=None, **fields):  # fmt: skip
        n = z.shape[2]
        sizes = [n] if sizes is None else list(sizes)
        pos = np.concatenate([np.arange(size) for size in sizes])
        ids = np.arange(n) if ids is None else np.asarray(ids)
        places = np.full((n, 2), -1) if places is None else np.asarray(places)
        table = TokenTable(
            doc=np.repeat(np.arange(len(sizes)), sizes),
            pos=pos,
            text=[f"t{i}" for i in ids] if text is None else text,
            start=pos * 2 if start is None else start,
            end=pos * 2 + 1 if end is None else end,
            word=pos if word is None else word,
            sentence=np.full(n, -1) if sentence is None else sentence,
            is_special=np.zeros(n, dtype=bool) if special is None else special,
            token_id=ids,
            part_of_speech=[""] * n,
            segment=np.zeros(n) if segment is None else segment,
            row=places[:, 0],
            col=places[:, 1],
        )
        layers = fields.pop("layers", range(z.shape[0]))
        return Capture(
            tokens=table,
            doc_offsets=np.concatenate([[0], np.cumsum(sizes)]),
            layers=tuple(layers),
            z=z.astype(np.float32),
            **{"model": "made", **fields},
        )

    return make


@pytest.fixture(scope="session")
def random_corpus(made):
    """40 documents of 30 to 80 tokens, sentences of 12, tokens by Zipf, 2 × 12 heads of random vectors."""
    rng = np.random.default_rng(20)
    sizes = rng.integers(30, 81, size=40)
    n = sizes.sum()
    ids = rng.zipf(1.4, size=n) % 60
    sentence = np.concatenate([np.arange(size) // 12 for size in sizes])
    text = ["." if i == 1 else f"t{i}" for i in ids]
    z = rng.normal(size=(2, 12, n, 16))
    return made(z, sizes, ids=ids, sentence=sentence, text=text)


@pytest.fixture(scope="session")
def encyclopedia():
    """Twelve articles of the built-in encyclopedia, of different subjects."""
    from lib.corpora import builtin

    return builtin("encyclopedia")[::6]


@pytest.fixture(scope="session")
def minilm_capture(minilm, encyclopedia):
    """z of the default model over those articles."""
    from lib.capture import capture

    return capture(minilm, encyclopedia, keep=("z",))


@pytest.fixture(scope="session")
def minilm_measured(minilm_capture):
    """Its statistics with the default settings."""
    from lib.similarity import measure

    return measure(minilm_capture)
