import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.spectral import (
    Field,
    basis_errors,
    complexity,
    effective_rank,
    lag_scalogram,
    late_minus_early,
    scale_contrast,
    snapshot_pod,
    spectrum_numbers,
)
from lib.spectral.resampling import Replicates
from tests.spectral.synthetic import noise_field, planted, planted_modes


def wave(period, seed):
    return planted(
        lambda lag, phase: np.cos(2 * np.pi * lag / period + phase),
        documents=30, length=160, noise=0.5, phases=True, seed=seed,
    )  # fmt: skip


def test_fine_and_coarse_oscillations_are_told_apart_by_layer():
    contrast = scale_contrast([lag_scalogram(wave(5, 0)), lag_scalogram(wave(24, 1))])
    interval = contrast.contrast.interval(simultaneous=True)
    assert interval.low[0] > 0 > interval.high[1]
    fine = contrast.fine.interval()
    assert fine.low[0] > 1 > fine.estimate[1]
    assert late_minus_early(contrast.contrast, [0], [1]).high < 0


def test_white_noise_has_no_contrast():
    noise = Field(np.tril(np.random.default_rng(0).standard_normal((40, 128, 128))))
    contrast = scale_contrast([lag_scalogram(noise)])
    interval = contrast.contrast.interval()
    assert interval.low[0] < 0 < interval.high[0]
    assert contrast.fine.estimate[0] == pytest.approx(1, abs=0.05)


def test_windows_below_114_tokens_have_no_coarse_scale():
    short = scale_contrast([lag_scalogram(noise_field(5, 112))])
    assert np.isnan(short.coarse.estimate).all() and np.isnan(short.contrast.interval().low).all()
    long = scale_contrast([lag_scalogram(noise_field(5, 114))])
    assert np.isfinite(long.coarse.estimate).all()


def test_layers_must_come_from_the_same_windows():
    with pytest.raises(HeadlightError, match="same documents"):
        scale_contrast([lag_scalogram(noise_field(5, 64)), lag_scalogram(noise_field(6, 64))])


def test_complexity_by_layer_is_that_of_each_spectrum_and_falls_where_it_should():
    flat = snapshot_pod(Field(np.tril(np.random.default_rng(0).standard_normal((40, 32, 32)))))
    steep = snapshot_pod(planted_modes(20, np.arange(1.0, 21) ** -2)[0])
    numbers = complexity([flat, steep], draws=40)
    for layer, modes in enumerate((flat, steep)):
        own = spectrum_numbers(modes.eigenvalues)
        assert [numbers[m].estimate[layer] for m in numbers] == pytest.approx(list(own))
    assert numbers["ensemble_rank"].estimate[1] == effective_rank(steep.eigenvalues, 0.1)
    for name in numbers:
        assert late_minus_early(numbers[name], [0], [1]).high < 0, name


def test_complexity_without_fluctuation_is_undefined_not_an_error():
    still = snapshot_pod(np.full((10, 8, 8), 0.125))
    numbers = complexity([still], draws=10)
    assert np.isnan(numbers["t_spec"].estimate[0]) and numbers["entropy_rank"].estimate[0] == 0


def test_bases_leave_nothing_out_where_there_is_no_fluctuation():
    errors = basis_errors(Field(np.full((5, 8, 8), 0.125)))
    assert all(error.shape == (5,) and np.isnan(error).all() for error in errors.values())


@pytest.mark.parametrize("causal", [True, False])
def test_no_basis_beats_pod(causal):
    errors = basis_errors(noise_field(30, 32, causal, strength=2), count=8)
    assert set(errors) == {"pod", "random", "cosine", "permuted"}
    for name in set(errors) - {"pod"}:
        assert errors[name].mean() > errors["pod"].mean(), name
        assert (errors[name] >= -1e-9).all()


def test_the_error_of_pod_is_the_tail():
    field = noise_field(20, 32)
    assert basis_errors(field, 5)["pod"].mean() == pytest.approx(snapshot_pod(field).tail(5))


def test_replicates_lay_their_spread_round_the_estimate():
    draws = np.random.default_rng(0).normal(7, 1, (4000, 2))
    interval = Replicates(np.array([10.0, 10.0]), draws).interval()
    np.testing.assert_allclose([interval.low, interval.high], [[8.04] * 2, [11.96] * 2], atol=0.1)
    both = Replicates(np.array([10.0, 10.0]), draws).interval(simultaneous=True)
    np.testing.assert_allclose(both.high, 12.24, atol=0.12)  # 1 − (1 − 0.95)/2 over two cells: 2.236 deviations


def test_replicates_without_value_have_no_interval():
    interval = Replicates(np.array([np.nan, 1.0]), np.array([[np.nan, 1.0], [np.nan, 3.0]])).interval()
    assert np.isnan(interval.low[0]) and interval.low[1] < 1 < interval.high[1]


def test_intervals_of_positive_numbers_stay_positive_on_the_logarithmic_scale():
    draws = np.exp(np.random.default_rng(0).normal(0, 1, (4000, 1)))
    numbers = Replicates(np.array([1.0]), draws)
    assert numbers.interval(simultaneous=True).low < 0
    interval = numbers.interval(simultaneous=True, log=True)
    np.testing.assert_allclose([interval.low, interval.high], [[np.exp(-1.96)], [np.exp(1.96)]], rtol=0.1)
    assert np.isnan(Replicates(np.array(0.0), np.zeros(5)).interval(log=True).low)


def test_intervals_hold_their_estimate_whatever_the_replicates():
    skewed = Replicates(np.array(1.0), np.r_[np.ones(99), 30.0])
    for interval in (skewed.interval(), skewed.percentiles(), Replicates(np.array(5.0), np.ones(50)).percentiles()):
        assert interval.low <= interval.estimate <= interval.high
