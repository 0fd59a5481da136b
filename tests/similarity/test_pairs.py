import numpy as np
import pytest

from lib.similarity.errors import SimilarityError
from lib.similarity.matrix import similarity_matrix
from lib.similarity.pairs import (
    Settings,
    blocks,
    number_selected,
    pairs_of,
    select,
)
from lib.similarity.units import document_units, token_classes, units_of


def units_in(capture, special=False, words=False):
    return units_of(capture.tokens, capture.doc_offsets, special, words).units[0]


def tokens(made, n, **columns):
    return made(np.ones((1, 1, n, 2)), **columns)


def test_every_pair_once_with_its_distance(made):
    pairs = pairs_of(units_in(tokens(made, 4)))
    assert list(zip(pairs.first, pairs.second, pairs.distance, strict=True)) == [
        (0, 1, 1),
        (0, 2, 2),
        (0, 3, 3),
        (1, 2, 1),
        (1, 3, 2),
        (2, 3, 1),
    ]


@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (2, 2), (3, 5), (7, 7), (1, 9), (16, 11)])
def test_mean_distance_on_a_grid_is_a_third_of_its_sides(rows, columns, made):
    places = np.argwhere(np.ones((rows, columns)))
    pairs = pairs_of(units_in(tokens(made, rows * columns, places=places, ids=np.full(rows * columns, -1))))
    assert pairs.distance.mean() == pytest.approx((rows + columns) / 3)
    assert not pairs.has_labels


@pytest.mark.parametrize(("pairs", "top", "count"), [(100, 0.01, 1), (299, 0.01, 2), (3, 0.01, 1), (100, 0.29, 29)])
def test_how_many_pairs_a_share_is(pairs, top, count):
    assert number_selected(pairs, top) == count


def test_selection_is_the_largest_by_sorting():
    values = np.random.default_rng(1).normal(size=(6, 500))
    chosen = select(values, 0.05)
    assert chosen.count == 25
    for row in range(6):
        assert set(chosen.pair[chosen.row == row]) == set(np.argsort(values[row])[-25:])
    assert (chosen.weight == 1).all()


def test_ties_at_the_edge_share_the_places_left():
    # two above, four tie for the one place left: a quarter each
    values = np.array([[5.0, 1.0, 3.0, 3.0, 9.0, 3.0, 3.0, 0.0, 0.0, 0.0]])
    chosen = select(values, 0.3)
    assert dict(zip(chosen.pair, chosen.weight, strict=True)) == {0: 1, 4: 1, 2: 0.25, 3: 0.25, 5: 0.25, 6: 0.25}


def test_rounding_does_not_break_a_tie():
    rng = np.random.default_rng(2)
    values = (1 + rng.integers(-2, 3, size=(1, 200)) * 1.2e-7).astype(np.float32)
    chosen = select(values, 0.01)
    assert len(chosen.pair) == 200
    np.testing.assert_allclose(chosen.weight, 2 / 200)


@pytest.mark.parametrize("top", [0.0, -0.1, 1.01])
def test_a_share_is_between_nothing_and_everything(top):
    with pytest.raises(SimilarityError, match="0 < top ≤ 1"):
        Settings(top)
    assert select(np.arange(6.0)[None], 1.0).weight.sum() == 6


def test_special_tokens_leave_and_distance_closes_up(made):
    special = np.array([True, False, False, True, False, True])
    capture = tokens(made, 6, special=special, sentence=[-1, 0, 0, -1, 1, -1])
    without, kept = units_in(capture), units_in(capture, special=True)
    assert list(without.kept) == [1, 2, 4]
    assert pairs_of(without).distance.max() == 2  # tokens 1 and 4 are two apart once token 3 is gone
    assert pairs_of(kept).distance.max() == 5
    assert list(kept.separator) == [False, False, False, True, False, True]  # the first is [CLS]


def test_word_pieces_become_words_with_their_mean_vector(made):
    z = np.arange(10.0).reshape(1, 1, 5, 2)
    capture = made(z, word=[0, 1, 1, 2, -1], ids=[7, 8, 9, 7, 3], text=["the", "play", "ing", "the", " "])
    labels = units_of(capture.tokens, capture.doc_offsets, False, True)
    units = labels.units[0]
    assert labels.names == ("the", "playing", " ")
    np.testing.assert_array_equal(units.label, [0, 1, 0, 2])
    np.testing.assert_allclose(units.pool(z)[0, 0], [[0, 1], [3, 4], [6, 7], [8, 9]])


def test_a_row_of_a_word_is_its_first_token_s_with_the_text_of_all(made):
    text = "The player don't"
    capture = made(
        np.ones((1, 1, 7, 2)),
        word=[-1, 0, 1, 1, 2, 2, 2],
        text=["[CLS]", "The", "play", "er", "don", "'", "t"],
        special=np.array([1, 0, 0, 0, 0, 0, 0], dtype=bool),
        sentence=[-1, 0, 0, 0, 1, 1, 1],
        start=[-1, 0, 4, 8, 11, 14, 15],
        end=[-1, 3, 8, 10, 14, 15, 16],
    )
    units = document_units(capture.tokens, special=False, words=True)
    table = units.table(capture.tokens, text)
    assert table.text == ("The", "player", "don't")
    assert units.table(capture.tokens).text == ("The", "player", "don't"), "spelt from its tokens without the text"
    assert list(zip(table.start, table.end, table.pos, table.sentence, strict=True)) == [
        (0, 3, 1, 0),
        (4, 10, 2, 0),
        (11, 16, 4, 1),
    ]
    assert document_units(capture.tokens, special=True, words=False).table(capture.tokens).text == capture.tokens.text


def test_a_word_of_bytes_is_read_from_the_text(made):
    columns = dict(word=[0, 0], text=["‹f0 9f›", "‹92 a9›"], start=[0, 0], end=[1, 1])
    capture = made(np.ones((1, 1, 2, 2)), **columns)
    units = document_units(capture.tokens, special=False, words=True)
    assert units.table(capture.tokens, "💩").text == ("💩",)
    assert units.table(capture.tokens).text == ("‹f0 9f›‹92 a9›",)


def test_two_texts_of_a_pair_share_no_word(made):
    capture = made(np.ones((1, 1, 3, 2)), word=[0, 0, 0], segment=[0, 0, 1], text=["a", "b", "c"])
    units = document_units(capture.tokens, special=False, words=True)
    assert units.table(capture.tokens).text == ("ab", "c")


def test_similarity_of_two_words_is_the_mean_over_their_tokens(made):
    z = np.random.default_rng(4).normal(size=(1, 1, 9, 5)).astype(np.float32)
    word = [0, 1, 1, 1, 2, -1, -1, 3, 3]
    capture = made(z, word=word)
    units = document_units(capture.tokens, special=False, words=True)
    members = [[0], [1, 2, 3], [4], [5], [6], [7, 8]]
    by_token = similarity_matrix(z[0, 0])
    expected = [[by_token[np.ix_(a, b)].mean() for b in members] for a in members]
    np.testing.assert_allclose(similarity_matrix(units.pool(z[0, 0])), expected, rtol=1e-4, atol=1e-5)


def test_whole_words_change_nothing_where_no_word_is_split(made):
    capture = tokens(made, 12, ids=np.arange(12) % 5, sentence=np.arange(12) // 4)
    one, two = units_in(capture), units_in(capture, words=True)
    for name in ("kept", "starts", "sizes", "label", "sentence", "separator"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


def test_classes_of_tokens(made):
    text = ["[CLS]", "Hi", "!", "...", "a.b", "[SEP]", "؟", ""]
    capture = tokens(made, 8, text=text, special=np.array([1, 0, 0, 0, 0, 1, 0, 0], dtype=bool))
    np.testing.assert_array_equal(token_classes(capture.tokens), [1, 0, 3, 3, 0, 2, 3, 0])


def test_zero_vectors_leave_their_head_alone(made):
    z = np.random.default_rng(3).normal(size=(1, 3, 10, 4))
    z[0, 1, [2, 5]] = 0
    capture = made(z)
    found = {head: b for b in blocks(capture.z[0], units_in(capture), Settings(0.1, "cosine")) for head in b.heads}
    assert sorted(found) == [0, 1, 2]
    assert [found[head].undefined for head in range(3)] == [0, 2, 0]
    assert len(found[1].pairs) == 28
    assert not np.isin(found[1].pairs.first, [2, 5]).any()
    for b in blocks(capture.z[0], units_in(capture), Settings(0.1, "dot")):
        assert b.undefined == 0
        assert len(b.pairs) == 45


def test_offsets_must_fit_the_tokens(made):
    with pytest.raises(SimilarityError, match="doc_offsets"):
        units_of(tokens(made, 5).tokens, [0, 4], False, False)
