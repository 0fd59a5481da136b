import numpy as np
import pytest
from scipy import stats as scipy_stats

from lib import stats


def test_same_group_chance_against_counting_every_pair():
    groups = np.random.default_rng(3).integers(-1, 4, size=40)
    i, j = np.triu_indices(40, 1)
    counted = np.mean((groups[i] == groups[j]) & (groups[i] >= 0))
    assert stats.same_group_chance(groups) == pytest.approx(counted)


def test_undefined_cells_do_not_count():
    values = np.array([[1.0, np.nan], [3.0, 5.0], [np.nan, np.nan]])
    np.testing.assert_allclose(stats.weighted_mean(values), [2.0, 5.0])
    assert np.isnan(stats.weighted_mean(np.full((2, 1), np.nan)))[0]


def test_percentile_interval_agrees_with_scipy():
    values = np.random.default_rng(0).exponential(size=60)
    ours = stats.bootstrap_mean(values, draws=20_000, seed=1)
    theirs = scipy_stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=2
    ).confidence_interval
    assert ours.low == pytest.approx(theirs.low, abs=0.015)
    assert ours.high == pytest.approx(theirs.high, abs=0.015)


def test_simultaneous_intervals_cover_all_cells_together():
    rng = np.random.default_rng(11)
    covered_all = covered_single = 0
    for trial in range(100):
        values = rng.normal(size=(80, 50))
        together = stats.bootstrap_mean(values, simultaneous=True, draws=400, seed=trial)
        each = stats.bootstrap_mean(values, draws=400, seed=trial)
        covered_all += not together.excludes(0.0).any()
        covered_single += not each.excludes(0.0).any()
    assert covered_all >= 87  # 95 expected; 87 is below the binomial 0.1 % point
    assert covered_single <= 40  # 50 single 95 % intervals rarely all hold: the converse


def test_one_document_has_no_interval():
    interval = stats.bootstrap_mean(np.array([[1.0, 2.0]]))
    np.testing.assert_allclose(interval.estimate, [1.0, 2.0])
    assert np.isnan(interval.low).all()


@pytest.mark.parametrize("simultaneous", [False, True])
def test_a_cell_defined_by_one_document_has_no_interval(simultaneous):
    values = np.full((20, 2), np.nan)
    values[3, 0] = 0.7
    values[:, 1] = np.random.default_rng(1).normal(size=20)
    interval = stats.bootstrap_mean(values, simultaneous=simultaneous)
    assert interval.estimate[0] == pytest.approx(0.7)
    assert np.isnan([interval.low[0], interval.high[0]]).all()
    assert interval.low[1] < interval.estimate[1] < interval.high[1]
    np.testing.assert_array_equal(interval.documents, [1, 20])


def test_spearman_of_constant_is_undefined():
    assert np.isnan(stats.spearman(np.ones(5), np.arange(5)))
    assert stats.spearman(np.arange(5), np.arange(5) ** 3) == pytest.approx(1.0)


def test_shapes_are_named_in_errors():
    with pytest.raises(ValueError, match="document axis"):
        stats.bootstrap_mean(np.ones((4, 2)), weights=np.ones(3))
