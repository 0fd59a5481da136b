"""The claims of Zeris about attention fields, decided by the shared rules from what was measured on a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lib.models.char_gpt.study import shipped_comparison
from lib.stats import Interval, bootstrap_mean
from lib.verdict_words import number_words
from lib.verdicts import Verdict, all_of, verdict

from .claim_evidence import MODE_RANGES, Evidence, paper_rows
from .evidence import MEASURES, late_minus_early
from .gating_claims import NOT_MEASURED, NOTHING, gating_energy, gating_loss
from .nulls import null_interval
from .resampling import Replicates

PAPER_SNAPSHOTS, PAPER_RANK = 150, 91
LONG_ENOUGH = 114  # tokens of a window whose scales reach 20
PRUNING = "change of the loss when pruned to the suggested allocation"


@dataclass(frozen=True)
class Pruned:
    """Loss of a model whose layers keep only the heads that they were allotted.

    change with its interval (low, high), random: (lowest, highest) change of as many random heads; budget: what the
    loss may rise; unit: of the loss.
    """

    change: float
    low: float
    high: float
    random: tuple[float, float]
    heads: int
    budget: float
    unit: str


def zeris(
    found: Evidence, corpus: str, pruned: Pruned | None = None, gain: Sequence[Mapping[str, Any]] | None = None
) -> list[Verdict]:
    """Verdicts on the claims of Zeris, in the order of the table.

    corpus: its name, as shown. pruned: the check of the heads' allocation. gain: rows of a seed study's comparison,
    None for those of the study that is shipped.

    **Source** Zeris, arXiv 2606.06573, with arXiv 2605.21842; the rules are those of lib.claims.
    """
    gain = shipped_comparison() if gain is None else gain
    where = {"model": found.model, "corpus": corpus, "documents": found.documents, "unit": "windows"}
    verdicts = [
        _scales(found, where),
        _modes(found, where),
        _complexity(found, where),
        *_ranks(found, where),
        _heads(found, pruned, where),
        _blur(found, where),
        _optimal(found, where),
    ]
    verdicts = [_without_fluctuation(one, found.still) for one in verdicts] if found.still else verdicts
    return [*verdicts[:-2], gating_energy(where), gating_loss(gain, where), *verdicts[-2:]]


def _without_fluctuation(given: Verdict, still: Sequence[int]) -> Verdict:
    """The same verdict with the reason why its number, or that of a part, is not defined."""
    parts = tuple(_without_fluctuation(part, still) for part in given.parts)
    if given.mark != "undecided" or not np.isnan(given.number) or PRUNING in given.quantity:
        return replace(given, parts=parts)
    reason = f"No fluctuation: the windows do not differ in {', '.join(f'L{layer}' for layer in still)}."
    return replace(given, reason=reason, note="Windows of different text.", parts=parts)


def _ends(found: Evidence) -> tuple[list[int], list[int]]:
    return paper_rows((1, 2), len(found.layers)), paper_rows((5, 6), len(found.layers))


def _named(found: Evidence, papers: Sequence[int]) -> str:
    """The layers meant: "L0 and L1 (the paper's layers 1, 2)"."""
    names = " and ".join(f"L{found.layers[row]}" for row in paper_rows(papers, len(found.layers)))
    return f"{names} (the paper's {'layer' if len(papers) == 1 else 'layers'} {', '.join(map(str, papers))})"


def _scales(found: Evidence, where: dict[str, Any]) -> Verdict:
    early, late = _ends(found)
    contrast = found.scales.contrast
    difference = late_minus_early(contrast, late, early)
    each = contrast.estimate
    met = bool((each[early] > 0).all() and (each[late] < 0).all())
    short = ""
    if found.length < LONG_ENOUGH:
        short = f" Scales of windows of {found.length} tokens end below 20: take {LONG_ENOUGH} tokens or more."
    return verdict(
        "P-scales",
        float(difference.estimate),
        _bounds(difference),
        {"independent lags": 0.0},
        met,
        note=f"{_named(found, (1, 2))} minus {_named(found, (5, 6))}.{short}",
        **where,
    )


def _modes(found: Evidence, where: dict[str, Any]) -> Verdict:
    parts = []
    for paper, (first, last) in MODE_RANGES.items():
        lags = found.modes[paper]
        share, peak = lags.share(first, last), lags.peak
        at = f"peak at lag {float(peak.estimate):.0f} [{float(peak.low):.0f}, {float(peak.high):.0f}]"
        what = f"share of the {lags.count} leading modes' energy at lags {first}–{last}"
        parts.append(
            verdict(
                "P-modes",
                float(share.estimate),
                _bounds(share),
                {"white noise": lags.white_noise_share(first, last)},
                bool(first <= peak.estimate <= last),
                side="above",
                quantity=f"{what} in {_named(found, [paper])}",
                threshold=f"the peak lies at lags {first}–{last}",
                note=f"Measured: {at}.",
                **where,
            )
        )
    return all_of(parts)


def _complexity(found: Evidence, where: dict[str, Any]) -> Verdict:
    early, late = _ends(found)
    level = float(np.mean(found.numbers["t_spec"].estimate[early]))
    note = f"{_named(found, (5, 6))} minus {_named(found, (1, 2))}; T_spec early {number_words(level)}."
    nulls = {name: _difference_nulls(found, name, early, late) for name in MEASURES}

    def part(name: str, side: str, quantity: str, met: bool, threshold: str) -> Verdict:
        difference = late_minus_early(found.numbers[name], early, late)
        return verdict(
            "P-complexity",
            float(difference.estimate),
            _bounds(difference),
            nulls[name],
            met,
            side=side,
            quantity=quantity,
            threshold=threshold,
            note=note,
            **where,
        )

    about_one = 0.8 <= level <= 1.25
    size = "T_spec of the early layers within 0.8 … 1.25"
    parts = (
        part(
            "t_spec", "below", "T_spec, late − early; read: large T, many patterns share (used here)", about_one, size
        ),
        part("t_spec", "above", "T_spec, late − early; read: small T is complex (the other reading)", about_one, size),
        part("entropy_rank", "below", "entropy rank, late − early (no fit, no reading)", True, "none"),
        part("participation_ratio", "below", "participation ratio, late − early (no fit, no reading)", True, "none"),
    )
    lead = parts[0]
    other = parts[1].mark
    told = f"The digest reads T_spec both ways; by its other reading the claim is {other}. {note}"
    return verdict("P-complexity", lead.number, lead.interval, lead.null, about_one, note=told, parts=parts, **where)


def _difference_nulls(found: Evidence, name: str, early: list[int], late: list[int]) -> dict[str, tuple[float, float]]:
    place = MEASURES.index(name)
    white = found.white[:, place]
    turned = [np.mean([np.roll(white, step) for step in steps], axis=0) for steps in ((1, 2), (3, 4))]
    shuffled = found.shuffled[:, :, place]
    return {
        "white noise": null_interval(turned[0] - turned[1]),
        "lags shuffled between windows": null_interval(
            shuffled[:, late].mean(axis=1) - shuffled[:, early].mean(axis=1)
        ),
    }


def _ranks(found: Evidence, where: dict[str, Any]) -> tuple[Verdict, Verdict]:
    rank = found.numbers["ensemble_rank"]
    bound = float(np.ceil(0.9 * (found.documents - 1) - 1e-9))
    noise = null_interval(found.white[:, MEASURES.index("ensemble_rank")])
    sides = [_mean_of(rank, paper_rows(papers, len(found.layers))) for papers in ((1, 2), (3, 4, 5, 6))]
    low, high = _bounds(sides[1])
    other = (
        "" if found.documents == PAPER_SNAPSHOTS else f" The claim is about {PAPER_SNAPSHOTS} snapshots: take as many."
    )
    early = verdict(
        "P-rank-early",
        float(sides[0].estimate),
        _bounds(sides[0]),
        {"a flat spectrum": bound},
        False,
        quantity=f"ensemble rank H*(0.1) of {found.documents} windows, mean of {_named(found, (1, 2))}",
        **where,
    )
    late = verdict(
        "P-rank-late",
        float(sides[1].estimate),
        (low, high),
        {"white noise": noise},
        found.documents == PAPER_SNAPSHOTS and low <= PAPER_RANK <= high,
        quantity=f"ensemble rank H*(0.1) of {found.documents} windows, mean of {_named(found, (3, 4, 5, 6))}",
        note=f"A rank of the set of windows, not of heads.{other}",
        **where,
    )
    return early, late


def _mean_of(number: Replicates, rows: list[int]) -> Interval:
    return number.map(lambda x: x[..., rows].mean(axis=-1)).interval()


def _heads(found: Evidence, pruned: Pruned | None, where: dict[str, Any]) -> Verdict:
    early, late = _ends(found)
    number, bounds = NOT_MEASURED, NOTHING
    if found.heads is not None:
        needed = bootstrap_mean(found.heads[:, late].mean(axis=1) - found.heads[:, early].mean(axis=1))
        number, bounds = float(needed.estimate), _bounds(needed)
    difference = verdict(
        "P-heads",
        number,
        bounds,
        {"no difference": 0.0},
        True,
        threshold="fewer late than early",
        quantity=f"heads needed, {_named(found, (5, 6))} minus {_named(found, (1, 2))}",
        **where,
    )
    if pruned is None:
        check = verdict(
            "P-heads",
            NOT_MEASURED,
            NOTHING,
            {"random pruning": NOT_MEASURED},
            False,
            quantity=PRUNING,
            note="Heads needed, on this page, makes the check.",
            **where,
        )
    else:
        check = verdict(
            "P-heads",
            pruned.change,
            (pruned.low, pruned.high),
            {"random pruning": pruned.random},
            pruned.high <= pruned.budget,
            quantity=f"{PRUNING} ({pruned.heads} heads off), {pruned.unit}",
            threshold=f"the loss rises by {pruned.budget:g} at most",
            **where,
        )
    return all_of([difference, check])


def _blur(found: Evidence, where: dict[str, Any]) -> Verdict:
    parts = []
    for paper, blur in found.blur.items():
        nulls = {"no difference": 0.0, "bands permuted": blur.permuted - float(blur.plain.estimate)}
        plain, windowed = float(blur.plain.estimate), float(blur.windowed.estimate)
        parts.append(
            verdict(
                "P-blur",
                float(blur.difference.estimate),
                _bounds(blur.difference),
                nulls,
                True,
                quantity=f"energy outside a mode's own band, windowed − plain, in {_named(found, [paper])}",
                note=f"Plain {number_words(plain)}, windowed {number_words(windowed)}.",
                **where,
            )
        )
    return all_of(parts)


def _optimal(found: Evidence, where: dict[str, Any]) -> Verdict:
    pod = found.errors["pod"]
    others = {name: bootstrap_mean(error - pod) for name, error in found.errors.items() if name != "pod"}
    best = min(others, key=lambda name: float(others[name].estimate))
    interval = others[best]
    return verdict(
        "P-optimal",
        float(interval.estimate),
        _bounds(interval),
        {"no difference": 0.0},
        bool(interval.estimate >= 0),
        quantity=f"energy that the best other basis ({best}) leaves out, minus POD's",
        **where,
    )


def _bounds(interval: Interval) -> tuple[float, float]:
    return float(interval.low), float(interval.high)
