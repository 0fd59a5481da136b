import numpy as np
import pytest
import pywt

from lib.errors import HeadlightError
from lib.spectral import Field, comparison_scalogram, lag_scalogram
from lib.spectral.wavelets import CHOICES, MORLET
from tests.spectral.synthetic import noise_field, planted

WHITE = Field(np.tril(np.random.default_rng(0).standard_normal((12, 256, 256))))


def test_pywavelets_morlet_agrees_at_scales_of_sixteen_and_more_and_loses_energy_below():
    ours, theirs = lag_scalogram(WHITE), comparison_scalogram(WHITE)
    np.testing.assert_allclose(theirs.periods, ours.periods)
    np.testing.assert_allclose(theirs.scales, ours.scales, rtol=1e-3)
    ratio = (ours.energy / theirs.energy / (2 * np.sqrt(np.pi))).mean(axis=1)
    np.testing.assert_allclose(ratio[ours.scales >= 16], 1, atol=0.02)
    assert ratio[0] > 1.3


@pytest.mark.parametrize("wavelet", CHOICES)
def test_energies_are_those_of_explicit_transforms(wavelet):
    field = noise_field(4, 64)
    scalogram = comparison_scalogram(field, wavelet)
    u = field.pattern - field.mean
    rows = np.array([[d[i, i - 31 : i + 1][::-1] for i in range(32, 64)] for d in u])
    rows = rows - rows.mean(axis=-1, keepdims=True)
    extended = np.concatenate([rows[..., :0:-1], rows], axis=-1)
    transform, _ = pywt.cwt(extended, scalogram.scales, wavelet, method="fft", axis=-1)
    energy = (np.abs(transform[..., 31:]) ** 2).mean(axis=(1, 2))
    np.testing.assert_allclose(scalogram.energy, energy, rtol=1e-6, atol=1e-9 * energy.max())
    assert np.isnan(scalogram.omega0) and scalogram.wavelet == wavelet


@pytest.mark.parametrize("wavelet", CHOICES)
def test_every_wavelet_has_its_own_null(wavelet):
    scalogram = comparison_scalogram(WHITE, wavelet)
    inside = ~scalogram.cone & (scalogram.null > 1e-6 * scalogram.null.max())
    assert np.median(scalogram.energy[inside] / scalogram.null[inside]) == pytest.approx(1, abs=0.05)


def test_an_oscillation_stands_at_its_period_whatever_the_wavelet():
    field = planted(lambda lag, phase: np.cos(lag * 2 * np.pi / 14 + phase), length=192, phases=True)
    for wavelet in (MORLET, "cgau4", "mexh"):
        scalogram = comparison_scalogram(field, wavelet)
        density = scalogram.density[:, 35]
        assert scalogram.periods[density.argmax()] == pytest.approx(14, rel=0.2), wavelet


def test_unknown_wavelets_and_impossible_periods_are_refused():
    with pytest.raises(HeadlightError, match="mexh"):
        comparison_scalogram(WHITE, "haar")
    with pytest.raises(HeadlightError, match="2 tokens"):
        comparison_scalogram(WHITE, MORLET, [1.0])
