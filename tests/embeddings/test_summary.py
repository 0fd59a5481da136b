"""One sentence per head."""

import pandas as pd

from lib.embeddings import head_sentences


def orders(*rows):
    columns = ["layer", "head", "attribute", "strength", "ordered"]
    return pd.DataFrame(rows, columns=columns)


def test_worked_example():
    found = head_sentences(
        orders((1, 2, "position", 0.97, True), (1, 2, "norm", 0.6, True), (1, 2, "identity", 0.99, False)),
        pd.DataFrame([{"layer": 1, "head": 2, "count": 1, "offsets": "-1"}]),
        pd.DataFrame([{"layer": 1, "head": 2, "correlation": -0.94}]),
        pd.DataFrame([{"layer": 1, "head": 2, "doubtful": "", "key_recall": 0.62, "key_recall_chance": 0.08}]),
    )
    assert found == {
        (1, 2): "L1 H2: ordered by position (0.97 of perfect), then by length of the vector (0.60); attends to the "
        "previous token: a spiral or a line; distance stands for attention (−0.94); the picture keeps 62 % of each "
        "query's top keys (chance 8 %)."
    }


def test_nothing_found_is_said():
    found = head_sentences(
        orders((0, 0, "position", float("nan"), False)),
        pd.DataFrame([{"layer": 0, "head": 0, "count": 0, "offsets": ""}]),
        pd.DataFrame([{"layer": 0, "head": 0, "correlation": float("nan")}]),
        pd.DataFrame([{"layer": 0, "head": 0, "doubtful": "points drawn near are often not near (…)"}]),
    )
    assert found[0, 0] == (
        "L0 H0: no known attribute orders it; attends to no fixed offset; do not trust the picture: points drawn near "
        "are often not near (…)."
    )


def test_offsets_of_patches_are_neighbours_on_the_grid():
    table = orders((0, 0, "hue", 0.9, True))
    for offsets, says in (
        ("+1", "the patch to the right."),
        ("-16", "the patch above."),
        ("0, +16", "the patch itself and the patch below."),
        ("-3", "offset −3."),
    ):
        given = pd.DataFrame([{"layer": 0, "head": 0, "count": offsets.count(",") + 1, "offsets": offsets}])
        assert head_sentences(table, given, image=True, columns=16)[0, 0].endswith(says)


def test_kinds_of_heads_are_named():
    table = orders((0, 0, "frequency", 0.8, True))
    assert "spatial frequency" in head_sentences(table, image=True)[0, 0]
    assert "by frequency" in head_sentences(table)[0, 0]
    for offsets, count, says in (
        ("0", 1, "the token itself"),
        ("+3", 1, "offset +3"),
        ("-1, -2", 2, "2 offsets (−1, −2): clumps"),
    ):
        given = pd.DataFrame([{"layer": 0, "head": 0, "count": count, "offsets": offsets}])
        assert says in head_sentences(table, given)[0, 0]
    for rho, says in ((-0.8, "mostly follows"), (-0.3, "only loosely")):
        given = pd.DataFrame([{"layer": 0, "head": 0, "correlation": rho}])
        assert says in head_sentences(table, distance=given)[0, 0]
