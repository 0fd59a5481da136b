import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.colouring import by_class
from lib.views.space import space

XYZ = np.random.default_rng(0).normal(size=(6, 3))
COLOURS = by_class(np.array([0, 1, 0, 1, 0, 1]), ["a", "b"], ["#111111", "#222222"])


def test_every_point_has_its_colour_and_its_inert_label():
    (trace,) = space(XYZ, COLOURS, ["<script>", "<b>x</b>", "a&b", "d", "e", "f"]).data
    np.testing.assert_array_equal(trace.x, XYZ[:, 0])
    assert trace.marker.color[:2] == ("#111111", "#222222")
    assert trace.text[:3] == ("&lt;script&gt;", "&lt;b&gt;x&lt;/b&gt;", "a&amp;b")


def test_hits_stand_out():
    faded, lit = space(XYZ, COLOURS, hits=np.arange(6) == 2).data
    assert len(faded.x) == 5 and lit.x[0] == XYZ[2, 0] and lit.marker.opacity > faded.marker.opacity


@pytest.mark.parametrize("points", [np.zeros((0, 3)), np.zeros((3, 2)), np.full((2, 3), np.nan), np.zeros((5001, 3))])
def test_points_that_cannot_be_drawn_are_refused(points):
    with pytest.raises(HeadlightError):
        space(points, COLOURS)
