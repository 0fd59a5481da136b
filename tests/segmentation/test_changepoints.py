"""Change points against exhaustive search, and what noise must not show."""

from itertools import combinations, pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist, squareform

from lib.segmentation.changepoints import best_cut, best_totals, chosen_number, cut_into, segment_gains
from lib.segmentation.errors import SegmentationError
from lib.segmentation.topics import boundary_posterior, cut_rows, kernel_rows


def all_cuts(n, shortest, longest):
    for k in range(n):
        for cuts in combinations(range(1, n), k):
            lengths = np.diff([0, *cuts, n])
            if lengths.min() >= shortest and lengths.max() <= longest:
                yield cuts


def total(vectors, cuts, power=0.8):
    """Σ over segments of the kernel's sum / length^power, from the definition."""
    kernel, edges = vectors @ vectors.T, [0, *cuts, len(vectors)]
    return sum(kernel[a:b, a:b].sum() / (b - a) ** power for a, b in pairwise(edges))


@pytest.mark.parametrize(("shortest", "longest"), [(1, 9), (2, 9), (2, 4)])
def test_the_best_cut_is_that_of_exhaustive_search(shortest, longest):
    rng = np.random.default_rng(2)
    vectors = rng.normal(size=(9, 3))
    gains = segment_gains(vectors, shortest, longest)
    penalty = 1.5
    every = {cuts: total(vectors, cuts) for cuts in all_cuts(9, shortest, longest)}
    best = max(every, key=lambda cuts: every[cuts] - penalty * (len(cuts) + 1))
    assert tuple(best_cut(gains, penalty)) == best
    totals, _ = best_totals(gains, 4)
    for k in (1, 2, 3, 4):
        fitting = {cuts: value for cuts, value in every.items() if len(cuts) == k - 1}
        if fitting:
            assert tuple(cut_into(gains, k)) == max(fitting, key=fitting.get)
            assert totals[k - 1] == pytest.approx(max(fitting.values()))
        else:
            assert totals[k - 1] == -np.inf


def test_the_posterior_is_that_of_summing_over_all_cuts():
    rng = np.random.default_rng(3)
    vectors, penalty = rng.normal(size=(7, 2)), 1.2
    weights = {c: np.exp(10 * (total(vectors, c) - penalty * (len(c) + 1)) / penalty) for c in all_cuts(7, 2, 7)}
    expected = [sum(w for c, w in weights.items() if g in c) / sum(weights.values()) for g in range(1, 7)]
    assert boundary_posterior(segment_gains(vectors, 2, 7), penalty) == pytest.approx(expected, abs=1e-9)


def test_planted_topics_come_back_and_shuffled_ones_do_not():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(4, 40))
    label = np.repeat([0, 1, 2, 3], [8, 5, 9, 6])
    vectors = centres[label] + 0.4 * rng.normal(size=(28, 40))
    found = cut_rows(kernel_rows({"z": vectors}, "z"))
    assert found.cuts.tolist() == [8, 13, 22]
    assert (found.posterior[[7, 12, 21]] > 0.8).all()
    assert np.delete(found.posterior, [7, 12, 21]).max() < 0.3
    assert cut_rows(kernel_rows({"z": vectors}, "z"), segments=4).cuts.tolist() == [8, 13, 22]
    order = rng.permutation(28)
    shuffled = cut_rows(kernel_rows({"z": vectors[order]}, "z"))
    assert shuffled.posterior.mean() < 0.3


def test_a_gain_by_hand():
    gains = segment_gains(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]))
    assert gains.table[0, 1] == pytest.approx(4 / 2**0.8)  # two equal rows
    assert gains.table[1, 1] == pytest.approx(2 / 2**0.8)  # two orthogonal ones
    assert gains.table[2, 1] == -np.inf  # beyond the end


def test_more_segments_than_units_are_refused():
    gains = segment_gains(np.eye(4), shortest=2)
    with pytest.raises(SegmentationError, match=r"1 … 2 segments"):
        cut_into(gains, 3)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
def test_very_short_texts(n):
    found = cut_rows(np.eye(max(n, 1))[:n])
    assert found.cuts.tolist() == []
    assert found.posterior.shape == (max(0, n - 1),)


def test_equal_units_are_not_cut():
    assert chosen_number(np.ones((12, 3)), 3).penalty == 0.0
    assert cut_rows(np.ones((12, 3))).cuts.tolist() == []


def test_a_long_text_is_cut_where_its_stretches_are():
    rng = np.random.default_rng(1)
    centres = rng.normal(size=(60, 40))
    label = np.repeat(np.arange(60), 12)  # 720 units: more than one stretch
    rows = kernel_rows({"z": centres[label] + 0.5 * rng.normal(size=(720, 40))}, "z", dimensions=40)
    found = cut_rows(rows).cuts
    assert len(np.intersect1d(found, np.arange(12, 720, 12))) > 50
    assert len(found) < 70


def test_the_penalty_of_the_chosen_number_gives_that_number():
    rng = np.random.default_rng(4)
    rows = kernel_rows({"z": np.repeat(rng.normal(size=(5, 30)), 7, axis=0) + 0.5 * rng.normal(size=(35, 30))}, "z")
    chosen = chosen_number(rows, 3)
    assert chosen.segments == 5
    assert len(best_cut(segment_gains(rows, 3), chosen.penalty)) == 4


@pytest.mark.parametrize("sentences", [6, 80])
def test_rows_have_the_products_of_the_kernel_whichever_side_is_smaller(sentences):
    vectors = np.random.default_rng(5).normal(size=(sentences, 20))
    centred = vectors - vectors.mean(axis=0)
    unit = centred / np.linalg.norm(centred, axis=1, keepdims=True)
    rows = kernel_rows({"z": vectors}, "z", dimensions=20)
    assert rows @ rows.T == pytest.approx(unit @ unit.T, abs=1e-8)


def test_few_topics_in_a_long_text():
    rng = np.random.default_rng(6)
    vectors = np.repeat(rng.normal(size=(2, 10)), [500, 450], axis=0) + 0.3 * rng.normal(size=(950, 10))
    rows = kernel_rows({"z": vectors}, "z")
    assert cut_rows(rows, segments=2).cuts.tolist() == [500]
    assert cut_rows(rows, segments=1).cuts.tolist() == []


def test_a_long_text_tells_how_far_it_is_and_can_be_left():
    rows = np.random.default_rng(0).normal(size=(700, 3))
    told = []
    cut_rows(rows, progress=lambda done, total, stage: told.append((done, total, stage)))
    assert told == [(n, 3, "finding how often the topic changes") for n in range(3)]
    told.clear()
    cut_rows(rows, segments=5, progress=lambda done, total, stage: told.append((done, total, stage)))
    assert told[3:] == [(n, 5, "placing changes of topic") for n in range(5)]

    def leave(done, total, stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cut_rows(rows, progress=leave)


def test_rows_of_two_features_are_a_weighted_sum_of_cosines():
    rng = np.random.default_rng(7)
    vectors = {"z": rng.normal(size=(9, 30)).astype(np.float32), "hidden": rng.normal(size=(9, 20)).astype(np.float32)}
    kernel = np.zeros((9, 9))
    for name, share in (("z", 0.5), ("hidden", 1.0)):
        centred = vectors[name].astype(np.float64) - vectors[name].mean(axis=0, dtype=np.float64)
        kernel += share * (1 - squareform(pdist(centred, "cosine")))
    rows = kernel_rows(vectors, "z+hidden", dimensions=9)
    length = np.sqrt(np.diag(kernel))
    assert_allclose(rows @ rows.T, kernel / np.outer(length, length), atol=1e-9)
