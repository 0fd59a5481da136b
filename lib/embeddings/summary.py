"""One sentence per head, for people who find a hundred pictures too many."""

from __future__ import annotations

import pandas as pd

from lib.numerals import per_cent, written

NAMES = {
    "position": "position",
    "position_mod_5": "position mod 5",
    "identity": "token",
    "frequency": "frequency",
    "part_of_speech": "part of speech",
    "sentence": "sentence",
    "norm": "length of the vector",
    "hue": "hue",
    "brightness": "brightness",
    "row": "row",
    "column": "column",
    "angle": "angle",
}
PLACES = {"-1": "the previous token", "+1": "the next token", "0": "the token itself"}


def head_sentences(
    orders: pd.DataFrame,
    offsets: pd.DataFrame | None = None,
    distance: pd.DataFrame | None = None,
    trust: pd.DataFrame | None = None,
    image: bool = False,
    columns: int | None = None,
) -> dict[tuple[int, int], str]:
    """A sentence for each (layer, head).

    orders: ``Orders.table``. offsets: ``Offsets.table()``. distance: ``distance_table``. trust: ``trust_table``. image:
    frequency means spatial frequency, and offsets are patches; columns: of the patch grid, where all images have the
    same. What is None is not spoken of.

    >>> head_sentences(pd.DataFrame({"layer": [0], "head": [3], "attribute": ["position"], "strength": [0.98],
    ...     "ordered": [True]}))
    {(0, 3): 'L0 H3: ordered by position (0.98 of perfect).'}
    """
    further = [_by_head(table) for table in (offsets, distance, trust)]
    sentences = {}
    for (layer, head), rows in orders.groupby(["layer", "head"], sort=True):
        place = (int(layer), int(head))
        known = [table.get(place) for table in further]
        parts = [_order(rows, image), _offsets(known[0], image, columns), _distance(known[1]), _trust(known[2])]
        sentences[place] = f"L{layer} H{head}: {'; '.join(filter(None, parts))}."
    return sentences


def _by_head(table: pd.DataFrame | None) -> dict[tuple[int, int], dict]:
    if table is None:
        return {}
    return {(int(row["layer"]), int(row["head"])): row for row in table.to_dict("records")}


def _order(rows: pd.DataFrame, image: bool) -> str:
    found = rows[rows.ordered.astype(bool)].sort_values("strength", ascending=False, kind="stable")
    if found.empty:
        return "no known attribute orders it"
    best = found.iloc[0]
    second = found.iloc[1] if len(found) > 1 and found.iloc[1].strength >= 0.5 else None
    text = f"ordered by {_name(best.attribute, image)} ({best.strength:.2f} of perfect)"
    return text + (f", then by {_name(second.attribute, image)} ({second.strength:.2f})" if second is not None else "")


def _name(attribute: str, image: bool) -> str:
    return "spatial frequency" if image and attribute == "frequency" else NAMES.get(attribute, attribute)


def _offsets(row: dict | None, image: bool, columns: int | None) -> str:
    if row is None:
        return ""
    if row["count"] == 0:
        return "attends to no fixed offset"
    places = PLACES
    if image:
        places = {"-1": "the patch to the left", "+1": "the patch to the right", "0": "the patch itself"}
        if columns:
            places |= {f"-{columns}": "the patch above", f"+{columns}": "the patch below"}
    said = row["offsets"].replace("-", "−")
    if row["count"] == 1:
        shape = "" if image or row["offsets"] == "0" else ": a spiral or a line"
        return f"attends to {places.get(row['offsets'], 'offset ' + said)}{shape}"
    if image:
        return "attends to " + " and ".join(
            places.get(one, f"offset {one.replace('-', '−')}") for one in row["offsets"].split(", ")
        )
    return f"attends to {row['count']} offsets ({said}): clumps"


def _distance(row: dict | None) -> str:
    if row is None or pd.isna(row["correlation"]):
        return ""
    rho = row["correlation"]
    how = "stands for" if rho <= -0.9 else "mostly follows" if rho <= -0.75 else "only loosely follows"
    return f"distance {how} attention ({written(rho, '.2f')})"


def _trust(row: dict | None) -> str:
    if row is None:
        return ""
    if row["doubtful"]:
        return f"do not trust the picture: {row['doubtful']}"
    kept, chance = per_cent(row["key_recall"]), per_cent(row["key_recall_chance"])
    return f"the picture keeps {kept} of each query's top keys (chance {chance})"
