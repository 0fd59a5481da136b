import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.spectral import Field, cross_coherency, dominant_scales, lag_profile, lag_scalogram, morlet_cwt
from lib.spectral.scalogram import far_cone
from tests.spectral.synthetic import lag_of, noise_field, planted


def explicit(field, scales, ahead=False):
    """⟨|W|²⟩ (doc, scale, lag) by one transform per row, as the definition reads."""
    pattern = field.pattern.astype(np.float64) - field.mean
    if ahead:
        pattern = pattern[:, ::-1, ::-1]
    length, half = field.length, field.length // 2
    rows = [[d[i, i - half + 1 : i + 1][::-1] for i in range(length - half, length)] for d in pattern]
    rows = np.array(rows)
    rows = rows - rows.mean(axis=-1, keepdims=True)
    extended = np.concatenate([rows[..., :0:-1], rows], axis=-1)
    return (np.abs(morlet_cwt(extended, scales)[..., half - 1 :]) ** 2).mean(axis=1)


@pytest.mark.parametrize("length", [48, 65])
def test_the_quadratic_form_is_the_mean_of_explicit_transforms(length):
    field = noise_field(6, length)
    scalogram = lag_scalogram(field)
    by_document = explicit(field, scalogram.scales)
    np.testing.assert_allclose(scalogram.energy, by_document.mean(axis=0), rtol=1e-9)
    np.testing.assert_allclose(scalogram.by_document[:, 1:], by_document[:, 1:], rtol=5e-5)
    np.testing.assert_allclose(scalogram.by_document[:, 0], by_document[:, 0], rtol=2e-3)  # cut at Nyquist


def test_a_bidirectional_field_is_transformed_both_ways():
    field = noise_field(6, 48, causal=False)
    scalogram = lag_scalogram(field)
    back = explicit(field, scalogram.scales).mean(axis=0)
    ahead = explicit(field, scalogram.scales, ahead=True).mean(axis=0)
    np.testing.assert_array_equal(scalogram.lags, np.arange(-23, 24))
    np.testing.assert_allclose(scalogram.energy[:, 24:], back[:, 1:], rtol=1e-9)
    np.testing.assert_allclose(scalogram.energy[:, 22::-1], ahead[:, 1:], rtol=1e-9)
    np.testing.assert_allclose(scalogram.energy[:, 23], (back[:, 0] + ahead[:, 0]) / 2, rtol=1e-9)
    assert scalogram.by_document.shape == (6, len(scalogram.scales), 47)


@pytest.mark.parametrize("period", [6, 12, 20])
def test_a_planted_oscillation_of_a_causal_field_is_named_at_its_scale(period):
    field = planted(lambda lag, phase: np.cos(2 * np.pi * lag / period + phase), length=256, noise=0.5, phases=True)
    scalogram = lag_scalogram(field)
    found = dominant_scales(scalogram)
    assert found and found[0].scale == pytest.approx(6 * period / (2 * np.pi), rel=0.1)
    assert found[0].period == pytest.approx(period, rel=0.1)
    assert found[0].low > 1 and found[0].ratio > found[0].low


def test_a_planted_bump_is_seen_at_its_lag_and_six_times_its_width():
    field = planted(lambda lag, _: np.exp(-0.5 * ((lag - 50) / 2) ** 2), length=256, noise=0.001)
    scalogram = lag_scalogram(field)
    scale, lag = np.unravel_index(scalogram.density.argmax(), scalogram.density.shape)
    assert scalogram.lags[lag] == 50
    assert scalogram.scales[scale] == pytest.approx(5.92 * 2, rel=0.1)


def test_the_same_bump_ahead_is_found_at_the_negative_lag():
    field = planted(lambda lag, _: np.exp(-0.5 * ((lag + 14) / 1) ** 2), length=96, causal=False, noise=0.001)
    scalogram = lag_scalogram(field)
    assert scalogram.lags[scalogram.density.max(axis=0).argmax()] == -14


def test_a_scalogram_reads_more_than_the_diagonal():
    """Two causal fields of equal diagonals, with different past keys, must look different."""
    first, second = noise_field(6, 48, seed=0).pattern, noise_field(6, 48, seed=1, strength=3).pattern
    second = np.where(np.eye(48) > 0, first, second)
    one, other = lag_scalogram(Field(first)), lag_scalogram(Field(second))
    assert np.abs(one.energy / other.energy - 1).max() > 0.5
    diagonal = lag_scalogram(Field(first * np.eye(48, dtype=np.float32)))
    off = lag_scalogram(Field(first * (1 - np.eye(48, dtype=np.float32))))
    assert off.energy[:, 8:].sum() > 10 * diagonal.energy[:, 8:].sum()
    np.testing.assert_allclose(diagonal.profile[1:], 0, atol=1e-15)
    assert (one.profile > 0).all()


def test_white_noise_equals_its_null_and_falls_as_one_over_the_scale_in_density():
    rng = np.random.default_rng(0)
    field = Field(np.tril(rng.standard_normal((60, 96, 96))))
    scalogram = lag_scalogram(field)
    np.testing.assert_allclose((scalogram.energy / scalogram.null)[~scalogram.cone], 1, atol=0.12)
    assert not dominant_scales(scalogram)
    middle = scalogram.density[:, 20]
    slope = np.polyfit(np.log(scalogram.scales[:8]), np.log(middle[:8]), 1)[0]
    assert slope == pytest.approx(-1, abs=0.15)


def test_independent_lags_of_any_profile_name_no_scale():
    """The lag profile alone must not look like a scale: noise of exponential energy equals its null."""
    rng = np.random.default_rng(0)
    profile = np.exp(-np.maximum(lag_of(96), 0) / 12)
    field = Field(np.tril(rng.standard_normal((60, 96, 96)) * profile))
    scalogram = lag_scalogram(field)
    assert scalogram.null.max() / scalogram.null.min() > 20
    np.testing.assert_allclose((scalogram.energy / scalogram.null)[~scalogram.cone], 1, atol=0.25)
    assert not dominant_scales(scalogram)


def test_the_null_is_the_mean_over_random_signs():
    """ψᴴ P diag⟨u²⟩ P ψ, against transforms of the field with a random sign for every lag of every row."""
    field = planted(lambda lag, _: np.cos(lag / 2) * np.exp(-lag / 10), documents=4, length=24)
    scalogram = lag_scalogram(field)
    rng = np.random.default_rng(0)
    total = np.zeros_like(scalogram.energy)
    pattern = field.pattern - field.mean.astype(np.float32)
    for _ in range(300):
        signed = pattern * rng.choice([-1.0, 1.0], pattern.shape)
        both = Field(np.concatenate([signed, -signed]))  # mean zero, so the fluctuation is the signed field
        total += lag_scalogram(both, scalogram.scales).energy
    np.testing.assert_allclose((total / 300).mean(axis=1), scalogram.null.mean(axis=1), rtol=0.05)


def test_the_simultaneous_interval_covers_all_cells_of_a_null_field_most_of_the_time():
    missed = 0
    for seed in range(20):
        field = Field(np.tril(np.random.default_rng(seed).standard_normal((40, 40, 40))))
        ratio = lag_scalogram(field).ratio
        missed += bool((np.nan_to_num(ratio.low, nan=0) > 1).any() or (np.nan_to_num(ratio.high, nan=2) < 1).any())
    assert missed <= 4  # 1 is expected; 5 of 20 has probability 0.003


def test_cone_and_default_scales():
    scalogram = lag_scalogram(noise_field(4, 64))
    assert scalogram.scales[0] == pytest.approx(9 / np.pi)
    assert scalogram.scales[-1] == pytest.approx(32 / (2 * np.sqrt(2)))
    np.testing.assert_array_equal(scalogram.cone, far_cone(32, scalogram.scales))
    assert not scalogram.cone[0, 26] and scalogram.cone[0, 27]  # 31 − √2·2.86 = 26.9
    assert np.isnan(scalogram.ratio.estimate[scalogram.cone]).all()
    np.testing.assert_allclose(scalogram.periods, scalogram.scales * 1.0472, rtol=1e-4)


@pytest.mark.parametrize("scales", [[2.5], [3, 11.5], [np.nan]])
def test_scales_out_of_range_are_refused(scales):
    with pytest.raises(HeadlightError, match=r"2\.86.*11\.31"):
        lag_scalogram(noise_field(4, 64), scales)


def test_too_few_documents_and_too_short_windows_are_refused():
    with pytest.raises(HeadlightError, match="at least 3 windows"):
        lag_scalogram(noise_field(2, 64))
    with pytest.raises(HeadlightError, match="longer windows"):
        lag_scalogram(noise_field(5, 16))


def test_a_constant_field_has_no_energy_no_nan_and_no_dominant_scale():
    scalogram = lag_scalogram(Field(np.full((4, 64, 64), 1 / 64)))
    assert (scalogram.energy == 0).all() and (scalogram.null == 0).all()
    assert dominant_scales(scalogram) == []


def test_documents_equal_but_for_rounding_have_no_energy_anywhere():
    pattern = np.repeat(noise_field(1, 64).pattern, 8, axis=0)
    pattern[::2] = np.where(pattern[::2] > 0, np.nextafter(pattern[::2], np.float32(1)), 0)
    scalogram = lag_scalogram(pattern)
    assert not scalogram.energy.any() and not scalogram.null.any() and not dominant_scales(scalogram)
    assert not lag_profile(pattern).mean.any()
    assert np.isnan(cross_coherency(pattern, 6, 4)[0]).all()
    pattern[3] *= 1.01
    assert (lag_scalogram(pattern).energy > 0).all()
