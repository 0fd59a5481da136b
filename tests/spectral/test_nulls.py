import numpy as np
import pytest
from scipy import stats

from lib.errors import HeadlightError
from lib.spectral import (
    Field,
    effective_rank,
    lag_profile,
    lag_window,
    null_interval,
    rank_growth,
    shuffled_lag_spectra,
    snapshot_pod,
    white_noise_spectra,
)
from lib.spectral.nulls import _diagonals
from tests.spectral.synthetic import noise_field, planted_modes


@pytest.mark.parametrize("cells", [12, 100, 3000])
def test_white_noise_spectra_are_those_of_drawn_noise(cells):
    rng = np.random.default_rng(0)
    drawn = [snapshot_pod(rng.standard_normal((30, cells))).eigenvalues for _ in range(40)]
    ours = white_noise_spectra(30, cells, draws=40)
    assert ours.shape == (40, 29)
    rank = min(29, cells)
    assert (ours[:, rank:] == 0).all()
    expected = np.mean(drawn, axis=0)
    np.testing.assert_allclose(ours.mean(axis=0)[:rank], expected, rtol=0.05, atol=0.02 * expected[0])


def test_white_noise_through_a_window_counts_its_equal_cells():
    window = lag_window(40, 8, 2)
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((20, 30, 40, 40))
    drawn = [effective_rank(snapshot_pod(n, window).eigenvalues, 0.1) for n in noise]
    ours = [effective_rank(s, 0.1) for s in white_noise_spectra(30, window)]
    assert np.mean(ours) == pytest.approx(np.mean(drawn), abs=0.6)


def test_white_noise_of_150_documents_needs_94_to_133_modes():
    ranks = {n: np.mean([effective_rank(s, 0.1) for s in white_noise_spectra(150, n)]) for n in (260, 32_896)}
    assert ranks[260] == pytest.approx(94, abs=3)
    assert ranks[32_896] == pytest.approx(133, abs=1)


def test_shuffling_lags_keeps_the_profile_and_the_variance():
    field = noise_field(20, 32)
    spectra = shuffled_lag_spectra(field, draws=4)
    total = snapshot_pod(field).total
    # each lag keeps its own energies, but the shuffled mean field stays 0: the variance is the same
    np.testing.assert_allclose(spectra.sum(axis=1), total, rtol=1e-5)
    profile = lag_profile(field)
    energies = [(d**2).sum() / d.size for d in _diagonals(field, None)]
    np.testing.assert_allclose(energies, profile.mean, rtol=1e-4)


def test_shuffling_lags_breaks_what_belongs_together():
    pattern, _, _ = planted_modes(2, [9.0, 4.0], documents=40)
    field = Field(pattern)
    shuffled = shuffled_lag_spectra(field)
    own = snapshot_pod(field)
    assert own.rank == 2
    assert np.mean([effective_rank(s, 0.1) for s in shuffled]) > 15
    assert shuffled[:, 0].max() < own.eigenvalues[0] / 2


def test_shuffling_changes_nothing_where_there_is_one_lag():
    field = Field(np.random.default_rng(0).standard_normal((10, 8, 8)) * np.eye(8))
    own = snapshot_pod(field).eigenvalues
    for spectrum in shuffled_lag_spectra(field, draws=3):
        np.testing.assert_allclose(spectrum[: len(own)], own, rtol=1e-4)


def test_a_window_limits_the_lags_that_are_shuffled():
    field = noise_field(10, 32)
    window = lag_window(32, 8, 1)
    total = snapshot_pod(field, window).total
    np.testing.assert_allclose(shuffled_lag_spectra(field, window, draws=2).sum(axis=1), total, rtol=1e-5)


def test_null_interval_is_a_prediction_interval():
    rng = np.random.default_rng(0)
    hits = [
        low < rng.standard_normal() < high for low, high in (null_interval(rng.standard_normal(10)) for _ in range(400))
    ]
    assert stats.binomtest(sum(hits), 400, 0.95).pvalue > 0.001
    assert np.isnan(null_interval([1.0])).all()
    assert null_interval([3, 3, 3]) == (3, 3)


def test_a_low_rank_ensemble_is_resolved():
    pattern, _, _ = planted_modes(3, [9.0, 4, 2], documents=60)
    growth = rank_growth(snapshot_pod(pattern).gram, 0.1, cells=32 * 33 // 2)
    assert growth.rank[-1] == effective_rank([9, 4, 2], 0.1) == 3
    assert growth.documents[-1] == 60 and growth.unresolved == ""


def test_white_noise_is_unresolved():
    noise = np.random.default_rng(0).standard_normal((40, 16, 16))
    growth = rank_growth(snapshot_pod(noise).gram, 0.1, cells=256)
    assert growth.unresolved.startswith("unresolved: needs more documents")
    assert growth.noise[0] - 1.5 <= growth.rank[-1] <= growth.bound[-1]


def test_a_rank_that_grows_with_the_documents_is_unresolved_though_below_noise():
    # thirty equal directions seen by forty documents
    snapshots = (
        np.random.default_rng(0).standard_normal((40, 30))
        @ np.linalg.qr(np.random.default_rng(1).standard_normal((4000, 30)))[0].T
    )
    growth = rank_growth(snapshot_pod(snapshots).gram, 0.1, cells=4000)
    assert growth.rank[-1] < growth.noise[0]
    assert "still grows" in growth.unresolved


def test_the_rank_never_passes_the_bound_of_a_flat_spectrum():
    growth = rank_growth(snapshot_pod(noise_field(40, 24)).gram, 0.1)
    assert (growth.rank <= growth.bound).all()
    assert growth.bound[-1] == np.ceil(0.9 * 39)
    assert (np.diff(growth.documents) > 0).all()


@pytest.mark.parametrize("epsilon", [0.02, 0.3])
def test_another_epsilon_needs_no_new_spectra(epsilon):
    gram = snapshot_pod(noise_field(30, 24)).gram
    fresh, moved = rank_growth(gram, epsilon, cells=300), rank_growth(gram, 0.1, cells=300).at(epsilon)
    np.testing.assert_array_equal(moved.rank, fresh.rank)
    assert (moved.noise, moved.epsilon, moved.unresolved) == (fresh.noise, epsilon, fresh.unresolved)


def test_150_documents_can_never_need_150_modes():
    growth = rank_growth(np.eye(150) - 1 / 150, 0.1)
    assert growth.rank[-1] == growth.bound[-1] == 135


def test_too_few_documents_are_refused():
    with pytest.raises(HeadlightError, match="at least 3"):
        white_noise_spectra(2, 100)
    with pytest.raises(HeadlightError, match="at least 3"):
        shuffled_lag_spectra(noise_field(2, 16))
