import numpy as np
import pytest
from scipy import stats

from lib.errors import HeadlightError
from lib.spectral import (
    Field,
    compare_centroids,
    compare_complexity,
    compare_profiles,
    compare_scalograms,
    lag_profile,
    lag_scalogram,
    paired_t,
    snapshot_pod,
)
from tests.spectral.synthetic import noise_field, planted, planted_modes


def noise(seed, documents=40, length=64, scale=1.0):
    return Field(scale * np.tril(np.random.default_rng(seed).standard_normal((documents, length, length))))


def test_a_model_does_not_differ_from_itself():
    scalogram = lag_scalogram(noise_field(20, 64))
    difference = compare_scalograms(scalogram, scalogram)
    for interval in (difference.scale, difference.total):
        assert (interval.estimate == 0).all() and (interval.low == 0).all() and (interval.high == 0).all()
    assert np.nanmax(np.abs(difference.share.estimate)) == 0


def test_two_draws_of_one_noise_do_not_differ():
    difference = compare_scalograms(lag_scalogram(noise(0)), lag_scalogram(noise(1)))
    cone = np.isnan(difference.share.estimate)
    assert not difference.share.excludes(0)[~cone].any()
    assert not difference.scale.excludes(0).any()


def test_a_factor_shows_in_the_total_and_not_in_the_shares():
    first, second = lag_scalogram(noise(0)), lag_scalogram(noise(0, scale=3.0))
    difference = compare_scalograms(first, second)
    assert difference.total.estimate == pytest.approx(np.log(9), rel=1e-4)
    assert np.nanmax(np.abs(difference.share.estimate)) < 1e-4


def test_the_total_is_the_scalograms_and_not_the_whole_fluctuations():
    first = noise(0)
    louder = first.pattern.copy()
    louder[:, :32] *= 3  # rows that do not see half of the lags
    second = Field(louder)
    difference = compare_scalograms(lag_scalogram(first), lag_scalogram(second))
    assert difference.total.estimate == pytest.approx(0, abs=1e-6)
    assert (second.fluctuation**2).sum() > 2 * (first.fluctuation**2).sum()


def test_centroids_differ_as_the_profiles_do():
    one, two = lag_profile(noise(0)), lag_profile(noise(1))
    difference = compare_centroids(one, two)
    assert difference.estimate == pytest.approx(two.centroid - one.centroid)
    assert difference.low <= 0 <= difference.high  # two draws of one noise
    same = compare_centroids(one, one)
    assert (same.low, same.estimate, same.high) == (0, 0, 0)
    weighted = noise(0).pattern * np.exp(-0.05 * np.subtract.outer(np.arange(64), np.arange(64)))
    nearer = compare_centroids(one, lag_profile(weighted))
    assert nearer.high < -1 and nearer.documents == 40


def test_energy_moved_to_one_scale_is_found_there():
    plain = noise(0, length=128)
    lag = np.subtract.outer(np.arange(128), np.arange(128))
    phase = np.random.default_rng(5).uniform(0, 6.28, (40, 1, 1))
    wave = np.where(lag >= 0, np.cos(2 * np.pi * lag / 10 + phase), 0)
    difference = compare_scalograms(lag_scalogram(plain), lag_scalogram(plain.pattern + 0.5 * wave))
    scale = difference.scales[np.nanargmax(difference.scale.estimate)]
    assert scale == pytest.approx(9.55, rel=0.1)
    assert difference.scale.low.max() > 0 and difference.scale.high.min() < 0


def test_the_cone_is_left_out():
    scalogram = lag_scalogram(noise(0))
    difference = compare_scalograms(scalogram, lag_scalogram(noise(1)))
    np.testing.assert_array_equal(np.isnan(difference.share.estimate), scalogram.cone)


def test_profiles_by_share():
    near = lag_profile(planted(lambda lag, _: np.exp(-lag / 3), noise=0.01))
    far = lag_profile(planted(lambda lag, _: np.exp(-0.5 * ((lag - 20) / 4) ** 2), noise=0.01))
    ratio = compare_profiles(near, far)
    assert ratio.high[0] < 0 < ratio.low[20]
    twice = lag_profile(Field(2 * noise(0).pattern))
    np.testing.assert_allclose(compare_profiles(lag_profile(noise(0)), twice).estimate, 0, atol=1e-6)


def test_complexity_of_two_models():
    shallow = snapshot_pod(planted_modes(20, np.arange(1.0, 21) ** -0.5)[0])
    steep = snapshot_pod(planted_modes(20, np.arange(1.0, 21) ** -2)[0])
    difference = compare_complexity([steep, steep], [shallow, steep], draws=40)
    for name, interval in difference.items():
        assert interval.low[0] > 0, name
        assert interval.estimate[1] == interval.low[1] == 0, name


@pytest.mark.parametrize(
    "call",
    [
        lambda: compare_scalograms(lag_scalogram(noise(0, 5)), lag_scalogram(noise(0, 6))),
        lambda: compare_scalograms(lag_scalogram(noise(0, 5)), lag_scalogram(noise(0, 5), [3, 4])),
        lambda: compare_profiles(lag_profile(noise(0, 5)), lag_profile(noise(0, 6))),
        lambda: compare_complexity([snapshot_pod(noise(0, 5))], [snapshot_pod(noise(0, 6))]),
    ],
)
def test_other_windows_are_refused(call):
    with pytest.raises(HeadlightError, match="same windows"):
        call()


def test_paired_t_is_students():
    differences = np.array([[0.12, -1], [0.09, 2], [0.11, 0.5]])
    interval = paired_t(differences)
    for cell in range(2):
        expected = stats.ttest_1samp(differences[:, cell], 0).confidence_interval(0.95)
        assert (interval.low[cell], interval.high[cell]) == pytest.approx((expected.low, expected.high))
    assert np.isnan(paired_t(differences[:1]).low).all()
