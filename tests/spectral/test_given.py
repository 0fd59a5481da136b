"""What no function can work with is refused by all of them alike: expected, got, what to do."""

import numpy as np
import pytest

from lib import spectral
from lib.errors import HeadlightError
from lib.spectral.given import real_numbers, whole_number
from tests.spectral.synthetic import noise_field

FIELD = noise_field(6, 32).pattern
TEXT, COMPLEX, RAGGED = "a", 1j, [[[1.0, 2.0], [3.0]]]
TAKES_NUMBERS = {
    "Field": spectral.Field,
    "snapshot_pod": spectral.snapshot_pod,
    "lag_scalogram": spectral.lag_scalogram,
    "coherency": lambda values: spectral.coherency(values, 3.0, 2),
    "morlet_cwt": lambda values: spectral.morlet_cwt(values, [5.0]),
    "scales": lambda values: spectral.morlet_cwt(np.zeros(8), values),
    "window": lambda values: spectral.snapshot_pod(FIELD, values),
    "lag_bands": lambda values: spectral.lag_bands(32, values),
    "effective_rank": lambda values: spectral.effective_rank(values, 0.1),
    "entropy_rank": spectral.entropy_rank,
    "participation_ratio": spectral.participation_ratio,
    "fit_power_law": spectral.fit_power_law,
    "rank_growth": spectral.rank_growth,
    "comparison_scalogram": lambda values: spectral.comparison_scalogram(FIELD, periods=values),
}


@pytest.mark.parametrize("name", TAKES_NUMBERS)
@pytest.mark.parametrize("kind", ["text", "complex", "ragged"])
def test_what_is_not_a_real_number_is_refused_not_cut_to_one(name, kind):
    shape = (32, 32) if name == "window" else (6, 32, 32) if name in ("Field", "snapshot_pod") else (6,)
    values = RAGGED if kind == "ragged" else np.full(shape, TEXT if kind == "text" else COMPLEX)
    with pytest.raises(HeadlightError) as refused:
        TAKES_NUMBERS[name](values)
    assert "Expected" in str(refused.value) and "got" in str(refused.value) and refused.value.remedy


def test_numbers_of_every_real_type_are_taken():
    for values in ([1, 2], [True, False], np.float16([0.5]), np.uint8([3]), 4.0):
        np.testing.assert_array_equal(real_numbers(values, "a signal"), values)


@pytest.mark.parametrize("value", [-1, 7, 2.5, np.nan, np.inf, "3", [1, 2], None, 1j])
def test_only_a_whole_number_within_its_ends_is_one(value):
    with pytest.raises(HeadlightError, match="a document"):
        whole_number(value, "a document", 0, 6)


def test_both_ends_belong_to_it():
    assert [whole_number(n, "a mode", 1, 3) for n in (1, 3, 2.0, np.int64(2))] == [1, 3, 2, 2]
    assert whole_number(10**9, "a mode", 1) == 10**9


@pytest.mark.parametrize("count", [-1, -30, 1.5, np.nan])
def test_no_number_of_modes_counts_from_the_end(count):
    modes = spectral.snapshot_pod(FIELD)
    for ask in (modes.leading, modes.tail, lambda n: modes.residual(0, n), lambda n: spectral.reconstruct(modes, 0, n)):
        with pytest.raises(HeadlightError, match="a number of modes"):
            ask(count)


@pytest.mark.parametrize("document", [-1, 6, 0.5])
def test_no_document_counts_from_the_end(document):
    modes = spectral.snapshot_pod(FIELD)
    for ask in (modes.residual, lambda d, n: spectral.reconstruct(modes, d, n)):
        with pytest.raises(HeadlightError, match="a document in 0 … 5"):
            ask(document, 2)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_window_that_is_not_a_number_is_no_missing_fluctuation(bad):
    window = np.ones((32, 32))
    window[3, 2] = bad
    with pytest.raises(HeadlightError, match="a finite window"):
        spectral.snapshot_pod(FIELD, window)


@pytest.mark.parametrize("partition", [False, True])
@pytest.mark.parametrize("centre", [32, 200, -32, -70])
def test_a_band_outside_the_field_is_refused_whether_or_not_bands_are_shares(centre, partition):
    with pytest.raises(HeadlightError, match="within the lags of a field of 32 tokens"):
        spectral.lag_bands(32, [4.0, centre], partition=partition)


@pytest.mark.parametrize("gram", [np.eye(2), np.eye(5)[:4], np.full((4, 4), np.nan), 3.0])
def test_what_is_no_gram_matrix_has_no_growth(gram):
    with pytest.raises(HeadlightError, match="a Gram matrix"):
        spectral.rank_growth(gram)


@pytest.mark.parametrize("omega0", [0, -6, 2, np.nan, np.inf])
def test_a_wavelet_that_is_none_is_refused(omega0):
    with pytest.raises(HeadlightError, match="ω₀"):
        spectral.morlet_cwt(np.zeros(16), [5.0], omega0)
    with pytest.raises(HeadlightError, match="ω₀"):
        spectral.lag_scalogram(FIELD, omega0=omega0)


def test_layers_of_different_windows_are_not_analysed_together():
    one = spectral.Field(FIELD)
    for unlike in ([], [one, spectral.Field(FIELD[:5])], [one, noise_field(6, 24)]):
        for measure in (spectral.analyse, spectral.evidence):
            with pytest.raises(HeadlightError, match="fields of the same windows"):
                measure(unlike)


def test_bands_need_a_profile_and_a_number():
    profile = spectral.lag_profile(FIELD)
    for profiles, count in (([], 4), (profile, 0), (profile, 2.5), (profile, -1)):
        with pytest.raises(HeadlightError):
            spectral.band_centres(profiles, count)


def test_coherency_is_of_one_scale():
    with pytest.raises(HeadlightError, match="one scale"):
        spectral.coherency(FIELD, [3.0, 4.0], 2)


@pytest.mark.parametrize(("k_min", "k_max"), [(0, None), (2.5, 7), (np.nan, None), (3, 2), (1, 2.5)])
def test_a_fit_needs_a_range_of_modes(k_min, k_max):
    with pytest.raises(HeadlightError, match="mode of the fit"):
        spectral.fit_power_law(1.0 / np.arange(1, 20), k_min, k_max)
