"""What switching heads off does to the loss and to the predictions: the causal check behind every picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib import stats
from lib.capture.batching import encoded
from lib.capture.check import trusted
from lib.corpora import Document, Encoding
from lib.corpora.pieces import bare, shown, vocabulary_kind
from lib.errors import HeadlightError
from lib.heads.ablation import Switchboard, readings
from lib.heads.outcome import Head, Outcome, Progress, Readings


class NothingMoved(HeadlightError):
    """Heads were switched off and the model's output did not change."""


def ablate(
    engine: Any,
    documents: Sequence[Document | Encoding],
    heads: Sequence[Head],
    mode: str = "zero",
    stream: str | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Switch a set of heads off together and measure the loss again.

    heads: (layer, head) pairs, counted from 0. mode: "zero" puts zero in the place of a head's z, "mean" its mean over
    all tokens of the documents. stream: None for the only one, or the encoder's.

    One row: heads, mode, measure, loss with every head on, loss_off, change = loss_off − loss with its 95 % interval
    change_low, change_high (bootstrap over documents, weighted by predicted tokens), moved (largest change of any
    number in the output, relative to the largest), documents, predictions. The loss is the next token's cross-entropy
    for causal models, the masked tokens' for masked ones, the target's for encoder–decoders with a head; models that
    predict nothing have the cosine distance of their pooled output from the undisturbed one: the class token of an
    image, the mean over tokens of a text.

    Raises NothingMoved where the output stays where it was, and HeadlightError for heads the model lacks.
    """
    chosen = frozenset((int(layer), int(head)) for layer, head in heads)
    outcome = Switchboard.of(engine, encoded(engine, documents), mode, stream).losses([chosen], progress)
    if outcome.still[0]:
        raise NothingMoved(
            "an output that moves when heads are switched off",
            f"a largest relative change of {outcome.moved[0]:.1e} without {names(chosen)}, which is rounding",
            "These heads write nothing here (their output is already zero, or already its mean), or something "
            "between them and the output ignores them.",
        )
    row = {"heads": names(chosen), "mode": mode} | {name: column[0] for name, column in changes(outcome).items()}
    return pd.DataFrame([row])


def sweep(
    engine: Any,
    documents: Sequence[Document | Encoding],
    mode: str = "zero",
    stream: str | None = None,
    heads: Sequence[Head] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Switch every head off alone: one row per (layer, head), the columns of ``ablate``.

    heads: only these. Intervals are simultaneous over the heads. A head that moves nothing has ``moves`` false; where
    none moves anything, NothingMoved is raised.
    """
    board = Switchboard.of(engine, encoded(engine, documents), mode, stream)
    wanted = all_heads(engine, board.stream) if heads is None else [(int(layer), int(head)) for layer, head in heads]
    outcome = board.losses([frozenset([head]) for head in wanted], progress)
    if outcome.still.all():
        raise NothingMoved("an output that moves when a head is switched off", "none that does", "Check the model.")
    layers, numbers = zip(*wanted, strict=True)
    return pd.DataFrame({"layer": layers, "head": numbers, "mode": mode} | changes(outcome))


def changes(outcome: Outcome) -> dict[str, Any]:
    """Columns of an outcome, one entry per set of heads; intervals simultaneous over the sets."""
    difference = (outcome.loss - outcome.clean).T  # (document, set)
    weights = np.broadcast_to(outcome.weight[:, None], difference.shape)
    interval = stats.bootstrap_mean(difference, weights, simultaneous=True)
    clean = float(stats.weighted_mean(outcome.clean, outcome.weight))
    return {
        "measure": [outcome.measure] * len(outcome.loss),
        "loss": np.full(len(outcome.loss), clean),
        "loss_off": clean + interval.estimate,
        "change": interval.estimate,
        "change_low": interval.low,
        "change_high": interval.high,
        "moved": outcome.moved,
        "moves": ~outcome.still,
        "documents": np.full(len(outcome.loss), len(outcome.clean)),
        "predictions": np.full(len(outcome.loss), int(outcome.weight.sum())),
    }


def predictions(
    engine: Any,
    document: Document | Encoding,
    heads: Sequence[Head],
    mode: str = "zero",
    stream: str | None = None,
    top: int = 3,
) -> pd.DataFrame:
    """A model's predictions in one text, side by side: every head on, and these off.

    One row per predicted position: pos, token (the one at the position), truth (the one predicted), p_on and p_off
    (probability of the truth), on and off (the ``top`` most probable tokens with their probabilities), divergence
    (Kullback–Leibler, nats). Models that predict nothing have one row per position: pos, token, distance (cosine) of
    the position's output from the undisturbed one.
    """
    board = Switchboard.of(engine, encoded(engine, [document]), mode, stream)
    chosen = frozenset((int(layer), int(head)) for layer, head in heads)
    on, off, difference = readings(board, chosen, top)
    encoding = board.encodings[0]
    table = encoding.table if encoding.target_table is None else encoding.target_table
    if not len(on.places) and engine.head is None:
        return pd.DataFrame(
            {"pos": table.pos[: len(difference)], "token": table.text[: len(difference)], "distance": difference}
        )
    return pd.DataFrame(
        {
            "pos": on.places,
            "token": [table.text[place] for place in on.places],
            "truth": _texts(engine, on.targets),
            "p_on": on.truth,
            "p_off": off.truth,
            "on": _best(engine, on),
            "off": _best(engine, off),
            "divergence": difference,
        }
    )


def all_heads(engine: Any, stream: str | None = None) -> list[Head]:
    """Every (layer, head) of a stream, layer by layer."""
    layout = trusted(engine)
    stream = layout.stream(stream)
    places = sorted((place.layer, place.heads) for place in layout.places if place.stream == stream)
    return [(layer, head) for layer, heads in places for head in range(heads)]


def names(heads: Sequence[Head] | frozenset[Head]) -> str:
    """Heads as they are written on screen: "L0 H2, L1 H8"."""
    return ", ".join(f"L{layer} H{head}" for layer, head in sorted(heads))


def _texts(engine: Any, ids: np.ndarray) -> list[str]:
    """Tokens as they are called on screen; their numbers where there is no tokenizer."""
    if engine.tokenizer is None:
        return [str(number) for number in ids]
    kind = vocabulary_kind(engine.tokenizer)
    return [shown(bare(entry, kind)) for entry in engine.tokenizer.convert_ids_to_tokens(ids.tolist())]


def _best(engine: Any, reading: Readings) -> list[tuple[tuple[str, float], ...]]:
    """The most probable tokens of each place with their probabilities."""
    flat = _texts(engine, reading.best.ravel())
    ranks = reading.best.shape[1]
    rows = [flat[i : i + ranks] for i in range(0, len(flat), ranks)]
    return [
        tuple(zip(texts, chances.tolist(), strict=True)) for texts, chances in zip(rows, reading.chance, strict=True)
    ]
