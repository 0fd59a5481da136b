"""The whole room on real models: the offline MiniLM beside its untrained twin, and a small causal GPT."""

import numpy as np
import pytest

from lib.models import untrained_twin
from lib.spectral import (
    analyse,
    band_blur,
    basis_errors,
    compare_complexity,
    compare_profiles,
    compare_scalograms,
    complexity,
    cross_coherency,
    head_mean_field,
    lag_scalogram,
    leading_mode_lags,
    scale_contrast,
    snapshot_pod,
    windows,
)

LAYERS = [0, 3, 5]


@pytest.fixture(scope="module")
def cut(minilm, documents):
    return windows(documents, minilm, 40, 20)


@pytest.fixture(scope="module")
def fields(minilm, cut):
    return head_mean_field(minilm, cut, layers=LAYERS)


@pytest.fixture(scope="module")
def twin_fields(minilm, cut):
    return head_mean_field(untrained_twin(minilm), cut, layers=LAYERS)


def test_an_encoder_goes_all_the_way_through(fields):
    analyses = analyse(fields)
    assert [a.layer for a in analyses] == LAYERS
    for one in analyses:
        assert not one.causal and one.scalogram.lags[0] == -19 and 0 < one.excluded_mass < 1
        assert one.plain.eigenvalues.size == one.documents - 1
        assert 0 < one.profile.centroid < 20
        assert 1 <= one.growth.rank[-1] <= one.growth.bound[-1]
        assert [b.total > 0 for b in one.bands] == [True] * 4


def test_the_numbers_for_the_claims_exist_for_an_encoder(fields):
    modes = [snapshot_pod(f) for f in fields]
    assert np.isfinite(scale_contrast([lag_scalogram(f) for f in fields]).fine.estimate).all()
    for number in complexity(modes, draws=20).values():
        interval = number.interval(simultaneous=True)
        assert ((interval.low <= interval.estimate) & (interval.estimate <= interval.high)).all()
    peak = leading_mode_lags(fields[0], draws=20).peak
    assert 0 <= peak.low <= peak.estimate <= peak.high < 20
    blur = band_blur(fields[0], [1, 4, 12], draws=20)
    assert blur.windowed.estimate < blur.plain.estimate
    errors = basis_errors(fields[0], 5)
    assert all(errors["pod"].mean() <= e.mean() for e in errors.values())
    gamma, null = cross_coherency(fields[1], 4, -5)
    assert 0 < np.nanmean(null) < 0.5 and np.nanmax(gamma) == 1


def test_training_moves_the_energy_towards_the_neighbours_in_all_but_the_last_layer(fields, twin_fields):
    """The untrained twin attends alike at all lags, so its centroid is L/4."""
    for trained, twin in zip(analyse(fields, [2, 8]), analyse(twin_fields, [2, 8]), strict=True):
        assert twin.profile.centroid == pytest.approx(10, abs=0.5)
        difference = compare_scalograms(twin.scalogram, trained.scalogram)
        assert difference.total.low > 0  # trained patterns differ more between texts than nearly uniform ones
        assert np.isfinite(difference.scale.estimate).all()
        if trained.layer < 5:
            assert trained.profile.centroid_interval().high < twin.profile.centroid
            neighbour = trained.profile.lags == 1
            assert compare_profiles(twin.profile, trained.profile).low[neighbour] > 0


def test_two_models_are_compared_layer_by_layer(fields, twin_fields):
    difference = compare_complexity([snapshot_pod(f) for f in twin_fields], [snapshot_pod(f) for f in fields], draws=20)
    assert all(i.estimate.shape == (len(LAYERS),) and np.isfinite(i.low).all() for i in difference.values())


def test_a_causal_model_goes_all_the_way_through(char_gpt, documents):
    analyses = analyse(head_mean_field(char_gpt, windows(documents, char_gpt, 48, 16)))
    for one in analyses:
        assert one.causal and one.scalogram.lags[0] == 0 and one.profile.lags[0] == 0
        assert np.abs(one.plain.modes.sum(axis=-1)).max() < 1e-4  # softmax rows add up to one
        assert one.excluded_mass == pytest.approx(0, abs=1e-6)
        assert np.abs(np.triu(one.plain.modes, 1)).max() == 0
