"""The chosen head in numbers: its role, its main scores beside chance, and heads that attend like it."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lib.heads import heads_like
from lib.heads.roles import NO_SIGNAL, NONE_CLEAR, rule_of
from lib.numerals import plural
from lib.ui.heads.measures import document_likeness
from lib.ui.heads.wording import SCORES, capital, interval, number, unit
from lib.ui.pictures import chosen_place, layers
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.ui.tables import html_table

ALWAYS = ("entropy_share", "mean_lag", "grid_distance", "confidence", "norm_gap")
STRONGEST = 4  # masses that lie highest above chance
ALIKE = 4


def numbers(scene: Scene, table: pd.DataFrame, documents: int, stream: str, pattern: np.ndarray) -> None:
    """Draw the numbers of the chosen head. table: of the document, or of the corpus where that was measured."""
    place, head = chosen_place(scene, pattern, stream)
    layer = layers(scene, stream)[place]
    row = table[(table["layer"] == layer) & (table["head"] == head)].iloc[0]
    st.markdown(f"**L{layer} H{head}** · {role(row, documents)}")
    where = "this document alone" if documents == 1 else f"the first {plural(documents, 'document')}"
    st.caption(f"{_meaning(row)} Measured on {where}.")
    names = chosen_scores(row)
    rows = [
        (
            capital(SCORES[name].label),
            f"{number(row[name])} {interval(row[f'{name}_low'], row[f'{name}_high'])}".strip(),
            number(row[f"{name}_chance"]),
        )
        for name in names
    ]
    header = f"{plural(documents, 'document')} [95 %]" if documents > 1 else "this document"
    st.html(html_table(("", header, "chance"), rows, [f"{capital(SCORES[name].says)}." for name in names]))
    st.caption(_small_print(scene, row, documents))
    _alike(scene, pattern, stream)


def role(row: pd.Series, documents: int) -> str:
    """The role in plain language; "?" told in words."""
    text = str(row["role"])
    few = "one document" if documents == 1 else f"only {documents} documents"
    return f"{text.removesuffix('?')} ({few}: unsure)" if text.endswith("?") else text


def _meaning(row: pd.Series) -> str:
    """What the role rests on."""
    rule = rule_of(str(row["role"]))
    if rule is None:
        told = {NO_SIGNAL: "Its output is exactly zero.", NONE_CLEAR: "No rule of the roles holds."}
        return told.get(str(row["role"]), "")
    also = f" Also: {row['also'].replace('?', '')}." if row["also"] else ""
    return f"{capital(SCORES[rule.score].says)}: {number(row[rule.score])}.{also}"


def chosen_scores(row: pd.Series) -> list[str]:
    """The scores worth a line: the masses highest above chance, then breadth, distance, confidence, norm gap."""
    masses = {}
    for name, score in SCORES.items():
        if name == "special" and (row.get("cls", 0) > 0 or row.get("sep", 0) > 0):
            continue  # told apart already
        if score.unit == "mass" and name in row and np.isfinite(row[name]) and np.isfinite(row[f"{name}_chance"]):
            masses[name] = row[name] - row[f"{name}_chance"]
    best = sorted(masses, key=masses.__getitem__, reverse=True)[:STRONGEST]
    return best + [name for name in ALWAYS if name in row and np.isfinite(row[name])]


def _small_print(scene: Scene, row: pd.Series, documents: int) -> str:
    parts = ["Chance: rows that attend uniformly to all they may see."]
    distance = next((name for name in ("mean_lag", "grid_distance") if name in row and np.isfinite(row[name])), None)
    if distance:
        parts.append(f"{capital(SCORES[distance].label)} in {unit(distance)}.")
    special = "counted" if scene.choice.special else "left out, rows renormalised"
    parts.append(f"Special tokens {special}.")
    if row["excluded_rows"]:
        parts.append(f"{int(row['excluded_rows'])} rows held nothing and are left out.")
    if documents > 1:
        parts.append("Intervals over documents, simultaneous over all heads.")
    return " ".join(parts)


def _alike(scene: Scene, pattern: np.ndarray, stream: str) -> None:
    """Small buttons: the heads whose rows are nearest on this document."""
    place, head = chosen_place(scene, pattern, stream)
    if pattern.shape[0] * pattern.shape[1] < 2:
        return
    distances = document_likeness(scene, pattern, stream)
    found = heads_like(distances, pattern.shape[1], place, head).head(ALIKE)
    st.markdown("Heads like this one")
    with st.container(horizontal=True, gap="small", key="heads-alike"):
        for rank, near in enumerate(found.itertuples()):
            layer = layers(scene, stream)[near.layer_index]
            st.button(
                f"L{layer} H{near.head}",
                key=f"heads-alike-{rank}",
                on_click=partial(choose_head, layer, near.head),
                help=f"Squared Hellinger distance {number(near.distance)} on this document (0 same, 1 disjoint)",
            )
