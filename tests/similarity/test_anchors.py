import math

import numpy as np
import pytest

from lib.similarity import anchor_tokens, anchored_heads, anchors, measure
from lib.similarity.anchors import candidates
from lib.similarity.errors import SimilarityError


@pytest.fixture(scope="module")
def planted(made):
    """Head 0 points token 5 one way; head 1 only lengthens token 5; head 2 anchors 3, then 4 in odd documents."""
    rng = np.random.default_rng(8)
    sizes = [50] * 16
    one = np.concatenate([np.repeat([3, 4, 5], 6), np.repeat(np.arange(10, 26), 2)])  # a document of 50 tokens
    ids = np.concatenate([rng.permutation(one) for _ in sizes])
    odd = np.repeat(np.arange(16) % 2, 50).astype(bool)
    z = rng.normal(size=(1, 4, 800, 16))
    z[0, 0, ids == 5] = 4 * np.eye(16)[0]
    z[0, 1, ids == 5] *= 6
    z[0, 2, np.where(odd, ids == 4, ids == 3)] = 4 * np.eye(16)[0]
    capture = made(z, sizes, ids=ids)
    return measure(capture), measure(capture, kind="cosine")


def test_planted_anchors_their_stability_and_the_norm_check(planted):
    table = anchors(*planted)
    assert list(table["token"][:2]) == ["t5", "t5"]
    assert (table["lift"][:2] > 3).all()
    assert list(table["only_long"][:2]) == [False, True]
    assert table["stability"][0] == 1
    assert list(table["same_in_halves"][:3]) == [True, True, False]
    assert (table["first_half"][2], table["second_half"][2]) == ("t3", "t4")
    assert table["length_ratio"][1] == pytest.approx(6 / (1 + 5 * 6 / 50), rel=0.05)
    assert table["lift"][3] < 3  # the converse: nothing planted
    assert table["stability"][3] < 0.8


def test_shares_of_all_candidates_add_up(random_corpus):
    measured = measure(random_corpus)
    found = candidates(measured, minimum=1, spread=1)
    np.testing.assert_allclose(found.ends.sum(axis=2), 1, rtol=1e-5)
    np.testing.assert_allclose(found.corpus.sum(axis=1), 1, rtol=1e-5)


def test_lift_by_hand(made):
    # ten documents of 5 tokens a, b, c, d, e; the single selected pair is always a with b
    z = np.tile(np.array([[2, 0], [2, 0], [0, 1], [0, -1], [-1, 0]], dtype=float), (10, 1))[None, None]
    table = anchor_tokens(measure(made(z, [5] * 10, ids=np.tile(np.arange(5), 10)), top=0.1), 0, 0)
    assert set(table["token"][:2]) == {"t0", "t1"}
    assert list(table["share"][:2]) == [0.5, 0.5]
    assert list(table["lift"][:2]) == pytest.approx([2.5, 2.5])
    assert list(table["lift"][2:]) == [0, 0, 0]
    assert list(table["lift_low"][:2]) == pytest.approx([2.5, 2.5])


def test_rare_and_local_tokens_are_no_candidates(made):
    ids = np.concatenate([np.full(30, 1), np.full(28, 2), [3, 4], np.arange(30) % 2 + 1, np.full(30, 2)])
    measured = measure(made(np.random.default_rng(0).normal(size=(1, 1, 120, 4)), [30] * 4, ids=ids))
    assert [measured.names[label] for label in candidates(measured).labels] == ["t2"]


def test_share_of_anchored_heads_holds_itself(planted):
    share, low, high = anchored_heads(planted[0], draws=50)
    assert share == 0.5
    assert low <= share <= high
    assert anchored_heads(planted[1], draws=50)[0] == 0.25


def test_images_have_no_anchors(made):
    places = np.argwhere(np.ones((5, 6)))
    measured = measure(made(np.random.default_rng(1).normal(size=(1, 1, 30, 4)), places=places, ids=np.full(30, -1)))
    with pytest.raises(SimilarityError, match="Images have no anchors"):
        anchors(measured)


def test_one_document_has_anchors_without_halves(made):
    ids = np.random.default_rng(3).permutation(np.concatenate([np.repeat([3, 4, 5], 6), np.arange(10, 42)]))
    z = np.random.default_rng(4).normal(size=(1, 2, 50, 16))
    z[0, 0, ids == 5] = 4 * np.eye(16)[0]
    measured = measure(made(z, ids=ids))
    table = anchors(measured)
    assert table["token"][0] == "t5" and table["lift"][0] > 3
    assert table["stability"].isna().all()
    assert table[["first_half", "second_half", "same_in_halves"]].isna().all(axis=None)
    assert all(math.isnan(number) for number in anchored_heads(measured))


def test_documents_without_pairs_are_in_no_half(made):
    one = np.repeat([3, 4, 5], 6)
    ids = np.concatenate([one, [3], one, [3], one])  # documents 1 and 3 have one token each
    z = np.random.default_rng(5).normal(size=(1, 1, len(ids), 8))
    z[0, 0, ids == 5] = 4 * np.eye(8)[0]
    measured = measure(made(z, [18, 1, 18, 1, 18], ids=ids))
    table = anchors(measured)
    assert (table["token"][0], table["first_half"][0], table["second_half"][0]) == ("t5", "t5", "t5")
    share, low, high = anchored_heads(measured, draws=10)
    assert share == 0  # a third of all tokens has a lift of 3 at most
    assert math.isnan(low) and math.isnan(high)  # one of the halves is one document: resampling it changes nothing


def test_a_text_too_short_for_anchors_is_told_in_the_singular(made):
    measured = measure(made(np.random.default_rng(6).normal(size=(1, 1, 6, 4))))
    with pytest.raises(SimilarityError, match=r"5 times, in one document; got none of 6\. Add text"):
        anchors(measured)
