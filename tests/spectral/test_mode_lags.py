import numpy as np
import pytest

from lib.spectral import Field, band_blur, leading_mode_lags, mode_lag_profile, snapshot_pod
from lib.spectral.mode_lags import _Diagonals
from tests.spectral.synthetic import lag_of, noise_field, planted


def bump(centre, width):
    return lambda lag: np.where(lag >= 0, np.exp(-0.5 * ((lag - centre) / width) ** 2), 0)


def two_bands(documents=40, length=64, seed=0, together=False):
    """Documents that differ at lag 4 and at lag 24, by amplitudes that are independent or one and the same."""
    rng = np.random.default_rng(seed)
    near, far = rng.standard_normal((2, documents))
    far = near if together else far
    lag = lag_of(length)
    field = np.multiply.outer(near, bump(4, 1)(lag)) + np.multiply.outer(far, bump(24, 3)(lag)) * 0.9
    return Field(field + 0.01 * np.tril(rng.standard_normal(field.shape)))


def test_lag_profiles_of_modes_add_up_to_one_and_sit_where_they_were_planted():
    modes = snapshot_pod(planted(lambda lag, _: np.exp(-0.5 * ((lag - 12) / 2) ** 2), noise=0.01))
    profile = mode_lag_profile(modes.leading(3)[0], causal=True)
    np.testing.assert_allclose(profile.sum(axis=1), 1)
    assert profile[0].argmax() == 12


def test_a_profile_by_hand():
    mode = np.zeros((1, 4, 4))
    mode[0, 3, 1], mode[0, 2, 2] = 0.6, 0.8
    np.testing.assert_allclose(mode_lag_profile(mode, causal=True), [[0.64, 0, 0.36, 0]])
    np.testing.assert_allclose(mode_lag_profile(mode.transpose(0, 2, 1), causal=False)[0, 1], 0.36)


@pytest.mark.parametrize("causal", [True, False])
def test_lag_energy_from_documents_is_that_of_the_modes(causal):
    field = noise_field(10, 24, causal)
    modes = snapshot_pod(field)
    diagonals = _Diagonals(field)
    energy = diagonals.energy(modes.vectors / np.sqrt(10 * modes.eigenvalues))
    profile = mode_lag_profile(modes.modes, causal)
    folded = profile if causal else profile[:, 23:] + np.pad(profile[:, 22::-1], ((0, 0), (1, 0)))
    np.testing.assert_allclose(energy, folded, rtol=1e-3)
    assert diagonals.cells.sum() == field.cells


def test_the_peak_of_leading_modes_is_found_with_an_interval_off_the_diagonal():
    field = planted(lambda lag, _: np.exp(-0.5 * ((lag - 12) / 2) ** 2), noise=0.05)
    found = leading_mode_lags(field, count=1)
    assert found.peak.estimate == 12 and 11 <= found.peak.low <= found.peak.high <= 13
    low, high = found.white_noise_peak
    assert low < 2 and high > 29
    share = found.share(8, 16)
    assert share.low > 0.8 > found.white_noise_share(8, 16)


def test_white_noise_modes_spread_over_the_cells():
    field = Field(np.tril(np.random.default_rng(0).standard_normal((30, 48, 48))))
    found = leading_mode_lags(field)
    share = found.share(2, 10)
    assert share.estimate == pytest.approx(found.white_noise_share(2, 10), abs=0.05)


def test_plain_modes_mix_bands_that_move_together_and_windows_part_them():
    blur = band_blur(two_bands(together=True), [4, 24], count=1)
    assert blur.plain.estimate > 0.2
    assert blur.windowed.high < 0.02
    assert blur.difference.high < 0
    assert blur.permuted > 0.9


def test_plain_modes_do_not_mix_bands_that_move_apart_by_much():
    apart = band_blur(two_bands(together=False), [4, 24], count=2)
    together = band_blur(two_bands(together=True), [4, 24], count=2)
    assert apart.plain.estimate < together.plain.estimate


def test_a_band_without_energy_is_left_out():
    field = planted(lambda lag, _: (lag < 4) * 1.0)
    blur = band_blur(field, [2, 60], count=1)
    assert np.isfinite(blur.windowed.estimate)


def test_a_constant_field_has_no_blur():
    blur = band_blur(Field(np.full((5, 32, 32), 1 / 32)), [2, 8])
    assert np.isnan(blur.plain.estimate) and np.isnan(blur.windowed.estimate)
