import numpy as np
import pytest
import pywt
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.errors import HeadlightError
from lib.spectral import default_scales, fourier_period, morlet_cwt, scale_limits
from lib.spectral.morlet import folded_wavelets

SCALES = np.geomspace(3, 60, 200)


def peak(values, scales=SCALES):
    return scales[np.argmax(values)]


@pytest.mark.parametrize("period", [8, 16, 32, 50])
def test_a_tone_answers_at_its_theoretical_scale(period):
    signal = np.cos(2 * np.pi * np.arange(2048) / period)
    energy = np.abs(morlet_cwt(signal, SCALES)[:, 1024]) ** 2
    assert peak(energy / SCALES) == pytest.approx(6 * period / (2 * np.pi), rel=0.01)
    assert fourier_period(peak(energy / SCALES)) == pytest.approx(period, rel=0.01)
    assert period / peak(energy) == pytest.approx(1.033, rel=0.01)


@pytest.mark.parametrize("deviation", [1.5, 3.4, 5])
def test_a_lone_bump_answers_at_its_own_lag_and_at_six_times_its_width(deviation):
    signal = np.exp(-((np.arange(1024) - 500) ** 2) / (2 * deviation**2))
    energy = np.abs(morlet_cwt(signal, SCALES)) ** 2
    density = energy / SCALES[:, None]
    scale, lag = np.unravel_index(np.argmax(density), density.shape)
    assert lag == 500
    assert SCALES[scale] == pytest.approx(np.sqrt(35) * deviation, rel=0.02)  # 5.92 S
    assert peak(energy[:, 500]) == pytest.approx(8.49 * deviation, rel=0.02)


@pytest.mark.parametrize("scale", [4, 10, 33.3])
def test_the_impulse_response_is_the_wavelet(scale):
    signal = np.zeros(400)
    signal[150] = 1
    t = (150 - np.arange(400)) / scale
    wavelet = np.pi**-0.25 * np.exp(1j * 6 * t - t**2 / 2)
    expected = scale**-0.5 * wavelet.conj()
    largest = np.abs(expected).max()
    assert np.abs(morlet_cwt(signal, [scale])[0] - expected).max() < 2e-4 * largest


def test_at_the_smallest_scale_the_wavelet_loses_one_per_cent_beyond_nyquist():
    signal = np.zeros(64)
    signal[30] = 1
    response = np.abs(morlet_cwt(signal, [scale_limits(64)[0]])[0, 30])
    assert response == pytest.approx(np.pi**-0.25 / np.sqrt(scale_limits(64)[0]), rel=0.02)


@settings(max_examples=25, deadline=None)
@given(shift=st.integers(1, 60), scale=st.floats(2.9, 20), seed=st.integers(0, 99))
def test_a_shifted_signal_has_a_shifted_transform(shift, scale, seed):
    signal = np.zeros(256)
    signal[100:130] = np.random.default_rng(seed).standard_normal(30)
    before, after = morlet_cwt(signal, [scale]), morlet_cwt(np.roll(signal, shift), [scale])
    np.testing.assert_allclose(after[:, shift:], before[:, :-shift], atol=1e-12)


def test_it_is_linear_and_takes_leading_axes():
    signals = np.random.default_rng(0).standard_normal((2, 3, 50))
    whole = morlet_cwt(signals, [3, 5, 9])
    assert whole.shape == (2, 3, 3, 50)
    np.testing.assert_allclose(whole[1, 2], morlet_cwt(signals[1, 2], [3, 5, 9]), atol=1e-12)
    mixed = morlet_cwt(2 * signals[0, 0] - signals[1, 1], [3, 5, 9])
    np.testing.assert_allclose(mixed, 2 * whole[0, 0] - whole[1, 1], atol=1e-12)


def test_pywavelets_agrees_at_scales_of_sixteen_and_more():
    signal = np.random.default_rng(1).standard_normal((40, 800))
    scales = np.geomspace(16, 60, 8)
    theirs, _ = pywt.cwt(signal, scales, "cmor2.0-0.95493", method="fft", axis=-1)
    inside = slice(200, 600)
    ours = (np.abs(morlet_cwt(signal, scales)) ** 2)[..., inside].mean(axis=(0, 2))
    theirs = (np.abs(theirs) ** 2)[..., inside].mean(axis=(1, 2)) * 2 * np.sqrt(np.pi)
    np.testing.assert_allclose(ours, theirs, rtol=0.02)


def test_pywavelets_loses_energy_at_fine_scales_which_is_why_it_is_not_the_engine():
    signal = np.random.default_rng(1).standard_normal((200, 400))
    theirs, _ = pywt.cwt(signal, [3, 7], "cmor2.0-0.95493", method="fft", axis=-1)
    ours = (np.abs(morlet_cwt(signal, [3, 7])) ** 2)[..., 100:300].mean(axis=(0, 2))
    ratio = (np.abs(theirs) ** 2)[..., 100:300].mean(axis=(1, 2)) * 2 * np.sqrt(np.pi) / ours
    np.testing.assert_allclose(ratio, [0.71, 0.94], atol=0.03)


def test_the_folded_wavelet_is_the_transform_of_the_even_extension():
    rng = np.random.default_rng(2)
    signal, scales = rng.standard_normal(40), (2.9, 6.0, 14.0)
    extended = np.r_[signal[:0:-1], signal]
    explicit = morlet_cwt(extended, scales)[:, 39:]
    folded = folded_wavelets(40, scales).conj() @ signal
    np.testing.assert_allclose(folded, explicit, atol=1e-10)
    one_sided = morlet_cwt(signal, scales)
    assert np.abs(np.abs(one_sided[:, 0]) ** 2 / np.abs(explicit[:, 0]) ** 2 - 1).min() > 0.2


def test_a_worked_example():
    # one impulse of height 2 at position 5: |W(4, 5)|² = 4 π^{-1/2} / 4 = 0.5642
    signal = np.zeros(32)
    signal[5] = 2
    assert abs(morlet_cwt(signal, [4])[0, 5]) ** 2 == pytest.approx(0.5642, abs=2e-3)


@pytest.mark.parametrize("scales", [[2.0], [5, 2.8], [0], [-4], [np.nan], []])
def test_scales_beyond_nyquist_are_refused_by_name(scales):
    with pytest.raises(HeadlightError, match=r"at least 2\.86"):
        morlet_cwt(np.ones(50), scales)


def test_nan_is_refused():
    with pytest.raises(HeadlightError, match="NaN"):
        morlet_cwt(np.array([1.0, np.nan, 2.0]), [3])


def test_default_scales_run_from_nyquist_to_the_cone():
    scales = default_scales(128)
    assert (scales[0], scales[-1]) == pytest.approx((9 / np.pi, 128 / (2 * np.sqrt(2))))
    assert (np.diff(scales) > 0).all()
    with pytest.raises(HeadlightError, match="longer windows"):
        default_scales(8)


def test_the_fewest_lags_told_are_the_fewest_that_do():
    with pytest.raises(HeadlightError, match=r"at least 9 lags.*windows of 18 tokens.*got 8 lags"):
        default_scales(8)
    assert len(default_scales(9)) == 2
