import sys

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from lib.capture import pattern
from lib.corpora import encode, encode_ids, from_text
from lib.heads.likeness import heads_like, leaf_order, likeness, pattern_likeness, redundancy_groups
from lib.models import Engine
from tests.capture.families import tiny
from tests.heads.planted import random_pattern

module = sys.modules["lib.heads.likeness"]


def test_js_by_hand():
    # rows (1, 0), (0, 1), (1/2, 1/2): apart as far as can be: √ln 2; and √(¾·ln(4/3) + …) = 0.4645
    rows = np.array([[[1, 0]], [[0, 1]], [[0.5, 0.5]]])
    got = pattern_likeness(rows, "js")
    assert got[0, 1] == pytest.approx(np.sqrt(np.log(2)))
    middle = np.array([0.75, 0.25])
    divergence = -(middle @ np.log(middle)) - np.log(2) / 2
    assert got[0, 2] == pytest.approx(np.sqrt(divergence)) == pytest.approx(0.4645, abs=1e-4)
    np.testing.assert_allclose(pattern_likeness(rows, "hellinger")[0], [0, 1, 1 - np.sqrt(0.5)], atol=1e-7)


@pytest.mark.parametrize("kind", ["js", "hellinger"])
def test_every_pair_equals_the_oracle(kind, monkeypatch):
    monkeypatch.setattr(module, "CELLS", 300)
    rows = random_pattern(np.random.default_rng(0), 5, np.tri(12, dtype=bool))
    rows[4] = rows[1]
    got = pattern_likeness(rows, kind)
    for a in range(5):
        for b in range(5):
            p, q = rows[a].astype(float), rows[b].astype(float)
            pairs = zip(p, q, strict=True)
            distance = (
                [np.nan_to_num(jensenshannon(x, y)) for x, y in pairs]
                if kind == "js"
                else [((np.sqrt(x) - np.sqrt(y)) ** 2).sum() / 2 for x, y in pairs]
            )
            assert got[a, b] == pytest.approx(np.mean(distance), abs=1e-6)
    np.testing.assert_array_equal(got, got.T)


@pytest.mark.parametrize("kind", ["js", "hellinger"])
def test_a_corpus_equals_its_patterns_end_to_end(minilm, articles, kind, monkeypatch):
    documents = [*from_text("Rivers run to the sea."), *from_text("Cats sleep, and dogs do not.")]
    rows = [pattern(minilm, document).reshape(72, -1, len(encode(document, minilm).table)) for document in documents]
    width = max(part.shape[2] for part in rows)
    padded = [np.pad(part, ((0, 0), (0, 0), (0, width - part.shape[2]))) for part in rows]
    expected = pattern_likeness(np.concatenate(padded, axis=1), kind)
    got = likeness(minilm, documents, kind)
    np.testing.assert_allclose(got, expected, atol=1e-6)
    monkeypatch.setattr(module, "BYTES", 72 * 4 * 8 * 2048)  # so that each is read alone
    np.testing.assert_allclose(likeness(minilm, documents, kind), expected, atol=1e-6)


def test_a_sample_of_rows_says_nearly_what_all_say(monkeypatch):
    engine = Engine.from_parts(tiny("gpt2"))
    rng = np.random.default_rng(1)
    documents = [encode_ids(rng.integers(3, 40, size), engine) for size in (70, 50, 60)]
    sampled = module._sample([(70, 70), (50, 50), (60, 60)], rows=90)
    assert sum(map(len, sampled)) == 90 and [len(rows) for rows in sampled] == [35, 25, 30]
    assert all((rows >= 0).all() and (rows < size).all() for rows, size in zip(sampled, (70, 50, 60), strict=True))
    whole = likeness(engine, documents)
    monkeypatch.setattr(module, "ROWS", 90)
    part = likeness(engine, documents)
    assert 0 < np.abs(part - whole).max() < 0.05


def test_like_heads_are_found_and_grouped():
    rng = np.random.default_rng(2)
    base = random_pattern(rng, 3, np.ones((10, 10), bool))
    rows = np.concatenate([base, base[::-1] * 0.9 + 0.01, base[:1]])  # 0, 5 and 6 alike; 1 and 4; 2 and 3
    distances = pattern_likeness(rows)
    assert redundancy_groups(distances, 0.2) == [[0, 5, 6], [1, 4], [2, 3]]
    assert redundancy_groups(distances, 1e-6) == [[0, 6]]
    order = leaf_order(distances).tolist()
    assert sorted(order) == list(range(7)) and abs(order.index(1) - order.index(4)) == 1
    nearest = heads_like(distances, 7, 0, 0)
    assert nearest["head"].tolist()[:2] == [6, 5] and nearest.distance.is_monotonic_increasing


def test_minilm_has_heads_that_do_the_same(minilm, articles):
    distances = likeness(minilm, articles[:2])
    assert distances.shape == (72, 72) and (np.diag(distances) == 0).all()
    assert 0 < distances[np.triu_indices(72, 1)].min() < distances.max() <= np.sqrt(np.log(2))
    previous, following = 2, 12 + 8  # L0 H2 and L1 H8 look in opposite directions
    assert distances[previous, following] > np.median(distances[previous])


def test_unknown_kinds(minilm):
    with pytest.raises(ValueError, match="js"):
        likeness(minilm, from_text("Hi"), kind="cosine")
