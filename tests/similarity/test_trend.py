import numpy as np
import pytest
from scipy import stats as scipy_stats

from lib.similarity import (
    distance_distribution,
    first_to_last,
    layer_trend,
    measure,
    rank_trend,
    similarity_distribution,
)
from lib.similarity.errors import SimilarityError
from lib.similarity.trend import layer_values


@pytest.fixture(scope="module")
def falling(made):
    """Five layers in which ever nearer tokens are alike, twelve documents of 40 tokens."""
    rng = np.random.default_rng(6)
    position = np.tile(np.arange(40), 12)
    z = np.stack(
        [rng.normal(size=(2, 40, 16))[:, position // width] for width in (40, 20, 13, 8, 5)]
    )  # alike in blocks
    z = z + 0.2 * rng.normal(size=z.shape)
    return measure(made(z, [40] * 12, sentence=np.tile(np.arange(40) // 10, 12)), top=0.1, kind="cosine")


def test_a_falling_distance_is_found(falling):
    trend = rank_trend(falling, "distance")
    assert trend.rho < -0.9
    assert trend.low <= trend.rho <= trend.high
    change, low, high = first_to_last(falling)
    assert low <= change <= high < 0
    assert rank_trend(falling, "same_sentence").rho > 0.8


def test_first_to_last_by_hand(made):
    # layer 0 selects the pair at distance 3, layer 1 the pair at distance 1
    z = np.zeros((2, 1, 8, 2))
    z[0, 0, [0, 3, 4, 7]] = [1, 0]
    z[1, 0, [1, 2, 5, 6]] = [1, 0]
    change, low, high = first_to_last(measure(made(z, [4, 4]), top=0.2))
    assert change == pytest.approx(1 / 3 - 1)
    assert (low, high) == pytest.approx((change, change))


def test_rho_is_scipys_and_its_null_is_that_of_all_orders(falling):
    values, chance = layer_values(falling, "distance")
    curve = values.sum(axis=0) / chance.sum(axis=0)
    trend = rank_trend(falling, "distance")
    assert trend.rho == pytest.approx(scipy_stats.spearmanr(np.arange(5), curve).statistic)
    exact = scipy_stats.permutation_test(
        (curve,),
        lambda x: scipy_stats.spearmanr(np.arange(5), x).statistic,
        permutation_type="pairings",
        n_resamples=999,
    )
    assert trend.p == pytest.approx((np.abs(exact.null_distribution) >= abs(trend.rho) - 1e-9).mean())
    assert trend.null[0] == pytest.approx(-trend.null[1])


def test_layers_without_a_trend_stay_within_the_null(random_corpus, made):
    rng = np.random.default_rng(2)
    trend = rank_trend(measure(made(rng.normal(size=(6, 4, 600, 8)), [30] * 20)), "distance")
    assert trend.null[0] < trend.rho < trend.null[1]
    assert np.isnan(rank_trend(measure(random_corpus), "distance").rho)  # two layers have no ranks to speak of


def test_one_document_with_pairs_bounds_no_trend(made):
    trend = rank_trend(measure(made(np.random.default_rng(7).normal(size=(6, 2, 31, 8)), [30, 1])), "distance")
    assert np.isfinite(trend.rho)
    assert np.isnan([trend.low, trend.high]).all()


def test_a_statistic_that_cannot_vary_has_no_trend(made):
    z = np.random.default_rng(5).normal(size=(6, 2, 150, 8))
    z[3:] = 1  # ties, whose shares add up to one but for rounding
    assert np.isnan(rank_trend(measure(made(z, [30] * 5, sentence=np.zeros(150))), "same_sentence").rho)


def test_every_statistic_of_every_layer_is_in_the_trend(falling):
    frame = layer_trend(falling)
    assert len(frame) == 5 * 7
    distance = frame[frame["statistic"] == "distance"]
    np.testing.assert_allclose(distance["lift"], distance["value"] / distance["chance"])
    assert (distance["low"] <= distance["value"]).all()
    with pytest.raises(SimilarityError, match="same_sentence"):
        layer_values(falling, "nothing")


def test_distances_are_probabilities_and_random_ones_are_chance(random_corpus):
    frame = distance_distribution(measure(random_corpus))
    for _, layer in frame.groupby("layer"):
        assert layer["similar"].sum() == pytest.approx(1)
        assert layer["chance"].sum() == pytest.approx(1)
        assert ((layer["low"] <= layer["chance"]) & (layer["chance"] <= layer["high"])).all()


def test_chance_of_a_bin_is_the_sum_of_its_distances(made):
    frame = distance_distribution(measure(made(np.random.default_rng(0).normal(size=(1, 1, 60, 4)))), bins=5)
    exact = np.array([0, *(2 * (60 - distance) / (60 * 59) for distance in range(1, 60))])  # of two distinct positions
    for row in frame.itertuples():
        assert row.chance == pytest.approx(exact[row.distance : row.last + 1].sum())
    assert frame["last"].iloc[-1] == 59


def test_similarities_are_distributed_where_they_are(made):
    rng = np.random.default_rng(1)
    measured = measure(made(rng.normal(size=(1, 3, 90, 400)), [30] * 3), kind="cosine")
    frame = similarity_distribution(measured)
    assert frame["share"].sum() == pytest.approx(1)
    mean = (frame["similarity"] * frame["share"]).sum()
    spread = np.sqrt(((frame["similarity"] - mean) ** 2 * frame["share"]).sum())
    assert mean == pytest.approx(0, abs=0.01)
    assert spread == pytest.approx(1 / np.sqrt(400), rel=0.05)


def test_one_layer_changes_nothing(made):
    assert np.isnan(first_to_last(measure(made(np.random.default_rng(0).normal(size=(1, 1, 30, 4)))))[0])
