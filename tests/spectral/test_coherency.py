import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.spectral import Field, coherency, cross_coherency, morlet_cwt
from tests.spectral.synthetic import noise_field, planted


def off_diagonal(matrix):
    return matrix[~np.eye(len(matrix), dtype=bool)]


def test_gamma_is_the_definition_over_explicit_transforms():
    field, scale, lag = noise_field(7, 48), 5.0, 6
    u = field.pattern - field.mean
    rows = np.array([[d[i, i - 23 : i + 1][::-1] for i in range(24, 48)] for d in u])
    rows = rows - rows.mean(axis=-1, keepdims=True)
    waves = morlet_cwt(np.concatenate([rows[..., :0:-1], rows], axis=-1), [scale])[..., 0, 23 + lag]
    gamma, _ = cross_coherency(field, scale, lag)
    for i, j in ((0, 5), (3, 20), (11, 10)):
        top = abs((waves[:, i] * waves[:, j].conj()).mean())
        bottom = np.sqrt((abs(waves[:, i]) ** 2).mean() * (abs(waves[:, j]) ** 2).mean())
        assert gamma[24 + i, 24 + j] == pytest.approx(top / bottom, rel=1e-5)


def test_gamma_is_symmetric_and_one_on_the_diagonal():
    gamma, _ = cross_coherency(noise_field(9, 64), 6, 4)
    np.testing.assert_array_equal(gamma, gamma.T)
    np.testing.assert_array_equal(np.diagonal(gamma)[32:], 1)
    inside = gamma[32:, 32:]
    assert ((inside >= 0) & (inside <= 1)).all()


def test_causal_rows_that_see_less_than_half_are_nan():
    gamma, null = cross_coherency(noise_field(9, 64), 6, 4)
    for matrix in (gamma, null):
        assert np.isnan(matrix[:32]).all() and np.isnan(matrix[:, :32]).all()
    assert np.isfinite(gamma[32:, 32:]).all()


@pytest.mark.parametrize("documents", [1, 2])
def test_one_or_two_documents_are_coherent_everywhere(documents):
    gamma, _ = cross_coherency(noise_field(documents, 64), 6, 4)
    np.testing.assert_allclose(gamma[32:, 32:], 1)


@pytest.mark.parametrize("documents", [20, 100])
def test_the_shuffled_null_is_0_89_over_root_n(documents):
    field = Field(np.tril(np.random.default_rng(0).standard_normal((documents, 64, 64))))
    gamma, null = cross_coherency(field, 5, 6)
    assert np.nanmean(null) == pytest.approx(0.886 / np.sqrt(documents), rel=0.05)
    assert np.isnan(np.diagonal(null)).all()
    assert np.nanmean(off_diagonal(gamma)) == pytest.approx(np.nanmean(null), rel=0.1)


def test_shuffling_destroys_a_planted_coherency_and_only_the_excess_is_kept():
    field = planted(lambda lag, phase: np.cos(2 * np.pi * lag / 6 + phase), documents=60, noise=0.3, phases=True)
    result = coherency(field, 5.73, 8)
    inside = off_diagonal(result.gamma[32:, 32:])
    assert inside.min() > 0.5
    assert np.nanmean(result.null) < 0.2 < result.threshold + 0.1
    assert np.isfinite(off_diagonal(result.excess[32:, 32:])).all()
    assert np.isnan(np.diagonal(result.excess)).all()


def test_independent_rows_have_almost_no_excess():
    field = Field(np.tril(np.random.default_rng(1).standard_normal((50, 64, 64))))
    assert np.isfinite(coherency(field, 5, 6).excess).sum() <= 4


def test_a_bidirectional_field_looks_ahead_with_negative_lags():
    field = noise_field(9, 64, causal=False)
    gamma, _ = cross_coherency(field, 6, -4)
    assert np.isfinite(gamma[:32, :32]).all() and np.isnan(gamma[32:]).all()
    mirrored = Field(field.pattern[:, ::-1, ::-1].copy(), causal=False)
    back, _ = cross_coherency(mirrored, 6, 4)
    np.testing.assert_allclose(gamma[::-1, ::-1], back, atol=1e-9)


def test_reading_the_diagonal_alone_would_not_give_this():
    field = noise_field(9, 64)
    off = Field(field.pattern * (1 - np.eye(64, dtype=np.float32)))
    np.testing.assert_allclose(
        cross_coherency(off, 3, 20)[0][32:, 32:], cross_coherency(field, 3, 20)[0][32:, 32:], atol=0.05
    )


def test_a_row_without_energy_is_nan_not_an_error():
    pattern = noise_field(9, 64).pattern.copy()
    pattern[:, 40] = pattern[0, 40]
    gamma, _ = cross_coherency(pattern, 6, 4)
    assert np.isnan(gamma[40]).all() and np.isfinite(gamma[41, 50])
    assert np.isnan(cross_coherency(np.full((5, 64, 64), 1 / 64), 6, 4)[0]).all()


@pytest.mark.parametrize(("scale", "lag"), [(2, 4), (40, 4), (6, 32), (6, -1), (6, 2.5)])
def test_scales_and_lags_outside_are_refused(scale, lag):
    with pytest.raises(HeadlightError):
        cross_coherency(noise_field(5, 64), scale, lag)
