"""The README's table: ``python -m lib.heads.measure``.

For each offline model that is installed, the strongest head of each role, with its score, its chance level and what
switching it off does, beside heads drawn at random.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pandas as pd

from lib import models
from lib.corpora import Document, Encoding, builtin, encode, repeated_tokens
from lib.heads.catalogue import score_heads
from lib.heads.effects import all_heads, sweep
from lib.heads.induction import LENGTH, SEQUENCES
from lib.heads.roles import RULES, UNSURE, Rule
from lib.models.offline import PACKAGES

SCORED = 24  # documents whose heads are scored
SWITCHED = 8  # documents, and …
LONGEST = 128  # … tokens of each, on which heads are switched off
DRAWN = 20  # heads drawn at random, for comparison


def corpus(engine: Any) -> list[Document]:
    """What a model is measured on."""
    if engine.kind == "vision":
        return [*builtin("photographs"), *builtin("gratings")]
    return builtin("encyclopedia")[:SCORED]


def strongest_heads(table: pd.DataFrame) -> list[tuple[Rule, int]]:
    """Each role that any head has, and the row of the head in which it is strongest."""
    roles = table.role.str.removesuffix(UNSURE)
    return [
        (rule, int(table.role_strength[roles == rule.role].idxmax())) for rule in RULES if (roles == rule.role).any()
    ]


def role_table(engine: Any) -> pd.DataFrame:
    """One row per role: role, head, score, chance, measure, change with its interval, and that of random heads."""
    documents = corpus(engine)
    table = score_heads(engine, documents)
    chosen = strongest_heads(table)
    heads = [(int(table["layer"][row]), int(table["head"][row])) for _, row in chosen]
    every = all_heads(engine)
    drawn = [every[i] for i in np.random.default_rng(0).choice(len(every), size=DRAWN, replace=False)]
    shorter: list[Document | Encoding] = [
        encode(document, engine, max_length=LONGEST) for document in documents[:SWITCHED]
    ]
    if engine.kind == "vision":
        shorter = list(documents)
    effects = sweep(engine, shorter, heads=list(dict.fromkeys((*heads, *drawn)))).set_index(["layer", "head"])
    repeated = None
    if any(rule.tier == 1 for rule, _ in chosen):
        sequences = repeated_tokens(engine, LENGTH, count=SEQUENCES, seed=1)  # not those of the probe
        repeated = sweep(engine, sequences, heads=list(dict.fromkeys((*heads, *drawn)))).set_index(["layer", "head"])
    rows = []
    for (rule, row), head in zip(chosen, heads, strict=True):
        effect = repeated if rule.tier == 1 else effects
        rows.append(
            {
                "role": rule.role,
                "head": f"L{head[0]} H{head[1]}",
                "score": table[rule.score][row],
                "chance": table[f"{rule.score}_chance"][row],
                "change": effect.change[head],
                "low": effect.change_low[head],
                "high": effect.change_high[head],
                "drawn": float(effect.change[drawn].median()),
                "on": "repeated tokens" if rule.tier == 1 else "the corpus",
            }
        )
    found = pd.DataFrame(rows)
    found.attrs = {"documents": len(documents), "tokens": table.attrs["tokens"], "measure": effects.measure.iloc[0]}
    return found


def markdown(name: str, table: pd.DataFrame) -> str:
    """The table of one model as the README shows it."""
    about = table.attrs
    lines = [
        f"**{name}** ({about['documents']} documents, {about['tokens']} tokens; off: {about['measure']})",
        "",
        "| role | head | score | chance | change when off (95 %) | 20 random heads, median | measured on |",
        "|---|---|---|---|---|---|---|",
    ]
    for row in table.itertuples():
        change = f"{row.change:+.4f} ({row.low:+.4f} … {row.high:+.4f})"
        cells = (row.role, row.head, f"{row.score:.3g}", f"{row.chance:.3g}", change, f"{row.drawn:+.4f}", row.on)
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n\n"


def main() -> None:
    """Measure and print every offline model that is installed."""
    for package in PACKAGES:
        if why := package.missing():
            sys.stdout.write(f"{package.name}: {why}\n\n")
            continue
        engine = models.load(package.name, device="cpu")
        sys.stdout.write(markdown(package.name, role_table(engine)))
        sys.stdout.flush()
        engine.release()


if __name__ == "__main__":
    main()
