"""The claims of AttentionViz, decided by the shared rules from what was measured on a model, its twin and a corpus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from lib.numerals import per_cent, written
from lib.stats import bootstrap_mean, weighted_mean
from lib.verdicts import Null, Verdict, all_of, verdict

from .evidence import Evidence

Array = np.ndarray
NOT_MEASURED = float("nan")
NOWHERE = (NOT_MEASURED, NOT_MEASURED)
NAMED = 0.5  # least strength with which an attribute orders a head that is named for it
ATTRIBUTES = ("hue", "brightness", "frequency", "angle")


def attentionviz(trained: Evidence, twin: Evidence | None, corpus: str) -> list[Verdict]:
    """Verdicts on the claims of Yeh et al., in the order of the table.

    twin: the same evidence of the untrained twin on the same documents; None leaves undecided what needs it. corpus:
    its name, as shown.

    **Source** Yeh et al., AttentionViz, arXiv 2305.03210; the rules are those of lib.claims.
    """
    where = {"model": trained.model, "corpus": corpus, "documents": trained.documents}
    return [
        _distance(trained, twin, where),
        _spirals(trained, where),
        _image_attributes(trained, where),
        _norm_gap(trained, where),
        _first_token(trained, where),
        _self(trained, twin, where),
        _induction(trained, where),
    ]


def _distance(trained: Evidence, twin: Evidence | None, where: dict[str, Any]) -> Verdict:
    own = _over_heads(trained.distance)
    found = bootstrap_mean(own)
    note, qualifier = "Measure the untrained twin to know whether it is learned.", ""
    if twin is not None:
        other = _over_heads(twin.distance)
        gap = bootstrap_mean(own - other)
        learned = float(gap.high) < 0
        note = f"Untrained twin: {written(float(bootstrap_mean(other).estimate), '.3f')}."
        qualifier = "Below the untrained twin's." if learned else "Holds, but not learned: the twin's is not higher."
    heads = _mean(trained.distance)
    note = f"Heads from {written(np.nanmin(heads), '.3f')} to {written(np.nanmax(heads), '.3f')}. {note}"
    return verdict(
        "V-distance", float(found.estimate), _bounds(found), {"keys permuted within the row": 0.0},
        float(found.estimate) <= -0.75, qualifier=qualifier, note=note, **where,
    )  # fmt: skip


def _spirals(trained: Evidence, where: dict[str, Any]) -> Verdict:
    if trained.image:
        return _undecided("V-spirals", where, "The claim is about texts.")
    table = trained.offsets.table()
    early = trained.layers[: -(-len(trained.layers) // 3)]
    one = table[(table["count"] == 1) & (table.offsets != "0") & table.layer.isin(early)]
    several = table[table["count"] > 1]
    spiral = _named(trained, one, "position", where, f"position, heads of one offset in layers {_listed(early)}")
    clump = _named(trained, several, "position_mod_5", where, "position mod 5, heads of several offsets")
    return all_of([spiral, clump])


def _named(trained: Evidence, heads: pd.DataFrame, attribute: str, where: dict[str, Any], quantity: str) -> Verdict:
    """The head that the attribute orders most strongly among some heads, as one part of a claim."""
    ranked = trained.orders.ranked(attribute).merge(heads, on=["layer", "head"])
    if ranked.empty or np.isnan(ranked.strength[0]):
        return _undecided("V-spirals", where, f"No such head: {quantity}.", quantity)
    best = ranked.iloc[0]
    named = ranked[ranked.ordered & (ranked.strength >= NAMED)]
    names = ", ".join(
        f"L{row.layer} H{row.head} ({row.offsets.replace('-', '−')})" for row in named.head(8).itertuples()
    )
    note = f"{len(named)} head{'s' * (len(named) != 1)}{': ' if names else ''}{names}."
    return verdict(
        "V-spirals", best.score, (best.low, best.high), {"permuted positions": (best.null_low, best.null_high)},
        len(named) > 0, quantity=f"{quantity}: L{best.layer} H{best['head']}", note=note, **where,
    )  # fmt: skip


def _image_attributes(trained: Evidence, where: dict[str, Any]) -> Verdict:
    if not trained.image:
        return _undecided("V-image-attributes", where, "The claim is about images.")
    parts = []
    for attribute in ATTRIBUTES:
        ranked = trained.orders.ranked(attribute)
        if ranked.empty or np.isnan(ranked.strength[0]):
            parts.append(_undecided("V-image-attributes", where, f"These images have no {attribute}.", attribute))
            continue
        best = ranked.iloc[0]
        named = ranked[ranked.ordered & (ranked.strength >= NAMED)]
        names = ", ".join(f"L{row.layer} H{row.head}" for row in named.head(6).itertuples())
        parts.append(
            verdict(
                "V-image-attributes", best.score, (best.low, best.high),
                {"permuted patches": (best.null_low, best.null_high)}, len(named) > 0,
                quantity=f"{attribute}: L{best.layer} H{best['head']}",
                note=f"{len(named)} heads. {names}".strip(), **where,
            )
        )  # fmt: skip
    return all_of(parts)


def _norm_gap(trained: Evidence, where: dict[str, Any]) -> Verdict:
    found = bootstrap_mean(trained.norm_gap.mean(axis=(1, 2)))
    heads = trained.norm_gap.mean(axis=0)
    note = f"{per_cent((heads < 0).mean())} of the heads have shorter queries than keys."
    result = verdict("V-norm-gap", float(found.estimate), _bounds(found), {"no gap": 0.0}, note=note, **where)
    if trained.causal:
        return result
    return replace(result, mark="undecided", reason="The claim is about causal models; this one reads both ways.")


def _first_token(trained: Evidence, where: dict[str, Any]) -> Verdict:
    late = len(trained.layers) // 2
    by_layer = trained.offsets.first.mean(axis=2)  # (document, layer)
    found = bootstrap_mean(by_layer[:, late:], simultaneous=True)
    if np.isnan(found.estimate).all():
        return _undecided("V-first-token", where, "No text has a second token.")
    best = int(np.nanargmax(found.estimate))
    head = np.unravel_index(np.nanargmax(_mean(trained.offsets.first)), trained.offsets.first.shape[1:])
    note = f"Largest head: L{trained.layers[head[0]]} H{head[1]} with {_mean(trained.offsets.first)[head]:.2f}."
    return verdict(
        "V-first-token", float(found.estimate[best]), (float(found.low[best]), float(found.high[best])),
        {"uniform row": float(weighted_mean(trained.offsets.first_chance))}, float(found.estimate[best]) > 0.5,
        quantity=f"mass on position 0, L{trained.layers[late + best]}", note=note, **where,
    )  # fmt: skip


def _self(trained: Evidence, twin: Evidence | None, where: dict[str, Any]) -> Verdict:
    if trained.agreement is None:
        return _undecided("V-self", where, "The layout of this family's projections is not known.")
    mass = _mean(trained.offsets.on_itself)
    head = np.unravel_index(np.nanargmax(mass), mass.shape)
    r = float(trained.agreement[head])
    null: dict[str, Null] = {"untrained twin": NOT_MEASURED}
    if twin is not None and twin.agreement is not None:
        null["untrained twin"] = _fisher(float(twin.agreement[head]), twin.entries)
    best = np.unravel_index(np.nanargmax(trained.agreement), mass.shape)
    note = f"Self mass {mass[head]:.2f}. Largest r of all heads: {written(trained.agreement[best], '.2f')} in "
    note += f"L{trained.layers[best[0]]} H{best[1]}, whose self mass is {mass[best]:.2f}. Interval over entries of W."
    return verdict(
        "V-self", r, _fisher(r, trained.entries), null, r > 0.5,
        quantity=f"correlation of W_Q and W_K, L{trained.layers[head[0]]} H{head[1]}", note=note, **where,
    )  # fmt: skip


def _induction(trained: Evidence, where: dict[str, Any]) -> Verdict:
    if trained.induction is None:
        return _undecided("V-induction", where, "This model reads no tokens, or its window is too short.")
    probe = trained.induction
    lift = np.stack([probe.after, probe.before], axis=1) / probe.chance[:, None, None, None]
    found = bootstrap_mean(lift, simultaneous=True)  # (direction, layer, head)
    best = np.unravel_index(np.argmax(found.estimate), found.estimate.shape)
    direction = ("after", "before")[best[0]]
    others = [f"token {name}: {found.estimate[part].max():.1f} ×" for part, name in enumerate(("after", "before"))]
    result = verdict(
        "V-induction", float(found.estimate[best]), (float(found.low[best]), float(found.high[best])),
        {"uniform row": 1.0}, float(found.estimate[best]) > 5,
        quantity=f"mass on the token {direction} ÷ chance, L{probe.layers[best[1]]} H{best[2]}",
        note=f"Largest of each direction, {'; '.join(others)}.", **(where | {"documents": len(lift)}),
    )  # fmt: skip
    if not trained.causal:
        return result
    return replace(
        result, mark="undecided", reason="The claim is about models that read both ways; this one is causal."
    )


def _undecided(key: str, where: dict[str, Any], note: str, quantity: str = "") -> Verdict:
    return verdict(key, NOT_MEASURED, NOWHERE, {}, False, note=note, quantity=quantity, **where)


def _over_heads(values: Array) -> Array:
    """Mean over the heads where it is defined (document,)."""
    return _mean(np.moveaxis(values.reshape(len(values), -1), 1, 0))


def _mean(values: Array) -> Array:
    """Mean over the first axis, of what is defined."""
    return np.asarray(weighted_mean(values))


def _fisher(r: float, entries: int) -> tuple[float, float]:
    """The 95 % interval of a correlation, taking entries for independent."""
    z, half = np.arctanh(np.clip(r, -0.999999, 0.999999)), 1.96 / np.sqrt(max(entries - 3, 1))
    return float(min(r, np.tanh(z - half))), float(max(r, np.tanh(z + half)))


def _bounds(found: Any) -> tuple[float, float]:
    return float(found.low), float(found.high)


def _listed(layers: tuple[int, ...]) -> str:
    return ", ".join(f"L{layer}" for layer in layers)
