"""Anchors: the tokens at which a head's similar pairs end more often than they occur, and whether that is stable.

An anchor may be nothing but a token with a long vector, which the scalar product favours; the same token's lift
under the cosine tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lib.stats import bootstrap_mean
from lib.threads import one_thread

from .cooccurrence import head_links, label_counts
from .errors import SimilarityError
from .statistics import Measured, Weights, head_columns, ratio

Array = np.ndarray
MINIMUM = 5  # occurrences, and
SPREAD = 3  # documents, below which a token is no candidate: it would be an anchor of one text
LIFT = 3.0  # from which an anchor counts as one


@dataclass(frozen=True, eq=False)
class Candidates:
    """Tokens that can be anchors, with their shares per document.

    labels: (candidate,); ends: share of the endpoints of selected pairs (document, head, candidate), heads of all
    layers in a row; corpus: share of the tokens (document, candidate); weight: of a document (document,).
    """

    labels: Array
    ends: Array
    corpus: Array
    weight: Array

    def halves(self) -> tuple[Array, Array] | None:
        """The even- and the odd-numbered of the documents that have pairs; None where there are fewer than two."""
        there = np.flatnonzero(self.weight > 0)
        return (there[::2], there[1::2]) if len(there) > 1 else None


def candidates(
    measured: Measured, weights: Weights = "documents", minimum: int = MINIMUM, spread: int = SPREAD
) -> Candidates:
    """Tokens that occur ``minimum`` times or more, in ``spread`` documents or more (or in all, if there are fewer).

    Raises SimilarityError where no token does.
    """
    present = label_counts(measured.documents, len(measured.names))  # (label, document)
    spread = min(spread, len(measured.documents))
    labels = np.flatnonzero((present.sum(axis=1) >= minimum) & ((present > 0).sum(axis=1) >= spread))
    if not len(labels):
        where = f"{spread} documents" if spread > 1 else "one document"
        raise SimilarityError(
            f"a {'word' if measured.settings.words else 'token'} that occurs {minimum} times, in {where}",
            f"none of {len(measured.names)}",
            "Add text." if measured.names else "Images have no anchors. Choose text.",
        )
    column = np.full(len(measured.names), -1)
    column[labels] = np.arange(len(labels))
    n_heads = measured.shape[0] * measured.shape[1]
    ends = np.zeros((len(measured.documents), n_heads, len(labels)), dtype=np.float32)
    for index, document in enumerate(measured.documents):
        place = column[document.labels]
        total = np.maximum(2 * document.selected, 1)
        ends[index][:, place[place >= 0]] = document.ends[:, place >= 0] / total[:, None]
    units = np.array([document.units for document in measured.documents], dtype=np.float64)
    corpus = (present[labels] / np.maximum(units, 1)).T
    has_pairs = measured.selected.reshape(len(units), -1).max(axis=1) > 0
    return Candidates(labels, ends, corpus, measured.weights(weights) * has_pairs)


@one_thread()
def anchors(
    measured: Measured,
    cosine: Measured | None = None,
    weights: Weights = "documents",
    draws: int = 200,
    seed: int = 0,
) -> pd.DataFrame:
    """The anchor of every head, how stable it is, and whether it is only a long vector; one row per (layer, head).

    The anchor is the candidate whose share of the selected pairs' endpoints exceeds its share of the tokens most.
    cosine: the same capture measured with kind="cosine", for the norm check. draws, seed: bootstrap over documents.

    token, share, corpus_share, excess, lift    the anchor and share ÷ corpus_share
    stability     share of bootstrap draws over documents in which the same token is the anchor
    first_half, second_half, same_in_halves     the anchor among the even- and the odd-numbered documents
                  (None, and stability NaN, where fewer than two documents have pairs)
    length_ratio  mean ‖z‖ of the anchor ÷ mean ‖z‖ of all tokens, in this head
    lift_cosine, only_long    lift of the token when lengths do not count; True where the lift is above ``LIFT`` only
                  with lengths (NaN and False without ``cosine``)

    **Source**: Halevi et al., arXiv 2512.21956 (anchors); rule, stability and norm check are ours.
    """
    found = candidates(measured, weights)
    excess = _excess(found.ends, found.corpus, found.weight)  # (head, candidate)
    best = excess.argmax(axis=1)
    heads = np.arange(len(best))
    share, corpus = _mean(found.ends, found.weight)[heads, best], _mean(found.corpus, found.weight)[best]
    names = np.array(measured.names, dtype=object)[found.labels]
    lift = share / corpus
    lift_cosine = np.full(len(best), np.nan)
    if cosine is not None:
        other = candidates(cosine, weights)
        lift_cosine = _mean(other.ends, other.weight)[heads, best] / _mean(other.corpus, other.weight)[best]
    return pd.DataFrame(
        {
            **head_columns(measured.layers, measured.shape[1]),
            **_shares(names[best], share, corpus),
            **_stability(found, names, best, draws, seed),
            "length_ratio": _length_ratio(measured, found.labels[best]),
            "lift_cosine": lift_cosine,
            "only_long": (lift > LIFT) & (lift_cosine <= LIFT),
        }
    )


def _stability(found: Candidates, names: Array, best: Array, draws: int, seed: int) -> dict[str, Array]:
    """Columns stability, first_half, second_half, same_in_halves; undefined without two documents."""
    chosen = found.halves()
    if chosen is None:
        undefined = dict.fromkeys(("first_half", "second_half", "same_in_halves"), np.full(len(best), None))
        return {"stability": np.full(len(best), np.nan), **undefined}
    halves = [_excess(found.ends[k], found.corpus[k], found.weight[k]).argmax(axis=1) for k in chosen]
    return {
        "stability": (_draws(found, draws, seed) == best).mean(axis=0),
        "first_half": names[halves[0]],
        "second_half": names[halves[1]],
        "same_in_halves": halves[0] == halves[1],
    }


def anchor_tokens(
    measured: Measured, layer: int, head: int, weights: Weights = "documents", level: float = 0.95, seed: int = 0
) -> pd.DataFrame:
    """Candidate anchors of one head, by excess: token, share, corpus_share, excess, lift, lift_low, lift_high.

    The intervals, bootstrapped over documents, are simultaneous over the candidates. Raises SimilarityError for a
    head that was not measured.
    """
    row = measured.row(layer, head)
    found = candidates(measured, weights)
    lift = ratio(found.ends[:, row].astype(np.float64), found.corpus, found.weight, level, seed, simultaneous=True)
    share = bootstrap_mean(found.ends[:, row], found.weight, level, draws=2).estimate
    corpus = _mean(found.corpus, found.weight)
    frame = pd.DataFrame(
        {
            **_shares([measured.names[label] for label in found.labels], share, corpus),
            "lift_low": lift.low,
            "lift_high": lift.high,
        }
    )
    return frame.sort_values("excess", ascending=False, kind="stable", ignore_index=True)


def _shares(tokens: Sequence[str], share: Array, corpus: Array) -> dict[str, Sequence[str] | Array]:
    """Columns token, share, corpus_share, excess, lift."""
    return {
        "token": tokens, "share": share, "corpus_share": corpus, "excess": share - corpus, "lift": share / corpus,
    }  # fmt: skip


def neighbourhood(measured: Measured, layer: int, head: int, token: str) -> pd.DataFrame:
    """Which tokens a head makes alike with one token: neighbour, selected, expected, lift, by selected pairs.

    expected: pairs of the two tokens, times the share of all pairs that is selected; lift = selected ÷ expected.
    Raises SimilarityError for a token that does not occur.
    """
    if token not in measured.names:
        raise SimilarityError("a token of the corpus", repr(token), "Choose one from the table of tokens.")
    names, group = np.unique(np.array(measured.names, dtype=object), return_inverse=True)  # ids shown alike are one
    own = int(np.flatnonzero(names == token)[0])
    present = np.zeros((len(names), len(measured.documents)))
    np.add.at(present, group, label_counts(measured.documents, len(measured.names)))
    rows = head_links(measured, layer, head)
    first, second = group[rows["first"]], group[rows["second"]]
    mine = (first == own) | (second == own)
    selected = np.bincount(np.where(first == own, second, first)[mine], rows["weight"][mine], minlength=len(names))
    there = present[own] * present
    there[own] = present[own] * (present[own] - 1) / 2
    rate = [d.selected[measured.row(layer, head)] / max(d.pairs, 1) for d in measured.documents]
    expected = there @ np.array(rate)
    found = np.flatnonzero(selected > 0)
    frame = pd.DataFrame(
        {
            "neighbour": names[found],
            "selected": selected[found],
            "expected": expected[found],
            "lift": selected[found] / expected[found],
        }
    )
    return frame.sort_values(["selected", "lift"], ascending=False, kind="stable", ignore_index=True)


@one_thread()
def anchored_heads(measured: Measured, draws: int = 200, seed: int = 0) -> tuple[float, float, float]:
    """Share of heads with one anchor of lift > ``LIFT`` in both halves of the corpus, with a 95 % interval.

    The interval is ± 1.96 standard deviations of the share when the documents of each half are resampled, within
    [0, 1]: resampling can only unsettle an anchor, so percentiles would sit below the share itself. All three are NaN
    where fewer than two documents have pairs: one document has no halves. The interval is NaN where a half is a single
    document, which resampling does not change.
    """
    found = candidates(measured)
    rng = np.random.default_rng(seed)
    documents, halves = len(found.weight), found.halves()
    if halves is None:
        return (float("nan"),) * 3
    share = _anchored(found, [_counts(half, documents) for half in halves])
    if min(map(len, halves)) < 2:
        return share, float("nan"), float("nan")
    resampled = [
        _anchored(found, [_counts(rng.choice(half, len(half)), documents) for half in halves]) for _ in range(draws)
    ]
    half_width = 1.96 * float(np.std(resampled))
    return share, max(0.0, share - half_width), min(1.0, share + half_width)


def _counts(chosen: Array, documents: int) -> Array:
    return np.bincount(chosen, minlength=documents)


def _anchored(found: Candidates, counts: list[Array]) -> float:
    halves = [_excess(found.ends, found.corpus, found.weight * count).argmax(axis=1) for count in counts]
    whole = found.weight * (counts[0] + counts[1])
    heads = np.arange(len(halves[0]))
    with np.errstate(invalid="ignore"):  # a draw may miss every document of a token
        lift = _mean(found.ends, whole)[heads, halves[0]] / _mean(found.corpus, whole)[halves[0]]
    return float(((halves[0] == halves[1]) & (lift > LIFT)).mean())


def _mean(shares: Array, weight: Array) -> Array:
    """Weighted mean over the first axis, documents."""
    total = weight.sum()
    flat = weight.astype(np.float32) @ shares.reshape(len(shares), -1).astype(np.float32, copy=False)
    return (flat / total if total > 0 else flat * np.nan).reshape(shares.shape[1:])


def _excess(ends: Array, corpus: Array, weight: Array) -> Array:
    return np.nan_to_num(_mean(ends, weight) - _mean(corpus, weight))


def _draws(found: Candidates, draws: int, seed: int) -> Array:
    """Anchor of every head in each bootstrap draw over documents: index of the candidate (draw, head)."""
    rng = np.random.default_rng(seed)
    documents = len(found.weight)
    counts = rng.multinomial(documents, np.full(documents, 1 / documents), size=draws) * found.weight
    excess = found.ends - found.corpus[:, None].astype(np.float32)
    weight = counts.astype(np.float32)
    return np.stack([(weight @ excess[:, head]).argmax(axis=1) for head in range(excess.shape[1])], axis=1)


def _length_ratio(measured: Measured, labels: Array) -> Array:
    """Mean ‖z‖ of one label per head ÷ mean ‖z‖ of all labelled units, in that head (head,)."""
    own, own_count = np.zeros(len(labels)), np.zeros(len(labels))
    total, count = np.zeros(len(labels)), 0
    for document in measured.documents:
        place = np.searchsorted(document.labels, labels)
        place[place == len(document.labels)] = 0
        heads = np.flatnonzero(document.labels[place] == labels) if len(document.labels) else []
        own[heads] += document.lengths[heads, place[heads]]
        own_count[heads] += document.counts[place[heads]]
        total += document.lengths.sum(axis=1)
        count += document.counts.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        return (own / own_count) / (total / count)
