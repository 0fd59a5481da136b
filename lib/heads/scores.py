"""The scores of a head, row by row, each with its chance level.

A score is a number per row of a pattern: a mass (how much of the row lies on certain keys), a distance, an entropy or
a maximum. Its chance level is the same number for a row that attends uniformly to the keys it may see; both come from
one function, so masks, padding, excluded tokens and the token itself count alike in both.

Rows in which no key counts (no comma can be seen) define neither score nor chance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lib.errors import HeadlightError
from lib.heads.scene import MASK_CELLS, Scene


class WrongPattern(HeadlightError):
    """A pattern whose axes do not fit the document."""


@dataclass(frozen=True)
class Score:
    """One score: its column name, what it is called on screen, what it measures, and the unit.

    unit: "mass" (share of a row, 0–1), "tokens", "steps", "nats", "share" (0–1) or "norm".
    """

    name: str
    label: str
    says: str
    unit: str = "mass"


_ROW = (
    Score("entropy", "entropy", "how widely a row is spread: its entropy", "nats"),
    Score(
        "entropy_share",
        "entropy ÷ most",
        "how widely a row is spread: 0 all on one key, 1 evenly over all it may see (entropy ÷ log of their number)",
        "share",
    ),
    Score("confidence", "confidence", "largest weight of the row: how sure the head is where to look", "share"),
)
TEXT_SCORES = (
    Score("previous_token", "previous token", "attention to the token just before"),
    Score("next_token", "next token", "attention to the token just after"),
    Score("self", "self", "attention to itself"),
    Score("first_token", "position 0", "attention to the first position, whatever stands there"),
    Score("cls", "[CLS]", "attention to [CLS], the token that begins a text"),
    Score("sep", "[SEP]", "attention to [SEP], the token that ends a text or separates two"),
    Score("bos", "BOS", "attention to tokens that begin a text"),
    Score("eos", "EOS", "attention to tokens that end a text"),
    Score("special", "special tokens", "attention to all special tokens together"),
    Score("period", "'.'", "attention to full stops"),
    Score("comma", "','", "attention to commas"),
    Score("semicolon", "';'", "attention to semicolons"),
    Score("duplicate_token", "same token", "attention to other positions that hold the same token"),
    Score("induction", "induction", "attention to the token after an earlier occurrence of the row's token"),
    Score("induction_before", "induction, before", "attention to the token before an earlier occurrence"),
    Score("same_sentence", "same sentence", "attention within the row's sentence, the token itself included"),
    Score("mean_lag", "mean |lag|", "mean distance between a token and those it looks at", "tokens"),
    *_ROW,
)
IMAGE_SCORES = (
    Score("self", "self", "attention to the patch itself"),
    Score("left", "left", "attention to the patch to the left"),
    Score("right", "right", "attention to the patch to the right"),
    Score("above", "above", "attention to the patch above"),
    Score("below", "below", "attention to the patch below"),
    Score("cls", "[CLS]", "attention to the class token, which stands for the whole image"),
    Score("registers", "registers", "attention to the register tokens, which hold no patch"),
    Score("special", "special tokens", "attention to class and register tokens together"),
    Score("same_row", "same row", "attention to other patches of the same row"),
    Score("same_column", "same column", "attention to other patches of the same column"),
    Score("same_hue", "same hue", "attention to other coloured patches within 30° of hue"),
    Score("same_brightness", "same brightness", "attention to other patches within a tenth of the brightness range"),
    Score("grid_distance", "grid distance", "mean distance to the patches attended to, rows plus columns", "steps"),
    *_ROW,
)


def scores_of(scene: Scene) -> tuple[Score, ...]:
    """The scores that a scene's tokens can have, in the order of the score axis."""
    return IMAGE_SCORES if scene.image else TEXT_SCORES


def chance_rows(scene: Scene) -> np.ndarray:
    """Chance level of every score of every row (score, query_pos): that of a row uniform over the keys it may see.

    NaN where the score is not defined, because no key of that row counts.
    """
    count = scene.allowed.sum(axis=1, keepdims=True)
    uniform = (scene.allowed / np.maximum(count, 1)).astype(np.float32)
    chance = _measured(uniform[None], scene)[:, 0]
    for place, score in enumerate(scores_of(scene)):
        if score.unit == "mass":
            chance[place, chance[place] == 0] = np.nan
    return chance


def row_scores(pattern: np.ndarray, scene: Scene, chance: np.ndarray | None = None) -> np.ndarray:
    """Every score of every row: (score, head, query_pos) float32, NaN where undefined.

    pattern: (head, query_pos, key_pos) after softmax. chance: of ``chance_rows``, to save computing it per layer.
    A row that holds NaN or nothing at all is undefined in every score. Without special tokens rows are renormalised
    over the keys that remain. Distances and entropies are those of the row divided by its sum, which differs from 1
    only where a model has attention sinks of its own.

    Raises WrongPattern where the axes differ from the scene's.

    **Source** Clark et al., "What Does BERT Look At?", 2019 (entropy, delimiters, offsets); Olsson et al., 2022,
    arXiv 2209.11895 (induction).
    """
    expected = (len(scene.queries), len(scene.keys))
    if pattern.ndim != 3 or pattern.shape[1:] != expected:
        raise WrongPattern(
            f"a pattern (head, query_pos, key_pos) of (…, {expected[0]}, {expected[1]})",
            f"{pattern.shape}",
            "Score a pattern with the token table of its own document.",
        )
    chance = chance_rows(scene) if chance is None else chance
    values = _measured(np.asarray(pattern, dtype=np.float32), scene)
    np.copyto(values, np.nan, where=np.isnan(chance)[:, None])
    return values


def _measured(pattern: np.ndarray, scene: Scene) -> np.ndarray:
    """The scores of all rows, in blocks of rows so that masks stay small: (score, head, query_pos)."""
    names = [score.name for score in scores_of(scene)]
    values = np.full((len(names), *pattern.shape[:2]), np.nan, dtype=np.float32)
    queries, keys = pattern.shape[1:]
    step = queries if queries * keys <= MASK_CELLS else max(1, MASK_CELLS // keys)
    for start in range(0, queries, step):
        rows = slice(start, min(start + step, queries))
        for name, score in _block(pattern[:, rows], scene, rows).items():
            values[names.index(name), :, rows] = score
    return values


def _block(part: np.ndarray, scene: Scene, rows: slice) -> dict[str, np.ndarray]:
    """Scores of a block of rows: name -> (head, row)."""
    if not scene.special:
        part = part * scene.allowed[rows]
    found = _masses(part, scene, rows)
    total = found.pop("total")
    signal = np.isfinite(total) & (total > 0)
    safe = np.where(signal, total, 1)
    distances = {name: found.pop(name) for name in ("mean_lag", "grid_distance", "patches") if name in found}
    found["confidence"] = part.max(axis=2)
    if not scene.special:
        found = {name: score / safe for name, score in found.items()}
    if "mean_lag" in distances:
        found["mean_lag"] = distances["mean_lag"] / safe
    if "grid_distance" in distances:
        patches = distances["patches"]
        with np.errstate(invalid="ignore", divide="ignore"):
            found["grid_distance"] = np.where(patches > 0, distances["grid_distance"] / patches, np.nan)
    choices = scene.allowed[rows].sum(axis=1)
    found["entropy"] = _entropy(part, safe)
    with np.errstate(invalid="ignore", divide="ignore"):
        found["entropy_share"] = np.where(choices > 1, found["entropy"] / np.log(choices), np.nan)
    return found if signal.all() else {name: np.where(signal, score, np.nan) for name, score in found.items()}


def _masses(part: np.ndarray, scene: Scene, rows: slice) -> dict[str, np.ndarray]:
    """What is linear in the pattern: single keys, sets of keys, masks that differ from row to row, and the total."""
    found = {}
    here = np.arange(part.shape[1])
    for name, target in scene.targets.items():
        key = target[rows]
        found[name] = np.where(key >= 0, part[:, here, key], 0)
    sets = np.stack([*scene.columns.values(), np.ones(part.shape[2])], axis=1).astype(np.float32)  # (key, set)
    found |= zip((*scene.columns, "total"), np.moveaxis(part @ sets, 2, 0), strict=True)
    products = np.matmul(part.transpose(1, 0, 2), scene.masks(rows).transpose(0, 2, 1))  # (row, head, mask)
    found |= zip(scene.mask_names, products.transpose(2, 1, 0), strict=True)
    return found


def _entropy(part: np.ndarray, total: np.ndarray) -> np.ndarray:
    """Entropy in nats of each row divided by its sum: (head, row)."""
    surprise = np.empty(part.shape[:2], dtype=np.float32)
    logarithm = np.empty(part.shape[1:], dtype=np.float32)
    for head, weights in enumerate(part):  # one head at a time stays in the processor's cache
        np.log(np.maximum(weights, np.finfo(np.float32).tiny, out=logarithm), out=logarithm)
        np.einsum("qk,qk->q", weights, logarithm, out=surprise[head])
    return np.maximum(np.log(total) - surprise / total, 0)
