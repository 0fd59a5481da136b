import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.component import script, style
from lib.views.head_view import head_view_figure
from lib.views.linked import linked_figure
from lib.views.packet import unpack
from lib.views.patch_attention import patch_attention_figure
from lib.views.scatter import scatter_figure

XY = np.random.default_rng(0).normal(size=(20, 2))


def points():
    return scatter_figure(XY, labels=[f"t{i}" for i in range(20)])


def test_both_figures_travel_whole():
    text = head_view_figure(np.full((3, 4), 0.25), list("abc"), list("wxyz"))
    figure = linked_figure(points(), text, [0, 1, -1], [10, 11, 12, 13])
    meta, arrays = unpack(figure.packet)
    assert meta["source"] == "head_view" and figure.bounds == (20,)
    assert arrays["points"].tobytes() == points().packet and arrays["source"].tobytes() == text.packet
    assert arrays["query_points"].tolist() == [0, 1, -1]


def test_an_image_has_as_many_queries_as_keys():
    image = patch_attention_figure(np.zeros((4, 4, 3), np.uint8), (2, 2), np.eye(5))
    assert (
        unpack(linked_figure(points(), image, np.arange(5), np.arange(5, 10)).packet)[0]["source"] == "patch_attention"
    )


def test_tokens_beyond_the_512_shown_are_cut_alike():
    n = 600
    text = head_view_figure(np.full((n, n), 1 / n, np.float32), ["x"] * n)
    _, arrays = unpack(linked_figure(points(), text, np.full(n, -1), np.zeros(n)).packet)
    assert len(arrays["query_points"]) == len(arrays["key_points"]) == 512


def test_ten_thousand_points_and_a_long_document_stay_below_half_a_megabyte():
    xy = np.random.default_rng(0).normal(size=(10_000, 2))
    cloud = scatter_figure(xy, labels=[f"word{i % 2000}" for i in range(10_000)], roles=np.arange(10_000) % 2)
    text = head_view_figure(np.full((256, 256), 1 / 256), [f"word{i}" for i in range(256)])
    figure = linked_figure(cloud, text, np.arange(256), np.arange(5000, 5256))
    assert len(figure.packet) + len(script("linked")) + len(style()) < 500_000


@pytest.mark.parametrize("queries", [[0, 1], [0, 1, 20], [0, 1, -2]])
def test_points_that_are_not_drawn_are_refused(queries):
    text = head_view_figure(np.eye(3), list("abc"))
    with pytest.raises(HeadlightError, match="3 query points"):
        linked_figure(points(), text, queries, [0, 1, 2])


def test_only_a_scatter_links_to_a_head():
    text = head_view_figure(np.eye(3), list("abc"))
    with pytest.raises(HeadlightError, match="scatter"):
        linked_figure(text, text, [0, 1, 2], [0, 1, 2])
