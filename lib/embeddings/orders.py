"""What orders this map? How well a token's attribute can be told from its nearest neighbours in d_head dimensions.

Neighbours come from other documents (from other tokens where there is only one document), so that what is found holds
beyond the text it was found in. A picture may show a pattern that the full space does not hold, and the other way
round: this looks at the full space alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from joblib import Parallel, delayed

from lib.capture.value import Capture
from lib.corpora.tokens import Encoding
from lib.stats import bootstrap_mean

from .attributes import Attribute, image_attributes, norm_attribute, text_attributes
from .errors import EmbeddingError
from .joint import KEY, QUERY, head_map
from .neighbours import nearest
from .nulls import exchanged
from .sampling import Sample, sample_tokens
from .scale import Rule
from .spans import whole
from .tiles import wanted_heads

Array = np.ndarray
NEIGHBOURS, PERMUTATIONS, MOST = 5, 20, 2_000
FULL = 0.95  # of a null: above it nothing can be told
FAR = 5  # standard deviations of the permutations, where one document gives no interval
Progress = Callable[[int, int, str], None]
Scores = dict[str, tuple[Array, Array]]  # attribute -> per-document mean (document,), null (permutation,)


@dataclass(frozen=True)
class Orders:
    """What orders the maps of some heads.

    table  one row per (layer, head, attribute): score (1 perfect), low, high (95 % over documents, simultaneous over
           heads and attributes), null, null_low, null_high (of permutations), strength = (score − null)/(1 − null),
           query and key (the score of either side alone), ordered (the interval lies above the null's; of one document:
           the score lies 5 standard deviations above the null)
    note   tokens, documents and neighbours it rests on
    """

    table: pd.DataFrame
    note: str

    def ranked(self, attribute: str) -> pd.DataFrame:
        """Heads by how strongly the attribute orders them, the strongest first."""
        rows = self.table[self.table.attribute == attribute]
        return rows.sort_values("strength", ascending=False, kind="stable", na_position="last").reset_index(drop=True)

    def first(self) -> pd.DataFrame:
        """Of each head the attribute that orders it most strongly, where any orders it at all."""
        found = self.table[self.table.ordered].sort_values("strength", ascending=False, kind="stable")
        return found.drop_duplicates(["layer", "head"]).sort_values(["layer", "head"]).reset_index(drop=True)


def what_orders(
    capture: Capture,
    encodings: Sequence[Encoding] | None = None,
    heads: Iterable[tuple[int, int]] | None = None,
    scale: Rule | float = "variance",
    attributes: Iterable[str] | None = None,
    most: int = MOST,
    neighbours: int = NEIGHBOURS,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Orders:
    """Score every attribute in every head, queries and keys apart, and average the two.

    encodings: of the images captured; texts need none. heads: (true layer, head), all if None. attributes: names of
    those wanted. most: tokens looked at, sampled by document. jobs: as in ``tiles``. Special tokens are left out.
    ``progress(done, total, stage)`` may raise to cancel, between heads, and of a single one between its attributes.

    The score of a class is the share of neighbours in the token's own class; of a number (its ranks) or an angle,
    1 − squared error of the neighbours' mean ÷ variance. Every null exchanges labels as the attribute says and keeps
    the neighbours.

    Raises EmbeddingError where queries and keys are of different texts (cross-attention) or not kept, for no head,
    attributes that nothing is known of, and numbers of neighbours or permutations that cannot be.
    """
    if capture.stream == "cross":
        raise EmbeddingError(
            "queries and keys of the same tokens", f"stream {capture.stream!r}", "Choose another stream."
        )
    wanted = wanted_heads(capture, heads)
    neighbours, permutations = whole("neighbours", neighbours, 1), whole("permutations", permutations, 1)
    sample = sample_tokens(capture.doc_offsets, most, seed, keep=~capture.tokens.is_special)
    tokens = capture.tokens
    known = image_attributes(tokens, encodings) if encodings else text_attributes(tokens)
    known = {name: one.at(sample.rows) for name, one in known.items() if one.orders}
    asked = {*known, "norm"} if attributes is None else {attributes} if isinstance(attributes, str) else set(attributes)
    names = [name for name in (*known, "norm") if name in asked]
    if len(names) < len(asked) or not asked:
        raise EmbeddingError(
            f"attributes of {(*known, 'norm')}", f"{sorted(map(str, asked))}", "Ask for some of these."
        )
    doc = tokens.doc[sample.rows]

    def one(layer: int, head: int) -> tuple:
        joint = head_map(capture, layer, head, scale, rows=sample.rows)
        index = capture.layer_index(layer)
        sides = []
        for role, array in ((QUERY, capture.query), (KEY, capture.key)):
            lengths = norm_attribute(array[index, head], tokens).at(sample.rows)
            own = {name: lengths if name == "norm" else known[name] for name in names}
            sides.append((joint.of(role).astype(np.float32), own))
        return sides, doc, tokens.token_id[sample.rows], neighbours, permutations, seed

    def told(done: int, total: int) -> None:
        if progress:
            progress(done, total, "asking what orders each map")

    if len(wanted) == 1:  # nothing to share out
        found = [head_scores(*one(*wanted[0]), told)]
    else:
        found = []
        work = Parallel(n_jobs=jobs, return_as="generator", pre_dispatch="2*n_jobs")
        for scores in work(delayed(head_scores)(*one(*place)) for place in wanted):
            told(len(found), len(wanted))
            found.append(scores)
    return Orders(_table(wanted, names, found), _note(sample, doc, neighbours))


def head_scores(
    sides: Sequence[tuple[Array, Mapping[str, Attribute]]],
    doc: Array,
    token_id: Array,
    neighbours: int,
    permutations: int,
    seed: int,
    told: Callable[[int, int], None] = lambda done, total: None,
) -> list[Scores]:
    """The scores of one head, side by side: each side is its points (token, d_head) and attributes.

    told: called before each attribute of each side with how many are done, and of how many.
    Returns per side {attribute: (score per document, weight per document, null score per permutation)}.
    """
    found, total = [], sum(len(attributes) for _, attributes in sides)
    for points, attributes in sides:
        near = {"across": None, "within": None}
        scores = {}
        for name, attribute in attributes.items():
            told(sum(map(len, found)) + len(scores), total)
            where = "within" if attribute.exchange == "shift" else "across"
            if near[where] is None:
                near[where] = _neighbours(points, doc, where, neighbours)
            scores[name] = attribute_score(attribute, near[where], doc, token_id, permutations, seed)
        found.append(scores)
    return found


def attribute_score(
    attribute: Attribute, near: Array, doc: Array, token_id: Array, permutations: int, seed: int
) -> tuple[Array, Array, Array]:
    """Mean score and number of tokens per document (document,), and the scores of the null (permutation,).

    near: (token, k) neighbours, −1 where there are fewer.
    """
    documents = int(doc.max()) + 1
    values, known = _comparable(attribute), attribute.known
    usable = (near >= 0) & known[np.maximum(near, 0)]
    counted = known & usable.any(axis=1)
    if attribute.name == "identity":  # a token seen in one document only cannot be found in another
        spread = pd.Series(doc[known]).groupby(token_id[known]).nunique()
        single = doc.max() == doc.min()
        counted &= single | np.isin(token_id, spread.index[spread > 1])
    if counted.sum() < 2:
        nothing = np.full(documents, np.nan)
        return nothing, np.zeros(documents), np.full(permutations, np.nan)
    score = _scored(attribute.kind, values, near, usable, counted)
    weight = np.bincount(doc[counted], minlength=documents).astype(float)
    with np.errstate(invalid="ignore"):
        mean = np.bincount(doc[counted], weights=score, minlength=documents) / weight
    rng = np.random.default_rng(seed)
    null = [
        _scored(attribute.kind, exchanged(values, attribute, doc, token_id, rng), near, usable, counted).mean()
        for _ in range(permutations)
    ]
    return mean, weight, np.array(null)


def _neighbours(points: Array, doc: Array, where: str, k: int) -> Array:
    """(token, k) neighbours from other documents, or from the same one; −1 where there are fewer."""
    n = len(points)
    found = np.full((n, k), -1)
    if where == "across":
        several = doc.max() > doc.min()
        near = nearest(points, min(k, n - 1), apart=doc if several else None) if n > 1 else None
        if near is not None:
            found[:, : near.k] = np.where(np.isfinite(near.distance), near.index, -1)
        return found
    for document in np.unique(doc):
        own = np.flatnonzero(doc == document)
        if len(own) > 1:
            near = nearest(points[own], min(k, len(own) - 1))
            found[own, : near.k] = own[near.index]
    return found


def _comparable(attribute: Attribute) -> Array:
    """Classes as they are; numbers as ranks in 0–1; angles as points on the circle (token, 2)."""
    if attribute.kind == "class":
        return np.asarray(attribute.values)
    if attribute.kind == "circle":
        turn = 2 * np.pi * np.asarray(attribute.values, float)
        return np.stack([np.cos(turn), np.sin(turn)], axis=1)
    ranks = pd.Series(np.where(attribute.known, attribute.values, np.nan)).rank(pct=True)
    return ranks.fillna(0.5).to_numpy()[:, None]


def _scored(kind: str, values: Array, near: Array, usable: Array, counted: Array) -> Array:
    """The score of each counted token."""
    near, usable, own = near[counted], usable[counted], values[counted]
    shares = usable / usable.sum(axis=1, keepdims=True)
    if kind == "class":
        return ((values[near] == own[:, None]) * shares).sum(axis=1)
    variance = ((own - own.mean(axis=0)) ** 2).sum(axis=1).mean()
    if variance <= 0:
        return np.ones(len(own))
    told = (values[near] * shares[..., None]).sum(axis=1)
    return 1 - ((told - own) ** 2).sum(axis=1) / variance


def _table(heads: list[tuple[int, int]], names: list[str], found: list[list[Scores]]) -> pd.DataFrame:
    def gathered(side: int, part: int) -> Array:  # (head, attribute, …)
        return np.stack([[scores[side][name][part] for name in names] for scores in found])

    sides = [np.moveaxis(gathered(side, 0), 2, 0) for side in (0, 1)]  # (document, head, attribute)
    weights = np.moveaxis(gathered(0, 1), 2, 0)
    each = [np.asarray(bootstrap_mean(side, weights, draws=2).estimate) for side in sides]
    interval = bootstrap_mean((sides[0] + sides[1]) / 2, weights, simultaneous=True)
    null = (gathered(0, 2) + gathered(1, 2)) / 2  # (head, attribute, permutation)
    low, high = np.quantile(null, [0.025, 0.975], axis=2)
    middle = null.mean(axis=2)
    with np.errstate(invalid="ignore", divide="ignore"):
        strength = np.where(middle < FULL, (interval.estimate - middle) / (1 - middle), np.nan)
        beyond = interval.low > high
        if len(sides[0]) < 2:  # no interval over documents: far outside the permutations must do
            beyond = interval.estimate > middle + FAR * null.std(axis=2)
        ordered = beyond & (middle < FULL)
    columns = {"score": interval.estimate, "low": interval.low, "high": interval.high, "null": middle,
               "null_low": low, "null_high": high, "strength": strength, "query": each[0], "key": each[1],
               "ordered": ordered}  # fmt: skip
    layers, numbers = (np.repeat([place[part] for place in heads], len(names)) for part in (0, 1))
    places = {"layer": layers, "head": numbers, "attribute": names * len(heads)}
    return pd.DataFrame(places | {name: np.asarray(column).ravel() for name, column in columns.items()})


def _note(sample: Sample, doc: Array, neighbours: int) -> str:
    documents = len(np.unique(doc))
    where = "other documents" if documents > 1 else "the same document, other tokens"
    return (
        f"{sample.note} {len(sample):,} tokens of {documents} documents, {neighbours} neighbours from {where}.".strip()
    )
