import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.colouring import by_class, by_value
from lib.views.component import script, style
from lib.views.matrix_scatter import kept_points, matrix_scatter_figure, parted
from lib.views.packet import unpack
from lib.views.scatter import coordinates, scatter_figure


@pytest.fixture
def xy():
    return np.random.default_rng(0).normal(size=(10_000, 2)) * [3, 1]


def test_positions_come_back_within_half_a_step_on_one_scale(xy):
    side = np.ptp(xy, axis=0).max()
    middle = (xy.max(0) + xy.min(0)) / 2
    back = (coordinates(xy) / 65535 - 0.5) * side + middle
    assert np.abs(back - xy).max() <= 0.5 * side / 65535 * 1.0001


def test_by_hand():
    np.testing.assert_array_equal(coordinates([[0, 0], [2, 1]]), [[0, 16384], [65535, 49151]])


def test_points_that_coincide_sit_in_the_middle():
    np.testing.assert_array_equal(coordinates(np.full((3, 2), 7.0)), np.full((3, 2), 32768))


def test_heads_are_scaled_apart(xy):
    both = coordinates(np.stack([xy, xy * 100 + 5]))
    assert np.abs(both[0].astype(int) - both[1]).max() <= 1


def test_ten_thousand_labelled_points_stay_small(xy):
    words = np.array([f"word{i}" for i in range(2000)])[np.arange(10_000) % 2000]
    facts = {"position": np.arange(10_000) % 128, "norm": np.ones(10_000)}
    figure = scatter_figure(xy, labels=words, facts=facts, roles=np.arange(10_000) % 2)
    assert len(figure.packet) + len(script("scatter")) + len(style()) < 300_000
    meta, arrays = unpack(figure.packet)
    assert [meta["words"][i] for i in arrays["labels"][:5]] == words[:5].tolist()
    assert figure.bounds == (10_000,)


def test_links_hits_and_sizes_travel(xy):
    figure = scatter_figure(
        xy, links=[[0, 9999], [0, 5]], link_weights=[1, 0.5], hits=np.arange(10_000) < 3, sizes=np.arange(10_000)
    )
    _, arrays = unpack(figure.packet)
    assert arrays["links"].tolist() == [[0, 9999], [0, 5]] and arrays["link_weights"].tolist() == [255, 128]
    assert arrays["hits"].sum() == 3 and (arrays["sizes"][[0, -1]] == [0, 255]).all()


@pytest.mark.parametrize(
    ("points", "options"),
    [
        (np.zeros((0, 2)), {}),
        (np.zeros((3, 3)), {}),
        (np.full((3, 2), np.nan), {}),
        (np.zeros((50_001, 2)), {}),
        (np.zeros((3, 2)), {"labels": ["a"]}),
        (np.zeros((3, 2)), {"hits": [True]}),
        (np.zeros((3, 2)), {"facts": {"norm": [1.0]}}),
    ],
)
def test_points_that_cannot_be_drawn_are_refused(points, options):
    with pytest.raises(HeadlightError):
        scatter_figure(points, **options)


def test_value_colours_of_two_roles_do_not_mix():
    colouring = by_value([0.0, 1.0, 0.0, 1.0], roles=[0, 0, 1, 1], title="position")
    assert colouring.classes.tolist() == [0, 31, 32, 63] and len(colouring.colours) == 64
    assert [entry["name"] for entry in colouring.legend] == ["query", "key"]


def test_values_without_a_number_take_the_lowest_shade():
    assert by_value([np.nan, 5.0, 5.0]).classes.tolist() == [0, 0, 0]


def test_many_classes_keep_a_short_legend():
    colouring = by_class(np.arange(40), [str(i) for i in range(40)])
    assert len(colouring.legend) == 12 and "29 more" in colouring.legend[-1]["name"]


@pytest.mark.parametrize("classes", [[0, 2], [-1, 0]])
def test_a_class_without_a_name_is_refused(classes):
    with pytest.raises(HeadlightError):
        by_class(np.array(classes), ["a", "b"])


def matrix(layers, heads, n):
    points = np.random.default_rng(0).integers(0, 65536, (layers, heads, n, 2)).astype(np.uint16)
    return points, by_class(np.arange(n) % 2, ["query", "key"])


@pytest.mark.parametrize("n", [10, 2000, 4000, 10_000])
def test_all_heads_fit_and_what_is_left_out_is_said(n):
    points, colouring = matrix(12, 12, n)
    figure = matrix_scatter_figure(points, colouring)
    meta, arrays = unpack(figure.packet)
    assert len(figure.packet) < 1_300_000 and figure.bounds == (12, 12)
    drawn = arrays["points"].shape[2]
    assert (drawn == n) == ("Drawn" not in meta["note"])
    assert len(arrays["classes"]) == drawn


def test_rounded_points_are_the_same_points():
    points, colouring = matrix(12, 12, 4000)
    meta, arrays = unpack(matrix_scatter_figure(points, colouring, note="Seed 0.").packet)
    drawn = arrays["points"]
    assert drawn.dtype == np.uint8 and meta["note"] == "Seed 0. Positions are rounded to 1/256 of each picture's side."
    assert unpack(matrix_scatter_figure(points[:2], colouring).packet)[0]["note"] == "", "nothing is rounded"
    np.testing.assert_array_equal(drawn, points >> 8)


def test_points_travel_apart_from_what_colours_them():
    points, colouring = matrix(6, 12, 4000)
    hits = np.arange(4000) % 7 == 0
    plain, lit = (parted(matrix_scatter_figure(points, colouring, hits=found), "all") for found in (None, hits))
    assert plain[0].packet == lit[0].packet, "a search sends no point again"
    assert len(lit[1].packet) < 12_000
    whole = unpack(matrix_scatter_figure(points, colouring, hits=hits).packet)
    sent, rest = (unpack(one.packet) for one in lit)
    assert rest[0]["points"] == sent[0]["parcel"] and rest[0] | {"points": 0} == whole[0] | {"points": 0}
    for name, array in whole[1].items():
        np.testing.assert_array_equal((sent[1] | rest[1])[name], array)
    other = parted(matrix_scatter_figure(points[:, ::-1], colouring), "all")
    assert unpack(other[0].packet)[0]["parcel"] != sent[0]["parcel"], "other points are not taken for these"


def test_search_hits_survive_sampling():
    hits = np.zeros(1000, bool)
    hits[[3, 500, 999]] = True
    kept = kept_points(1000, 100, hits)
    assert len(kept) == 100 and set(np.flatnonzero(hits)) <= set(kept) and (np.diff(kept) > 0).all()
    assert len(kept_points(1000, 100, np.ones(1000, bool))) == 100
    assert kept_points(1000, 5, None).tolist() == [0, 249, 499, 749, 999]


def test_a_matrix_of_the_wrong_kind_is_refused():
    points, colouring = matrix(2, 2, 5)
    with pytest.raises(HeadlightError, match="uint16"):
        matrix_scatter_figure(points.astype(float), colouring)
    with pytest.raises(HeadlightError, match="classes"):
        matrix_scatter_figure(points[:, :, :4], colouring)
