import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.errors import HeadlightError
from lib.spectral import (
    bootstrap_power_law,
    effective_rank,
    entropy_rank,
    fit_power_law,
    participation_ratio,
    snapshot_pod,
)
from lib.spectral.resampling import centred_gram, half_samples, recentred

SPECTRA = st.lists(st.floats(1e-6, 1e3), min_size=1, max_size=40).map(lambda v: sorted(v, reverse=True))


def ensemble(beta, cells, documents=150, seed=0):
    """Gaussian snapshots (doc, cell) whose true eigenvalues fall as k^−β."""
    scale = np.arange(1.0, cells + 1) ** (-beta / 2)
    return np.random.default_rng(seed).standard_normal((documents, cells)) * scale


@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0, 3.7])
def test_an_exact_power_law_is_recovered(beta):
    fit = fit_power_law(np.arange(1.0, 150) ** -beta)
    assert fit.beta == pytest.approx(beta) and fit.r2 == pytest.approx(1)
    assert (fit.k_min, fit.k_max) == (2, 30)
    assert fit.t_spec == pytest.approx(1 / beta)
    assert fit_power_law(7 * np.arange(1.0, 150) ** -beta, 5, 100).beta == pytest.approx(beta)


def test_the_default_range_ends_at_a_third_of_the_documents():
    assert fit_power_law(np.arange(1.0, 30) ** -1).k_max == 10  # 29 modes of 30 documents


@pytest.mark.parametrize(
    ("beta", "cells", "comes_back_as"),
    [(0.5, 256, 0.39), (0.5, 2000, 0.21), (0.5, 20_000, 0.09), (1, 2000, 0.81), (2, 2000, 2.0), (3, 2000, 3.05)],
)
def test_sampled_spectra_are_biased_as_the_documentation_says(beta, cells, comes_back_as):
    seeds = range(1 if cells > 2000 else 4)
    found = np.mean([fit_power_law(snapshot_pod(ensemble(beta, cells, seed=s)).eigenvalues).beta for s in seeds])
    assert found == pytest.approx(comes_back_as, abs=0.06)


def test_too_few_eigenvalues_give_no_value_instead_of_one():
    for spectrum, k_max in (([], None), ([1.0], None), ([3.0, 2, 1], 3), ([4.0, 3, 2, 0, 0, 0], 6)):
        fit = fit_power_law(spectrum, k_max=k_max)
        assert math.isnan(fit.beta) and math.isnan(fit.t_spec), spectrum


def test_a_flat_spectrum_is_infinitely_complex():
    fit = fit_power_law(np.ones(149))
    assert fit.beta == 0 and fit.t_spec == math.inf and math.isnan(fit.r2)


def test_larger_temperature_means_more_modes_share_the_energy():
    steep, shallow = (np.arange(1.0, 150) ** -b for b in (2.0, 0.5))
    assert fit_power_law(shallow).t_spec > fit_power_law(steep).t_spec
    assert entropy_rank(shallow) > entropy_rank(steep)
    assert participation_ratio(shallow) > participation_ratio(steep)


@pytest.mark.parametrize(("bad", "said"), [([1, np.nan, 0.5], "NaN"), ([1, 2, 3], "descend"), ([3, 2, -1], "descend")])
@pytest.mark.parametrize("number", [fit_power_law, entropy_rank, lambda v: effective_rank(v, 0.1)])
def test_what_is_no_spectrum_is_refused(number, bad, said):
    with pytest.raises(HeadlightError, match=said):
        number(bad)


def test_a_range_that_cannot_be_is_refused():
    with pytest.raises(HeadlightError, match="k_min"):
        fit_power_law(np.ones(9), 0)
    with pytest.raises(HeadlightError, match="k_min"):
        fit_power_law(np.ones(9), 5, 3)


def test_the_interval_holds_the_estimate_and_the_mean_over_samples():
    modes = [snapshot_pod(ensemble(1.0, 400, 60, seed)) for seed in range(16)]
    fits = [bootstrap_power_law(m, draws=100) for m in modes]
    expected = np.mean([f.beta for f in fits])
    assert all(f.interval[0] < f.beta < f.interval[1] for f in fits)
    assert sum(f.interval[0] < expected < f.interval[1] for f in fits) >= 13
    low, high = fits[0].t_spec_interval
    assert low < fits[0].t_spec < high


def test_resampling_takes_snapshots_fields_and_windows():
    snapshots = ensemble(1.0, 64, 30).reshape(30, 8, 8)
    plain = bootstrap_power_law(snapshots, draws=50)
    assert plain == bootstrap_power_law(snapshot_pod(snapshots), draws=50)
    window = np.linspace(1, 0.1, 64).reshape(8, 8)
    assert bootstrap_power_law(snapshots, window=window, draws=50).beta > plain.beta


def test_without_fluctuation_there_is_no_interval_and_no_error():
    fit = bootstrap_power_law(np.ones((10, 4, 4)))
    assert math.isnan(fit.beta) and all(math.isnan(bound) for bound in fit.interval)


def test_half_samples_are_those_documents_centred_anew():
    snapshots = ensemble(1.0, 30, 12) + 3
    for half, chosen in half_samples(snapshot_pod(snapshots).gram, 3, seed=5):
        assert len(set(chosen)) == 6
        own = snapshots[chosen] - snapshots[chosen].mean(axis=0)
        np.testing.assert_allclose(half, own @ own.T / 6, atol=1e-10)
    assert len(next(half_samples(np.eye(12), 1, fewest=9))[1]) == 9


@pytest.mark.parametrize("fewest", [0, 60])
def test_halves_give_the_true_spread_of_a_rank_where_a_bootstrap_would_not(fewest):
    ranks = [entropy_rank(snapshot_pod(ensemble(0.7, 500, 80, s)).eigenvalues) for s in range(40)]
    modes = snapshot_pod(ensemble(0.7, 500, 80, 99))
    halves = half_samples(modes.gram, 60, 0, fewest)
    samples = np.array([entropy_rank(np.maximum(np.linalg.eigvalsh(g)[::-1], 0)) for g, _ in halves])
    numbers = recentred(np.array(entropy_rank(modes.eigenvalues)), samples, 80, fewest)
    assert numbers.draws.std() == pytest.approx(np.std(ranks), rel=0.45)


def test_centring_a_gram_matrix_is_centring_its_documents():
    snapshots = ensemble(1.0, 30, 12) + 5
    centred = snapshots - snapshots.mean(axis=0)
    np.testing.assert_allclose(centred_gram(snapshots @ snapshots.T), centred @ centred.T, atol=1e-9)


@pytest.mark.parametrize(
    ("spectrum", "epsilon", "modes"),
    [
        ([9, 1], 0.1, 1),  # one mode leaves exactly a tenth
        ([9, 1], 0.09, 2),
        ([8, 1, 1], 0.1, 2),
        ([8, 1, 1], 0.2, 1),
        ([8, 1, 1], 0.0, 3),
        ([5, 0, 0], 0.0, 1),
        ([1] * 149, 0.1, 135),  # a flat centred spectrum of 150 documents: ⌈0.9 · 149⌉
        ([], 0.1, 0),
        ([0, 0], 0.1, 0),
    ],
)
def test_effective_rank_by_hand(spectrum, epsilon, modes):
    assert effective_rank(np.array(spectrum, float), epsilon) == modes


@settings(max_examples=60, deadline=None)
@given(spectrum=SPECTRA, epsilon=st.floats(0.001, 0.9))
def test_effective_rank_is_the_fewest_modes_that_suffice(spectrum, epsilon):
    spectrum = np.array(spectrum)
    n = effective_rank(spectrum, epsilon)
    assert spectrum[n:].sum() <= epsilon * spectrum.sum() * (1 + 1e-9)
    assert n == 0 or spectrum[n - 1 :].sum() > epsilon * spectrum.sum() * (1 - 1e-9)
    assert n <= math.ceil((1 - epsilon) * len(spectrum) + 1e-9)
    assert effective_rank(1e3 * spectrum, epsilon) == n


@pytest.mark.parametrize("epsilon", [-0.1, 1, 1.5, np.nan])
def test_a_share_outside_zero_to_one_is_refused(epsilon):
    with pytest.raises(HeadlightError, match="ε"):
        effective_rank([1, 1], epsilon)


@settings(max_examples=60, deadline=None)
@given(spectrum=SPECTRA)
def test_ranks_are_ordered_and_bounded(spectrum):
    ratio, entropy = participation_ratio(spectrum), entropy_rank(spectrum)
    assert 1 - 1e-9 <= ratio <= entropy * (1 + 1e-9) <= len(spectrum) * (1 + 2e-9)


def test_ranks_by_hand():
    assert entropy_rank([1, 1, 1, 1]) == pytest.approx(4) == participation_ratio([1, 1, 1, 1])
    assert entropy_rank([0.5, 0.25, 0.25]) == pytest.approx(2**1.5)
    assert participation_ratio([0.5, 0.25, 0.25]) == pytest.approx(1 / 0.375)
    assert entropy_rank([0, 0]) == participation_ratio([]) == 0
