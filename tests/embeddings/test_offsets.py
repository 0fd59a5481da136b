"""Attention by offset and the induction probe, on planted patterns and a real model."""

import numpy as np
import pytest

from lib.embeddings import EmbeddingError, Offsets, induction_of, offsets_of
from lib.embeddings.offsets import REACH, _measured


def at(n, *lags):
    """A pattern with equal mass at some lags, where they exist."""
    pattern = sum(np.eye(n, k=-lag) for lag in lags)
    return pattern / np.maximum(pattern.sum(axis=1, keepdims=True), 1)


def measured(heads, documents=6, n=40):
    """Offsets of planted heads (pattern of each), with a little of every key."""
    rng = np.random.default_rng(0)
    mass, first = [], []
    for _ in range(documents):
        noise = rng.uniform(0, 0.3, size=(len(heads), n, n))
        pattern = np.stack([head + 1e-6 for head in heads]) + noise / n
        found = _measured(pattern / pattern.sum(axis=2, keepdims=True), np.ones(n, bool))
        mass.append(found[0][None])
        first.append(found[1][None])
    chance = np.full((documents, 2 * REACH + 1), 1 / n)
    return Offsets(np.stack(mass), chance, np.stack(first), np.full(documents, 1 / n), (3,))


def test_worked_example():
    """Rows 1–3 of a previous-token head put all mass on lag 1; position 0 gets it from row 1 alone."""
    mass, first = _measured(at(4, 1)[None], np.ones(4, bool))
    assert mass[0, REACH + 1] == 1
    assert mass[0, REACH] == 0
    assert np.isnan(mass[0, REACH + 4])
    assert first[0] == pytest.approx(1 / 3)


def test_one_offset_is_a_spiral_and_several_are_clumps():
    n = 40
    found = measured([at(n, 1), at(n, -1), at(n, 2, 5, 9), at(n, 0), np.full((n, n), 1 / n)], n=n).table()
    assert found["count"].tolist() == [1, 1, 3, 1, 0]
    assert found.offsets.tolist() == ["-1", "+1", "-2, -5, -9", "0", ""]
    assert found["shape"].tolist() == [
        "one offset: a spiral", "one offset: a spiral", "3 offsets: clumps", "itself: queries on their keys",
        "no fixed offset",
    ]  # fmt: skip
    assert found.layer.unique() == [3]
    assert found.largest[0] > 0.8


def test_special_rows_do_not_count():
    rows = np.array([False, True, True, True])
    pattern = at(4, 1)
    pattern[1] = [0, 1, 0, 0]
    mass, _ = _measured(pattern[None], rows)
    assert mass[0, REACH] == pytest.approx(1 / 3)
    nothing, first = _measured(pattern[None], np.zeros(4, bool))
    assert np.isnan(nothing).all()
    assert np.isnan(first).all()


def test_real_offsets_are_means_over_the_pattern(minilm, articles):
    from lib.capture import pattern

    found = offsets_of(minilm, articles[:2])
    whole = pattern(minilm, articles[1])
    own = whole[4, 7, 2:-1]  # rows 1 … n−2 are ordinary; the first of them has no ordinary row before it
    lag_1 = np.array([own[i, i + 1] for i in range(len(own))])
    before = whole[4, 7, 1, 0]
    assert found.mass[1, 4, 7, REACH + 1] == pytest.approx((lag_1.sum() + before) / (len(own) + 1), rel=1e-4)
    assert found.first[1, 4, 7] == pytest.approx(whole[4, 7, 1:-1, 0].mean(), rel=1e-4)
    assert found.first_chance[1] == pytest.approx(1 / whole.shape[2])
    np.testing.assert_allclose(found.chance[0], 1 / len(articles[0].table), atol=1e-9)
    assert found.layers == tuple(range(6))
    assert found.on_itself.shape == (2, 6, 12)
    with pytest.raises(EmbeddingError, match="cross-attention"):
        offsets_of(minilm, articles[:1], stream="cross")


def test_causal_chance_counts_the_keys_a_row_sees():
    from lib.embeddings.offsets import _Keeper

    class Table:
        is_special = np.zeros(3, bool)

        def __len__(self):
            return 3

    uniform, rows = _Keeper([Table()], causal=True).uniform(0)
    mass, first = _measured(uniform[None], rows)
    assert mass[0, REACH] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    assert first[0] == pytest.approx((1 / 2 + 1 / 3) / 2)


def test_the_probe_finds_a_planted_copying_head_and_its_direction():
    from lib.capture import Block
    from lib.embeddings.induction import _Keeper, _repeat

    length, n = 6, 14

    class Table:
        is_special = np.isin(np.arange(n), [0, n - 1])

    rows = _repeat(Table(), length)
    np.testing.assert_array_equal(rows, np.arange(8, 13))
    pattern = np.stack([at(n, length - 1), at(n, length + 1), np.full((n, n), 1 / n)])
    keeper = _Keeper(1, [rows], length)
    keeper.see(Block(2, "self", 0, pattern=pattern))
    np.testing.assert_allclose(keeper.found[2][:, 0], [[1, 0, 1 / n], [0, 1, 1 / n]])


def test_the_probe_runs_on_a_real_model(minilm):
    found = induction_of(minilm, length=8, sequences=2)
    assert found.after.shape == found.before.shape == (2, 6, 12)
    np.testing.assert_allclose(found.chance, 1 / 18)
    assert ((found.after >= 0) & (found.after <= 1)).all()
