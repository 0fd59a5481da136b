"""AttentionViz's claims about heads, decided by the shared rules from what was measured on a model, twin and corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib import stats
from lib.corpora import Document, Encoding
from lib.heads.agreement import projection_agreement
from lib.heads.census import Progress, tally_heads
from lib.heads.induction import PROBED, induction_probe
from lib.heads.tally import Tally
from lib.verdicts import Null, Verdict, verdict

DRAWS = 1000
NOT_MEASURED = float("nan")


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one model showed: the census of a corpus, the induction probe, and W_Q/W_K agreement (layer, head).

    probe is None for models without tokens, agreement None where the layout of the weights is not known.
    """

    tally: Tally
    probe: Tally | None
    agreement: np.ndarray | None
    causal: bool


def evidence(
    engine: Any, documents: Sequence[Document | Encoding], stream: str | None = None, progress: Progress | None = None
) -> Evidence:
    """Measure what the claims need; arguments as in ``score_heads``."""
    tally = tally_heads(engine, documents, stream, progress=progress)
    probe = None if engine.kind == "vision" else induction_probe(engine, stream)
    agreement = projection_agreement(engine, tally.layers, tally.stream)
    return Evidence(tally, probe, agreement, engine.causal)


def attentionviz(trained: Evidence, twin: Evidence | None, corpus: str) -> list[Verdict]:
    """Verdicts on four claims of Yeh et al.: norm gap, first token, look-at-self heads, induction both ways.

    twin: the same evidence of the untrained twin on the same documents; None leaves the claim that needs it undecided.
    corpus: its name, as shown. A claim about one kind of model says so where the model is of the other.

    **Source** Yeh et al., AttentionViz, 2023, arXiv 2305.03210; the rules are those of lib.claims.
    """
    where = {"model": trained.tally.model, "corpus": corpus, "documents": trained.tally.documents}
    return [
        _norm_gap(trained, where),
        _first_token(trained, where),
        _look_at_self(trained, twin, where),
        _induction(trained, where),
    ]


def _norm_gap(trained: Evidence, where: dict[str, Any]) -> Verdict:
    place = trained.tally.place("norm_gap")
    gaps = trained.tally.values[..., place].mean(axis=(1, 2))  # (document,)
    interval = stats.bootstrap_mean(gaps, trained.tally.rows[:, 0, 0, place])
    note = "" if trained.causal else "The claim is about causal models; this one is not."
    bounds = float(interval.low), float(interval.high)
    return verdict("V-norm-gap", float(interval.estimate), bounds, {"0": 0.0}, trained.causal, note=note, **where)


def _first_token(trained: Evidence, where: dict[str, Any]) -> Verdict:
    name = "first_token" if "first_token" in [score.name for score in trained.tally.scores] else "cls"
    interval, chance = trained.tally.by_layer(name)
    late = np.arange(len(interval.estimate) // 2, len(interval.estimate))
    best = late[np.argmax(interval.estimate[late])]
    number = float(interval.estimate[best])
    return verdict(
        "V-first-token",
        number,
        (float(interval.low[best]), float(interval.high[best])),
        {"uniform row": float(chance[best])},
        number > 0.5,
        quantity=f"mass on position 0 in L{trained.tally.layers[best]}, the largest of the last half of the layers",
        **where,
    )


def _look_at_self(trained: Evidence, twin: Evidence | None, where: dict[str, Any]) -> Verdict:
    null: dict[str, Null] = {"untrained twin": NOT_MEASURED}
    if twin is not None and twin.agreement is not None:
        null["untrained twin"] = (float(twin.agreement.min()), float(twin.agreement.max()))
    if trained.agreement is None:
        return verdict("V-self", NOT_MEASURED, (NOT_MEASURED,) * 2, null, False, **where)
    number, low, high, head = _agreement_of_the_strongest(trained)
    layer, own = trained.tally.layers[head // trained.agreement.shape[1]], head % trained.agreement.shape[1]
    mass = trained.tally.of("self")[0].estimate.ravel()[head]
    note = f"L{layer} H{own} looks at itself most: {mass:.2f} of its attention."
    return verdict("V-self", number, (low, high), null, number > 0.5, note=note, **where)


def _agreement_of_the_strongest(trained: Evidence) -> tuple[float, float, float, int]:
    """r of the head with the largest self mass, its range over resampled documents, and the head among all."""
    place = trained.tally.place("self")
    values = trained.tally.values[..., place].reshape(trained.tally.documents, -1).astype(np.float64)
    weights = trained.tally.rows[..., place].reshape(values.shape)
    r = trained.agreement.ravel()
    counts = np.random.default_rng(0).multinomial(len(values), np.full(len(values), 1 / len(values)), size=DRAWS)
    means = counts @ np.nan_to_num(values * weights) / np.maximum(counts @ weights, 1)  # (draw, head)
    head = int(np.argmax(stats.weighted_mean(values, weights)))
    low, high = np.quantile(r[means.argmax(axis=1)], [0.025, 0.975])
    if len(values) < 2:
        low = high = NOT_MEASURED
    return float(r[head]), float(min(low, r[head])), float(max(high, r[head])), head


def _induction(trained: Evidence, where: dict[str, Any]) -> Verdict:
    note = "The claim is about bidirectional models; this one is causal." if trained.causal else ""
    if trained.probe is None:
        nothing: dict[str, Null] = {"uniform row": NOT_MEASURED}
        note = "The probe needs tokens; this model reads images."
        return verdict("V-induction", NOT_MEASURED, (NOT_MEASURED,) * 2, nothing, False, note=note, **where)
    found = []
    for name in PROBED:
        interval, chance = trained.probe.of(name)
        best = int(np.argmax(interval.estimate))
        layer, head = divmod(best, interval.estimate.shape[1])
        cells = [array.ravel()[best] for array in (interval.estimate, interval.low, interval.high, chance)]
        found.append((*map(float, cells), name, trained.probe.layers[layer], head))
    number, low, high, chance, name, layer, head = max(found)
    which = "after" if name == "induction" else "before"
    where = where | {"corpus": "repeated random tokens", "documents": trained.probe.documents}
    return verdict(
        "V-induction",
        number,
        (low, high),
        {"uniform row": chance},
        number > 5 * chance and not trained.causal,
        note=" ".join(filter(None, (f"L{layer} H{head}, the token {which}.", note))),
        **where,
    )
