import numpy as np
import pytest
from plotly.colors import sequential

from lib.views import palette


def brightness(table):
    linear = (table / 255.0) ** 2.2
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("name", ["cividis", "viridis"])
def test_sequential_tables_only_get_brighter(name):
    assert (np.diff(brightness(palette.table(name))[::3]) > 0).all()  # neighbours may round alike


@pytest.mark.parametrize(("name", "other"), [("cividis", sequential.Cividis), ("viridis", sequential.Viridis)])
def test_sequential_tables_agree_with_an_independent_copy(name, other):
    anchors = np.array([palette.rgb(colour) for colour in other], float)
    at = np.linspace(0, 255, len(anchors)).round().astype(int)
    assert np.abs(palette.table(name)[at] - anchors).max() <= 2


def test_the_diverging_table_is_whitest_in_the_middle_and_blue_below():
    table = palette.table("diverging")
    assert np.argmax(brightness(table)) in (127, 128)
    assert table[0, 2] > table[0, 0] and table[-1, 0] > table[-1, 2]


def test_the_fixed_colours():
    assert (palette.QUERY, palette.KEY, palette.VALUE, palette.OUTPUT) == ("#5FB96C", "#E3378F", "#3B7DD8", "#D98E04")
    assert palette.rgb("#5FB96C") == (95, 185, 108)


@pytest.mark.parametrize("count", [1, 8, 9, 40])
def test_classes_get_distinct_colours(count):
    assert len(set(palette.class_colours(count))) == count
