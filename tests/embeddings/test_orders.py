"""Planted structure is found, ranked first, and nothing is found in noise."""

import numpy as np
import pandas as pd
import pytest

from lib.corpora.patches import patch_table
from lib.corpora.tokens import Encoding
from lib.embeddings import EmbeddingError, what_orders
from lib.embeddings.orders import NEIGHBOURS

SIZES = [24] * 8
TOKENS = sum(SIZES)
POS = np.tile(np.arange(24), 8)
IDS = np.random.default_rng(7).integers(0, 30, size=TOKENS)
WIDTH = 12


def spiral(values, turns=2.5):
    """Points along a spiral in d_head dimensions, by value."""
    t = np.asarray(values, float) / 23
    angle = 2 * np.pi * turns * t
    plane = np.stack([np.cos(angle), np.sin(angle), 1.5 * t], axis=1)
    return plane @ np.linalg.qr(np.random.default_rng(1).normal(size=(WIDTH, 3)))[0].T * 5


def clumps(labels):
    centres = np.random.default_rng(2).normal(size=(int(np.max(labels)) + 1, WIDTH)) * 3
    return centres[labels]


def noisy(points, seed, size=0.3):
    return points + np.random.default_rng(seed).normal(scale=size, size=points.shape)


@pytest.fixture(scope="module")
def orders(made):
    """Five heads: random, spiral of positions, clumps of position mod 5, clumps of tokens, random."""
    rng = np.random.default_rng(3)
    random = [rng.normal(size=(TOKENS, WIDTH)) for _ in range(2)]
    heads = [random[0], spiral(POS), clumps(POS % 5), clumps(IDS), random[1]]
    query, key = (np.stack([noisy(head, seed) for head in heads])[None] for seed in (4, 5))
    return what_orders(made(query, key, SIZES, ids=IDS, sentence=np.tile(np.arange(24) // 6, 8)))


@pytest.mark.parametrize(("attribute", "head"), [("position", 1), ("position_mod_5", 2), ("identity", 3)])
def test_the_planted_head_is_ranked_first(orders, attribute, head):
    ranked = orders.ranked(attribute)
    assert ranked["head"][0] == head
    assert ranked.ordered[0]
    assert ranked.strength[0] > 0.8
    first = orders.first()
    assert first[first["head"] == head].attribute.item() == attribute


def test_random_heads_are_ordered_by_nothing(orders):
    random = orders.table[orders.table["head"].isin([0, 4])]
    assert not random.ordered.any()
    assert np.nanmax(np.abs(random.strength)) < 0.25


def test_a_map_of_tokens_is_not_said_to_be_one_of_frequency(orders):
    """Equal tokens have equal frequency, so only the exchange of whole types can tell."""
    frequency = orders.ranked("frequency").set_index("head").loc[3]
    assert frequency.score > 0.9
    assert not frequency.ordered


def test_scores_are_bounded_and_what_they_rest_on_is_said(orders):
    known = orders.table.dropna(subset=["score"])
    assert set(orders.table.attribute) - set(known.attribute) == {"part_of_speech"}  # these tokens have none
    assert (known.score <= 1 + 1e-9).all()
    assert (known.low <= known.score + 1e-9).all()
    assert "192 tokens of 8 documents" in orders.note
    assert "other documents" in orders.note


def test_worked_example(made):
    """Two documents of three tokens; each token's one neighbour in the other document has its position."""
    points = np.eye(3)[[0, 1, 2, 0, 1, 2]][None, None]
    found = what_orders(made(points, points, [3, 3]), attributes=["position", "identity"], neighbours=1)
    score = found.table.set_index("attribute").score
    assert score["position"] == pytest.approx(1)
    assert np.isnan(score["identity"])  # no token occurs in both documents


def test_sentences_count_only_beyond_nearness_in_the_text(made):
    sentence = np.tile(np.arange(24) // 6, 8)
    doc = np.repeat(np.arange(8), 24)
    line = np.stack([np.cos(POS / 8 + doc), np.sin(POS / 8 + doc)] + [np.zeros(TOKENS)] * (WIDTH - 2), axis=1)
    heads = [clumps(sentence + 4 * doc), 4 * line]
    query, key = (np.stack([noisy(head, seed, 0.05) for head in heads])[None] for seed in (4, 5))
    found = what_orders(made(query, key, SIZES, ids=IDS, sentence=sentence), attributes=["sentence"]).ranked("sentence")
    assert found["head"].tolist() == [0, 1]
    assert found.strength[0] > 0.8
    assert found.strength[1] < 0.5
    assert found.null[1] > 0.5  # what nearness alone gives


def test_one_document_is_judged_against_far_permutations(made):
    rng = np.random.default_rng(6)
    position = np.arange(60)
    query, key = (np.stack([noisy(spiral(position / 60 * 23), s), rng.normal(size=(60, WIDTH))])[None] for s in (1, 2))
    found = what_orders(made(query, key), attributes=["position"])
    assert found.ranked("position").ordered.tolist() == [True, False]
    assert "the same document, other tokens" in found.note


def test_a_single_head_is_scored_as_among_others_and_can_be_stopped(made):
    class Stop(Exception):
        pass

    rng = np.random.default_rng(11)
    capture = made(*(rng.normal(size=(1, 2, 40, 6)) for _ in range(2)), [20, 20])
    told = []
    alone = what_orders(capture, heads=[(capture.layers[0], 1)], progress=lambda *at: told.append(at[:2]))
    both = what_orders(capture).table
    columns = ["attribute", "score", "null", "strength"]
    pd.testing.assert_frame_equal(
        alone.table[columns].reset_index(drop=True), both[both["head"] == 1][columns].reset_index(drop=True)
    )
    assert told == [(i, len(told)) for i in range(2 * len(alone.table))]

    def stop(done, total, stage):
        if done == 3:
            raise Stop

    with pytest.raises(Stop):
        what_orders(capture, heads=[(capture.layers[0], 1)], progress=stop)


def test_special_tokens_take_no_part(made):
    rng = np.random.default_rng(8)
    points = rng.normal(size=(1, 1, 40, 6))
    special = np.arange(40) % 10 == 0
    wild = points.copy()
    wild[..., special, :] = 1e3 * rng.normal(size=(4, 6))
    kept = what_orders(made(points, points, [20, 20], special=special))
    assert "36 tokens of 2 documents" in kept.note
    assert len(what_orders(made(wild, wild, [20, 20], special=special)).table) == len(kept.table)


def images(count=4, side=6):
    """Encodings whose patches have random flat colours, and their hue of each patch."""
    rng = np.random.default_rng(9)
    encodings = []
    for _ in range(count):
        hue = rng.uniform(size=(side, side))
        channel = np.clip(np.abs(hue[..., None] * 6 - np.array([3, 2, 4])) * [1, -1, -1] + [-1, 2, 2], 0, 1)
        image = np.repeat(np.repeat(np.round(255 * channel).astype(np.uint8), 8, 0), 8, 1)
        encodings.append(Encoding(table=patch_table((side, side), 1), seen=image, grid=(side, side)))
    return encodings


def test_a_hue_head_is_found_among_patches(made):
    from lib.embeddings import image_attributes

    encodings = images()
    tokens = type(encodings[0].table).join([one.table for one in encodings])
    places = np.stack([tokens.row, tokens.col], axis=1)
    known = image_attributes(tokens, encodings)
    turn = 2 * np.pi * known["hue"].values
    hue = np.stack([np.cos(turn), np.sin(turn)] + [np.zeros(len(turn))] * 4, axis=1)
    row = np.stack([np.cos(tokens.row / 2), np.sin(tokens.row / 2)] + [np.zeros(len(turn))] * 4, axis=1)
    rng = np.random.default_rng(10)
    heads = [rng.normal(size=hue.shape), 3 * hue, 3 * row]
    query, key = (np.stack([noisy(head, seed, 0.1) for head in heads])[None] for seed in (1, 2))
    capture = made(query, key, [37] * 4, places=places, special=tokens.is_special)
    found = what_orders(capture, encodings)
    assert set(found.table.attribute) == {"hue", "brightness", "row", "column", "frequency", "angle", "norm"}
    for attribute, head in (("hue", 1), ("row", 2)):
        ranked = found.ranked(attribute)
        assert ranked["head"][0] == head
        assert ranked.strength[0] > 0.7
        assert not ranked[ranked["head"] == 0].ordered.any()


def test_cross_attention_is_refused(table):
    from lib.capture.value import Capture

    array = np.ones((1, 1, 6, 2), np.float32)
    crossing = Capture(
        tokens=table([6]), doc_offsets=np.array([0, 6]), layers=(0,), query=array, key=array, stream="cross"
    )
    with pytest.raises(EmbeddingError, match="cross"):
        what_orders(crossing)


def test_five_tokens_and_identical_vectors_give_numbers_or_nothing(made):
    for points in (np.random.default_rng(11).normal(size=(1, 1, 5, 4)), np.ones((1, 1, 5, 4)), np.zeros((1, 1, 1, 4))):
        found = what_orders(made(points, points))
        assert len(found.table) == 7
        assert not found.table.ordered.any()
    assert NEIGHBOURS == 5


def test_real_heads_are_ordered_by_position(minilm_capture):
    found = what_orders(minilm_capture, heads=[(1, 9), (1, 10)], attributes=["position", "identity"], permutations=10)
    assert found.ranked("position")["head"][0] == 9  # attends to the previous token
    assert found.ranked("position").strength[0] > 0.9
    assert found.ranked("identity")["head"][0] == 10


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"heads": []}, "at least one head; got none"),
        ({"attributes": ["colour"]}, r"got \['colour'\]"),
        ({"attributes": []}, r"got \[\]"),
        ({"neighbours": 0}, "neighbours: a whole number"),
        ({"neighbours": 2.5}, "got 2.5"),
        ({"permutations": 0}, "permutations: a whole number"),
        ({"most": 0}, "at least 1; got 0"),
        ({"heads": [(0, 3)]}, "a head below 1; got head 3"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_a_way_out(made, asked, says):
    points = np.random.default_rng(0).normal(size=(1, 1, 40, 4))
    with pytest.raises(EmbeddingError, match=says):
        what_orders(made(points, points, [20, 20]), **asked)


def test_one_attribute_may_be_named_alone(made):
    points = np.random.default_rng(0).normal(size=(1, 1, 40, 4))
    assert what_orders(made(points, points, [20, 20]), attributes="position").table.attribute.tolist() == ["position"]
