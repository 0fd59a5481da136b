import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.lag_profile import lag_profile_figure
from lib.views.packet import unpack


def test_curve_bands_and_handles_travel_and_a_move_has_bounds():
    lags, bands = np.arange(-3, 4), np.eye(2, 7)
    figure = lag_profile_figure(
        lags, [1, 2, 3, 4, 3, 2, 1], bands, [-2.0, 1.5], low=np.zeros(7), high=np.full(7, 8.0), chosen=1
    )
    meta, arrays = unpack(figure.packet)
    assert figure.bounds == (2, 7)
    assert (meta["first"], meta["centres"], meta["chosen"], meta["top"]) == (-3, [-2.0, 1.5], 1, 8.0)
    np.testing.assert_allclose(arrays["profile"] * 8, [1, 2, 3, 4, 3, 2, 1])
    np.testing.assert_array_equal(arrays["bands"], bands)
    assert "arrow" not in meta["label"] and "Left and right move" in meta["label"]


def test_a_curve_without_energy_is_flat_not_undefined():
    _, arrays = unpack(lag_profile_figure([0, 1], [0.0, 0.0], [[1.0, 0.0]], [0]).packet)
    assert (arrays["profile"] == 0).all()


@pytest.mark.parametrize(
    ("lags", "bands", "centres"), [([0, 2], [[1, 0]], [0]), ([0, 1], [[1, 0]], [0, 1]), ([0, 1], [[1, 0, 0]], [0])]
)
def test_what_does_not_fit_is_refused(lags, bands, centres):
    with pytest.raises(HeadlightError, match="consecutive lags"):
        lag_profile_figure(lags, [1.0, 0.5], bands, centres)
