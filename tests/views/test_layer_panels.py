import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.layer_panels import MOST_COLUMNS, Panel, layer_panels_figure
from lib.views.packet import restore, unpack


def panels(count=2, rows=5, columns=12, **options):
    rng = np.random.default_rng(0)
    return [
        Panel(f"L{i}", "note", "words", rng.random(columns), rng.random((rows, columns)), **options)
        for i in range(count)
    ]


def test_values_come_back_and_all_panels_share_their_colours():
    made = panels()
    figure = layer_panels_figure(made, np.geomspace(3, 12, 5), np.arange(12), chosen=1)
    meta, arrays = unpack(figure.packet)
    values = np.stack([panel.values for panel in made])
    assert figure.bounds == (2,) and meta["chosen"] == 1 and meta["high"] == values.max()
    np.testing.assert_allclose(restore(arrays["codes"], meta["low"], meta["high"]), values, atol=0.01)
    np.testing.assert_allclose(arrays["profile"].max(axis=1), 1)


def test_signed_values_are_measured_from_zero_and_undefined_ones_have_no_colour():
    made = panels(1)
    made[0].values[0, 0] = np.nan
    made[0].values[1, 1] = -3.0
    meta, arrays = unpack(layer_panels_figure(made, range(1, 6), range(12), kind="diverging").packet)
    assert (meta["low"], meta["high"]) == (-3.0, 3.0)
    assert arrays["codes"][0, 0, 0] == 0 and arrays["codes"][0, 1, 1] == 1


def test_long_axes_are_averaged_and_keep_their_ends():
    columns = 3 * MOST_COLUMNS + 2
    made = panels(1, columns=columns)
    meta, arrays = unpack(layer_panels_figure(made, range(1, 6), range(columns)).packet)
    assert arrays["codes"].shape[2] <= MOST_COLUMNS
    first = restore(arrays["codes"], meta["low"], meta["high"])[0, :, 0]
    np.testing.assert_allclose(first, made[0].values[:, :4].mean(axis=1), atol=0.01)
    assert meta["columns"][0] == 1.5 and meta["columns"][1] > columns - 4


def test_rules_that_are_not_defined_are_left_out():
    meta, _ = unpack(layer_panels_figure(panels(1, rules=(float("nan"), 2.0)), range(1, 6), range(12)).packet)
    assert meta["panels"][0]["rules"] == [2.0]


def test_panels_of_other_shapes_are_refused():
    with pytest.raises(HeadlightError, match="one set of axes"):
        layer_panels_figure([*panels(), *panels(1, rows=4)], range(1, 6), range(12))
    with pytest.raises(HeadlightError, match="at least one panel"):
        layer_panels_figure([], range(1, 6), range(12))
