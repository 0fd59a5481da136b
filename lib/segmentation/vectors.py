"""One vector per sentence: mean z of chosen layers, and mean last hidden state; each sentence is read alone.

Read inside its document a sentence's vector is mostly its neighbourhood, and change points blur.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from lib.corpora.document import Span

from .passes import Progress, Shown, counted, show_layers
from .windows import read_tokens

LONGEST = 126  # tokens of a sentence that are read
SLACK = 0.3  # padding of a batch of sentences
CHUNK = 2048  # sentences whose encodings are held at once


def sentence_vectors(
    text: str,
    sentences: Sequence[Span],
    engine: Any,
    layers: Sequence[int] | None = None,
    hidden: bool = True,
    progress: Progress | None = None,
) -> dict[str, np.ndarray]:
    """ "z": float32 (sentence, layer · d), mean over a sentence's tokens; "hidden": (sentence, d_model).

    layers: of z; the last half by default. hidden: also the mean last hidden state, left out where a model tells none.
    Special tokens are read but not averaged, except in the hidden state of a sentence without other tokens. Tokens of
    the whole text are made once and dealt to the sentences; a sentence without a token has a zero vector.
    """
    tokens = read_tokens(text, engine)
    chosen = tuple(range(engine.n_layers // 2, engine.n_layers)) if layers is None else tuple(layers)
    first = np.searchsorted(tokens.end, [start for start, _ in sentences], side="right")
    last = np.searchsorted(tokens.start, [end for _, end in sentences], side="left")
    prefix, suffix = len(tokens.prefix), len(tokens.suffix)
    room = LONGEST if engine.max_length is None else min(LONGEST, engine.max_length - prefix - suffix)
    spans = [(int(a), int(min(b, a + room))) for a, b in zip(first, last, strict=True)]
    filled = [i for i, (a, b) in enumerate(spans) if b > a]
    sums: dict[int, np.ndarray] = {}
    states: dict[int, np.ndarray] = {}

    for begin in range(0, len(filled), CHUNK):
        part = filled[begin : begin + CHUNK]
        sizes = np.array([spans[i][1] - spans[i][0] for i in part])

        def see(
            batch: list[int],
            shown: Shown,
            part: list[int] = part,
            sizes: np.ndarray = sizes,
        ) -> None:
            if shown.layer not in chosen:
                return
            z = shown.z
            place = np.arange(z.shape[2])
            inside = (place >= prefix) & (place < prefix + sizes[batch][:, None])  # (sentence, pos)
            means = np.einsum("bn,bhnd->bhd", inside / sizes[batch][:, None], z).reshape(len(batch), -1)
            kept = sums.setdefault(shown.layer, np.zeros((len(sentences), means.shape[1]), dtype=np.float32))
            kept[[part[i] for i in batch]] = means

        encodings = tokens.encodings([spans[i] for i in part], engine)
        for i, state in zip(
            part,
            show_layers(engine, encodings, see, counted(progress, begin, len(filled)), slack=SLACK, hidden=hidden),
            strict=True,
        ):
            if state is not None:
                states[i] = state.mean(axis=0)
    return _collected(sums, states, chosen, len(sentences))


def _collected(
    sums: dict[int, np.ndarray], states: dict[int, np.ndarray], chosen: Sequence[int], sentences: int
) -> dict[str, np.ndarray]:
    kept = [sums[layer] for layer in chosen if layer in sums]
    vectors = {"z": np.concatenate(kept, axis=1) if kept else np.zeros((sentences, 1), dtype=np.float32)}
    if states:
        width = len(next(iter(states.values())))
        vectors["hidden"] = np.zeros((sentences, width), dtype=np.float32)
        for i, state in states.items():
            vectors["hidden"][i] = state
    return vectors
