import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.spectral import (
    Field,
    analyse,
    bootstrap_power_law,
    ensemble,
    lag_bands,
    lag_scalogram,
    lag_window,
    snapshot_pod,
)
from tests.spectral.synthetic import noise_field, planted


def test_an_analysis_holds_what_each_function_gives():
    fields = [Field(noise_field(12, 48, seed=s).pattern, layer=s) for s in range(3)]
    found = analyse(fields, centres=[2, 10])
    assert [a.layer for a in found] == [0, 1, 2]
    one, field = found[1], fields[1]
    np.testing.assert_array_equal(one.scalogram.energy, lag_scalogram(field).energy)
    modes = snapshot_pod(field)
    np.testing.assert_allclose(one.plain.modes, modes.modes[:6], rtol=1e-6)
    np.testing.assert_allclose(one.plain.scores, modes.scores[:, :6], atol=1e-12)
    assert one.plain.power == bootstrap_power_law(modes)
    band = snapshot_pod(field, lag_bands(48, [2, 10])[1])
    np.testing.assert_allclose(one.bands[1].eigenvalues, band.eigenvalues)
    assert [b.centre for b in one.bands] == [2, 10]
    assert one.white.shape[1] == one.shuffled.shape[1] == 11
    assert one.growth.rank[-1] <= one.growth.bound[-1]


def test_jobs_change_nothing():
    fields = [noise_field(8, 40, seed=s) for s in range(3)]
    for one, two in zip(analyse(fields, jobs=1), analyse(fields, jobs=2), strict=True):
        np.testing.assert_array_equal(one.plain.eigenvalues, two.plain.eigenvalues)
        np.testing.assert_array_equal(one.shuffled, two.shuffled)
        np.testing.assert_array_equal(one.scalogram.by_document, two.scalogram.by_document)


def test_bands_follow_the_common_profile_when_none_are_given():
    fields = [planted(lambda lag, _: np.exp(-0.5 * ((lag - 20) / 3) ** 2), noise=0.01) for _ in range(2)]
    centres = [[b.centre for b in a.bands] for a in analyse(fields)]
    assert centres[0] == centres[1] and len(centres[0]) == 4 and max(centres[0]) > 20


@pytest.mark.filterwarnings("ignore:.*still being processed.*:UserWarning")  # cancelling leaves some
def test_progress_counts_layers_and_can_cancel():
    fields, seen = [noise_field(5, 40, seed=s) for s in range(3)], []
    analyse(fields, progress=lambda done, total, stage: seen.append((done, total)))
    assert seen == [(1, 3), (2, 3), (3, 3)]

    def stop(done, total, stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        analyse(fields, progress=stop)


def test_constant_and_identical_documents_go_all_the_way_through():
    pattern = np.repeat(noise_field(1, 40).pattern, 6, axis=0)
    analysis = analyse([Field(pattern), Field(np.full((6, 40, 40), 1 / 40))])
    for one in analysis:
        assert one.plain.eigenvalues.size == one.plain.total == one.growth.rank[-1] == 0
        assert one.plain.modes.shape == (0, 40, 40) and not one.dominant
        assert np.isnan(one.plain.power.beta)


def test_a_band_without_energy_is_an_empty_ensemble():
    empty = ensemble(planted(lambda lag, _: (lag < 4) * 1.0), lag_window(64, 62, 1), 62.0)
    assert empty.total == 0 and empty.modes.shape == (0, 64, 64) and empty.centre == 62


def test_too_few_windows_are_refused():
    with pytest.raises(HeadlightError, match="at least 3 windows"):
        analyse([noise_field(2, 40)])
