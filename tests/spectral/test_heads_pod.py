import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.spectral import head_grams, heads_needed, keep_order, suggested_allocation, windows
from tests.spectral.synthetic import softmax_rows


def grams(patterns):
    """Gram matrices (doc, head, head) of patterns (doc, head, query_pos, key_pos)."""
    flat = patterns.reshape(*patterns.shape[:2], -1)
    return flat @ flat.transpose(0, 2, 1)


def heads(copies, seed=0, documents=5, length=12):
    """Patterns in which head h of a layer is the h-th of ``copies`` distinct ones."""
    scores = 3 * np.random.default_rng(seed).standard_normal((documents, max(copies) + 1, length, length))
    return softmax_rows(scores, causal=True)[:, copies]


def test_identical_heads_need_one():
    needed = heads_needed(grams(heads([0] * 8)))
    assert needed.estimate == needed.low == needed.high == 1


def test_independent_heads_are_all_needed():
    assert heads_needed(grams(heads(list(range(8)))), epsilon=0.01).estimate == 8


@pytest.mark.parametrize("distinct", [2, 3, 5])
def test_copies_add_nothing(distinct):
    copies = [h % distinct for h in range(10)]
    assert heads_needed(grams(heads(copies)), epsilon=0.001).estimate == distinct


def test_one_head_needs_one():
    assert heads_needed(grams(heads([0]))).estimate == 1


def test_needed_equals_the_svd_of_the_centred_heads():
    patterns = heads(list(range(6)), seed=4)
    flat = patterns.reshape(5, 6, -1)
    expected = []
    for document in flat - flat.mean(axis=1, keepdims=True):
        energy = np.linalg.svd(document, compute_uv=False) ** 2
        share = 1 - np.cumsum(energy) / energy.sum()
        expected.append(1 + 1 + np.argmax(share <= 0.1 + 1e-12))
    assert heads_needed(grams(patterns)).estimate == pytest.approx(np.mean(expected))


def test_a_worked_example():
    # two heads about their mean: one direction, so one mode beside the mean
    needed = heads_needed(np.array([[[2.0, 0.0], [0.0, 2.0]]] * 3))
    assert needed.estimate == 2


def test_heads_to_keep_come_in_order_of_what_they_add():
    order = keep_order(grams(heads([0, 0, 1, 2, 2])))
    assert sorted(order) == [0, 1, 2, 3, 4]
    assert {min(h, 1) if h < 2 else (2 if h == 2 else 3) for h in order[:3]} in ({0, 2, 3}, {1, 2, 3})


def test_allocation_adds_up_follows_need_and_leaves_no_layer_empty():
    given = suggested_allocation([1.0, 2.0, 5.0], heads=8, total=12)
    assert given.sum() == 12 and given.min() >= 1 and (np.diff(given) >= 0).all()
    assert suggested_allocation([3.2, 4.0], heads=8).sum() == 8
    np.testing.assert_array_equal(suggested_allocation([1.0, 1.0], heads=4, total=2), [1, 1])


def test_impossible_allocations_are_refused():
    with pytest.raises(HeadlightError, match="at least one head"):
        suggested_allocation([1.0, 1.0, 1.0], heads=4, total=2)
    with pytest.raises(HeadlightError, match="positive"):
        suggested_allocation([1.0, np.nan], heads=4)


def test_grams_of_a_real_model(minilm, documents):
    cut = windows(documents, minilm, 32, 4)
    found = head_grams(minilm, cut, layers=[1, 4])
    assert found.layers == (1, 4) and found.pattern.shape == found.z.shape == (2, 4, 12, 12)
    for evidence in ("pattern", "z"):
        needed = heads_needed(found.of(4, evidence))
        assert 2 <= needed.estimate <= 12
    with pytest.raises(HeadlightError, match="layer among"):
        found.of(2)


def test_grams_equal_those_of_the_patterns(minilm, documents):
    from lib.capture import pattern

    cut = windows(documents, minilm, 32, 3)
    found = head_grams(minilm, cut, layers=[2])
    whole = np.asarray(pattern(minilm, cut[1], layers=[2]))[0].reshape(12, -1)
    np.testing.assert_allclose(found.of(2)[1], whole @ whole.T, rtol=1e-5)
