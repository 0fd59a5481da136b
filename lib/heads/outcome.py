"""What comes of switching heads off: losses, and predictions, as plain arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Head = tuple[int, int]  # (layer, head)
Heads = frozenset[Head]
Progress = Callable[[int, int, str], None]

MEASURES = {  # by what the checkpoint can predict
    "causal-lm": "next-token cross-entropy (nats)",
    "masked-lm": "masked-token cross-entropy on a fixed 15 % of the tokens (nats)",
    "seq2seq-lm": "next-token cross-entropy of the target (nats)",
    None: "cosine distance of the pooled output",
}


@dataclass(frozen=True)
class Outcome:
    """What became of the loss.

    loss     (set, document) with each set of heads off; clean (document,) with none; NaN where nothing is predicted
    weight   (document,) predicted tokens; 1 where the loss is a distance
    moved    (set,) largest change of any number in the model's output, relative to the largest number
    still    (set,) whether that is no more than rounding
    measure  what the loss is
    """

    loss: np.ndarray
    clean: np.ndarray
    weight: np.ndarray
    moved: np.ndarray
    still: np.ndarray
    measure: str


@dataclass(frozen=True)
class Readings:
    """What a model predicts in one document, at the positions where it predicts.

    places, targets  (place,) positions, and the true token's id there
    best, chance     (place, rank) ids of the most probable tokens and their probabilities
    truth            (place,) probability of the true token
    """

    places: np.ndarray
    targets: np.ndarray
    best: np.ndarray
    chance: np.ndarray
    truth: np.ndarray
