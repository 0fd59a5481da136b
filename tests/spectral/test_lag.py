import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.spectral import Field, band_centres, band_width, lag_bands, lag_profile, lag_window
from lib.spectral.lag import lag_energy, lag_rows
from tests.spectral.synthetic import lag_of, noise_field, planted


@pytest.mark.parametrize("length", [8, 9])
@pytest.mark.parametrize("ahead", [False, True])
def test_rows_are_read_along_the_lag(length, ahead):
    pattern = np.random.default_rng(0).standard_normal((2, length, length))
    rows = lag_rows(pattern, ahead)
    half = length // 2
    assert rows.shape == (2, half, half)
    for r in range(half):
        i = half - 1 - r if ahead else length - half + r
        expected = [pattern[1, i, i + t if ahead else i - t] for t in range(half)]
        np.testing.assert_array_equal(rows[1, r], expected)
    assert np.shares_memory(rows, pattern)


def test_lag_energy_equals_the_sum_over_each_diagonal():
    squares = np.random.default_rng(0).random((3, 6, 6))
    sums, cells = lag_energy(squares, causal=False)
    for index, lag in enumerate(range(-5, 6)):
        diagonal = np.diagonal(squares, -lag, axis1=1, axis2=2)
        np.testing.assert_allclose(sums[:, index], diagonal.sum(axis=1))
        assert cells[index] == diagonal.shape[1]
    past, _ = lag_energy(squares, causal=True)
    np.testing.assert_allclose(past, sums[:, 5:])


def test_a_profile_checked_by_hand():
    # two patterns of two documents that differ by ±1 at lag 1 and by ±3 at lag 0: u² = 1 and 9
    pattern = np.zeros((2, 4, 4))
    lag = lag_of(4)
    pattern[0][lag == 1], pattern[1][lag == 1] = 2, 0
    pattern[0][lag == 0], pattern[1][lag == 0] = 0, 6
    profile = lag_profile(Field(pattern))
    np.testing.assert_allclose(profile.mean, [9, 1, 0, 0])
    assert profile.centroid == pytest.approx(1 / 10)


def test_a_planted_band_shows_in_a_causal_profile_at_its_lag():
    field = planted(lambda lag, _: np.exp(-0.5 * ((lag - 12) / 2) ** 2), length=64)
    profile = lag_profile(field)
    assert field.causal and profile.lags[0] == 0
    assert profile.lags[profile.mean.argmax()] == 12
    assert profile.centroid == pytest.approx(12, abs=0.1)


def test_a_bidirectional_profile_is_signed():
    field = planted(lambda lag, _: np.exp(-0.5 * ((lag + 9) / 2) ** 2), causal=False)
    profile = lag_profile(field)
    assert profile.lags[profile.mean.argmax()] == -9  # the key lies ahead of the query
    assert profile.centroid == pytest.approx(9, abs=0.2)


def test_the_centroid_of_no_fluctuation_is_undefined():
    assert np.isnan(lag_profile(Field(np.ones((3, 8, 8)))).centroid)


def test_the_centroid_has_an_interval_over_documents():
    profile = lag_profile(noise_field())
    interval = profile.centroid_interval()
    assert interval.low < profile.centroid < interval.high


def test_windows_by_kind():
    lag = lag_of(32)
    np.testing.assert_allclose(lag_window(32, 8, 2), np.exp(-((np.abs(lag) - 8) ** 2) / 8))
    np.testing.assert_allclose(lag_window(32, 0, 5, "lowpass"), np.exp(-(lag**2) / 50))
    np.testing.assert_allclose(lag_window(32, -8, 2, "signed"), np.exp(-((lag + 8) ** 2) / 8))
    band = lag_window(32, 8, 2)
    assert band[20, 12] == band[12, 20] == 1  # eight back and eight ahead
    signed = lag_window(32, 8, 2, "signed")
    assert signed[20, 12] == 1 and signed[12, 20] < 1e-10


@pytest.mark.parametrize("centres", [[2, 8, 20], [5], [1, 60], [-10, 0, 10]])
def test_a_partition_adds_up_to_the_whole_field(centres):
    bands = lag_bands(128, centres, partition=True)
    assert np.isfinite(bands).all() and (bands >= 0).all()
    np.testing.assert_allclose(bands.sum(axis=0), 1, atol=1e-12)
    field = noise_field(4, 128).pattern.astype(np.float64)
    np.testing.assert_allclose((bands[:, None] * field).sum(axis=0), field, atol=1e-12)


def test_bands_of_a_partition_do_not_add_up_in_energy():
    bands, field = lag_bands(64, [2, 8, 20], partition=True), noise_field().fluctuation
    energies = ((bands[:, None] * field) ** 2).sum(axis=(1, 2, 3))
    assert energies.sum() < 0.99 * (field**2).sum()


def test_bands_have_a_quarter_of_their_lag_as_width_and_at_least_one_token():
    assert [band_width(c) for c in (0, 2, 4, 20, -20)] == [1, 1, 1, 5, 5]
    np.testing.assert_array_equal(lag_bands(64, [2, 20])[1], lag_window(64, 20, 5))


def test_a_negative_centre_makes_all_bands_signed():
    np.testing.assert_array_equal(lag_bands(64, [-8, 8])[1], lag_window(64, 8, 2, "signed"))


@pytest.mark.parametrize("bad", [{"kind": "box"}, {"width": 0}, {"width": -1}, {"centre": 64}, {"centre": -3}])
def test_windows_that_cannot_be_are_refused(bad):
    with pytest.raises(HeadlightError):
        lag_window(**{"length": 64, "centre": 8, "width": 2, "kind": "band"} | bad)


@pytest.mark.parametrize("centres", [[], [np.nan]])
def test_bands_need_centres(centres):
    with pytest.raises(HeadlightError, match="centres"):
        lag_bands(64, centres)


def test_centres_follow_the_energy():
    near = lag_profile(planted(lambda lag, _: np.exp(-lag / 2.0)))
    far = lag_profile(planted(lambda lag, _: np.exp(-0.5 * ((lag - 25) / 3) ** 2)))
    assert band_centres(near)[-1] < 8 < 25 < band_centres(far)[-1] < 32
    assert len(band_centres(far, 3)) == 3 and (np.diff(band_centres(near)) > 0).all()
    assert np.isfinite(band_centres(lag_profile(Field(np.ones((3, 8, 8)))))).all()
