import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.views.head_view import flow, head_view_figure, running
from lib.views.packet import unpack

HOSTILE = ["<s>", "a<b", "</script><script>alert(1)</script>", "שלום", "東京", "💩", "\x00", "\ud800"]


def test_pieces_and_gaps_rebuild_the_text():
    text = "The birds sang.\n\nNobody  listened."
    start, end = [-1, 0, 4, 7, 10, 14, 17, 25, 33, -1], [-1, 3, 7, 9, 14, 15, 23, 33, 34, -1]
    shown = ["[CLS]", "the", "bir", "##ds", "sang", ".", "nobody", "listened", ".", "[SEP]"]
    pieces, gaps = flow(text, start, end, shown)
    rebuilt = "".join(g + p for g, p in zip(gaps, pieces, strict=True))
    assert rebuilt == "[CLS]The birds sang.\nNobody listened.[SEP]"


def test_tokens_that_share_one_character_stay_countable():
    pieces, gaps = flow("a💩b", [0, 1, 1, 1, 2], [1, 2, 2, 2, 3], list("axyzb"))
    assert pieces == ["a", "💩", "◦", "◦", "b"] and gaps == [""] * 5


def test_hostile_tokens_travel_as_text():
    figure = head_view_figure(np.full((8, 8), 1 / 8), HOSTILE)
    meta, _ = unpack(figure.packet)
    assert meta["rows"] == HOSTILE and meta["query"]["pieces"] == HOSTILE


def test_a_cross_pattern_has_two_texts():
    pattern = np.random.default_rng(0).dirichlet(np.ones(5), 3)
    meta, arrays = unpack(head_view_figure(pattern, list("abc"), list("vwxyz")).packet)
    assert arrays["codes"].shape == (3, 5) and not meta["same"] and meta["key"]["pieces"] == list("vwxyz")


def test_at_most_512_tokens_and_what_is_left_out_is_said():
    figure = head_view_figure(np.full((700, 700), 1 / 700, np.float32), [f"w{i}" for i in range(700)])
    meta, arrays = unpack(figure.packet)
    assert arrays["codes"].shape == (512, 512) and "512 of 700" in meta["note"] and len(meta["query"]["pieces"]) == 512
    assert len(figure.packet) < 420_000 and figure.bounds == (512, 512)


def test_causal_pairs_are_masked_not_zero():
    mask = np.triu(np.ones((4, 4), bool), 1)
    _, arrays = unpack(head_view_figure(np.tril(np.full((4, 4), 0.25)), list("abcd"), mask=mask).packet)
    np.testing.assert_array_equal(arrays["codes"] == 0, mask)


@pytest.mark.parametrize("mode", ["lines", "heatmap", "text"])
def test_a_single_view_has_only_itself(mode):
    meta, _ = unpack(head_view_figure(np.eye(2), ["a", "b"], modes=(mode,)).packet)
    assert meta["mode"] == mode and meta["modes"] == [mode]


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(HeadlightError, match="one label per query"):
        head_view_figure(np.eye(3), ["a", "b"])
    with pytest.raises(HeadlightError, match="square pattern or key tokens"):
        head_view_figure(np.ones((2, 3)), ["a", "b"])
    with pytest.raises(HeadlightError, match="3 pieces"):
        running((["a"], [""]), ["a", "b", "c"], None)


def test_weights_without_direction_attend_to_nothing():
    similar, attending = (head_view_figure(np.eye(2), ["a", "b"], symmetric=value) for value in (True, False))
    assert unpack(similar.packet)[0]["symmetric"] and not unpack(attending.packet)[0]["symmetric"]
    assert "attending" in attending.label and "attending" not in similar.label
