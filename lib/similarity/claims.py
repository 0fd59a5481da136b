"""The paper's five claims, decided by the shared rules from what was measured on a model, its twin and a corpus."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from lib.capture import capture
from lib.verdicts import Null, Verdict, all_of, verdict

from .anchors import anchored_heads, anchors, candidates
from .attention_mass import ColumnMass, column_mass
from .errors import SimilarityError
from .statistics import Measured, measure, ratio, summary
from .trend import first_to_last, rank_trend
from .units import CLASSES

Array = np.ndarray
NOT_MEASURED = float("nan")
KINDS = {  # what the paper says heads specialise in → the statistic that shows it
    "repetition": "same_token",
    "a token with its context": "cooccurrence",
    "separators": "separator",
}
SHOWN = {  # statistic → what is counted, in words
    "same_token": "pairs of one token",
    "cooccurrence": "recurring pairs",
    "separator": "ends on separators",
}
SIMILARITY = {"dot": "scalar product", "cosine": "cosine"}


@dataclass(frozen=True, eq=False)
class Evidence:
    """What one model showed on a corpus: statistics by both similarities, and attention mass."""

    dot: Measured
    cosine: Measured
    mass: ColumnMass


def evidence(
    engine: Any,
    documents: Sequence[Any],
    top: float = 0.01,
    stream: str | None = None,
    progress: Callable[[int, int, str], None] | None = None,
) -> Evidence:
    """Run a model over documents and measure what the claims need; arguments as in measure and column_mass."""
    taken = capture(engine, documents, keep=("z",), progress=progress)
    taken = taken.streams[stream] if stream else taken
    return Evidence(
        measure(taken, top, "dot", progress=progress),
        measure(taken, top, "cosine", progress=progress),
        column_mass(engine, documents, stream=taken.stream, progress=progress),
    )


def halevi(trained: Evidence, twin: Evidence | None, corpus: str) -> list[Verdict]:
    """Verdicts on the five claims of Halevi et al., in the order of the table.

    twin: the same evidence of the untrained twin on the same documents; None leaves claims that need it undecided.
    corpus: its name, as shown.

    **Source**: Halevi et al., arXiv 2512.21956; the rules are those of lib.claims.
    """
    where = {"model": trained.dot.model, "corpus": corpus, "documents": len(trained.dot.documents)}
    return [
        _separators(trained, twin, where),
        _specialise(trained, twin, where),
        _range(trained, where),
        _thirty(trained, where),
        _anchors(trained, twin, where),
    ]


def _separators(trained: Evidence, twin: Evidence | None, where: dict[str, Any]) -> Verdict:
    parts = {}
    for index, name in enumerate(CLASSES):
        if name == "other" or np.isnan(trained.mass.mass[..., index]).all():
            continue
        late, low, high = _late_lift(trained.mass, index, last=True)
        early, _, _ = _late_lift(trained.mass, index, last=False)
        null: dict[str, Null] = {"uniform row": 1.0, "untrained twin": NOT_MEASURED}
        if twin is not None:
            _, twin_low, twin_high = _late_lift(twin.mass, index, last=True)
            null["untrained twin"] = (twin_low, twin_high)
        layers = trained.mass.layers[-_quarter(trained.mass) :]
        parts[name] = verdict(
            "H-separators",
            late,
            (low, high),
            null,
            late >= 5 and late > early,
            quantity=f"column mass on {name} ÷ chance, layers {', '.join(f'L{layer}' for layer in layers)}",
            note=f"First quarter of the layers: {early:.2f} × chance.",
            **where,
        )
    main = parts.get("[SEP]", parts.get("'.'"))
    if main is None:
        nothing: dict[str, Null] = {"uniform row": 1.0, "untrained twin": NOT_MEASURED}
        note = "No [SEP] and no sentence-ending mark."
        main = verdict("H-separators", NOT_MEASURED, (NOT_MEASURED,) * 2, nothing, False, note=note, **where)
    return Verdict(**{**vars(main), "parts": tuple(parts.values())})


def _quarter(mass: ColumnMass) -> int:
    return -(-len(mass.layers) // 4)


def _late_lift(mass: ColumnMass, index: int, last: bool) -> tuple[float, float, float]:
    """Mass ÷ chance of one class over the last (or first) quarter of the layers, with its interval."""
    values, chance = (part[..., index] for part in mass.by_layer())  # (document, layer)
    chosen = slice(-_quarter(mass), None) if last else slice(0, _quarter(mass))
    found = ratio(values[:, chosen].mean(axis=1), chance[:, chosen].mean(axis=1), np.ones(len(values)))
    return float(found.estimate), float(found.low), float(found.high)


def _specialise(trained: Evidence, twin: Evidence | None, where: dict[str, Any]) -> Verdict:
    table = summary(trained.dot, simultaneous=True)
    other = None if twin is None else summary(twin.dot, simultaneous=True)
    bars = {
        kind: NOT_MEASURED if other is None else float(other[f"{name}_lift_high"].max()) for kind, name in KINDS.items()
    }
    lows = np.stack([table[f"{name}_lift_low"].fillna(0).to_numpy() for name in KINDS.values()])  # (kind, head)
    above = lows > np.array([np.nanmax([1.0, bar]) for bar in bars.values()])[:, None]
    # one head for each kind, no head twice: as many kinds as possible, then the strongest
    kinds, heads = linear_sum_assignment(-(above * 10.0 + lows / np.maximum(lows.max(axis=1, keepdims=True), 1e-12)))
    parts = []
    for index, head in zip(kinds, heads, strict=True):
        kind, name = list(KINDS.items())[index]
        row = table.iloc[head]
        parts.append(
            verdict(
                "H-specialise",
                row[f"{name}_lift"],
                (row[f"{name}_lift_low"], row[f"{name}_lift_high"]),
                {"chance": 1.0, "untrained twin, its highest head": bars[kind]},
                True,
                quantity=f"{kind}: {SHOWN[name]} ÷ chance, L{row['layer']:.0f} H{row['head']:.0f}",
                note=f"{int(above[index].sum())} of {len(table)} heads lie above both.",
                **where,
            )
        )
    return all_of(parts)


def _range(trained: Evidence, where: dict[str, Any]) -> Verdict:
    parts = []
    for name, side, sign in (("distance", "below", -1), ("same_sentence", "above", 1)):
        trend = rank_trend(trained.dot, name)
        parts.append(
            verdict(
                "H-range",
                trend.rho,
                (trend.low, trend.high),
                {"layers permuted": trend.null},
                sign * trend.rho >= 0.6,
                side=side,
                quantity=f"Spearman of {name.replace('_', '-')} ÷ chance with layer",
                threshold=f"ρ {'≤ −' if sign < 0 else '≥ +'}0.6",
                note=""
                if np.isnan(trend.p)
                else f"{100 * trend.p:.0f} % of all orders of the layers give as large a ρ.",
                **where,
            )
        )
    return all_of(parts)


def _thirty(trained: Evidence, where: dict[str, Any]) -> Verdict:
    change, low, high = first_to_last(trained.dot)
    return verdict("H-thirty", change, (low, high), {"no change": 0.0}, low <= -0.3 <= high, **where)


def _anchors(trained: Evidence, twin: Evidence | None, where: dict[str, Any]) -> Verdict:
    parts = []
    if note := _no_anchors(trained.dot):
        nothing = {"untrained twin": NOT_MEASURED}
        return verdict("H-anchors", NOT_MEASURED, (NOT_MEASURED,) * 2, nothing, False, note=note, **where)
    for kind in ("dot", "cosine"):
        measured = getattr(trained, kind)
        share, low, high = anchored_heads(measured)
        null: dict[str, Null] = {"untrained twin": NOT_MEASURED}
        if twin is not None:
            null["untrained twin"] = anchored_heads(getattr(twin, kind))[1:]
        found = anchors(trained.dot, trained.cosine) if kind == "dot" else anchors(measured)
        note = f"{found['token'].nunique()} distinct anchors in {len(found)} heads."
        if kind == "dot":
            note += f" {int(found['only_long'].sum())} anchors owe their lift to long vectors alone."
        quantity = f"share of heads with a stable anchor of lift > 3, by {SIMILARITY[kind]}"
        parts.append(
            verdict("H-anchors", share, (low, high), null, share >= 0.5, quantity=quantity, note=note, **where)
        )
    return all_of(parts)  # the norm check: the anchors must outlast taking the lengths away


def _no_anchors(measured: Measured) -> str:
    """Why the stability of anchors is not defined here; "" where it is."""
    if not measured.names:
        return "Patches have no identity, so images have no anchors."
    try:
        found = candidates(measured)
    except SimilarityError as error:
        return str(error)
    if found.halves() is None:
        return "One document has no halves to be the same in: it takes two documents with similar pairs."
    return ""
