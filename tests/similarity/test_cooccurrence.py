import numpy as np
import pytest

from lib.similarity import measure, neighbourhood, pmi
from lib.similarity.errors import SimilarityError


@pytest.fixture(scope="module")
def planted(made):
    """Head 0: tokens 7 and 8 point the same way in every document; head 1: nothing does."""
    rng = np.random.default_rng(3)
    sizes = [40] * 10
    ids = np.concatenate([rng.permutation(np.arange(40) % 20) for _ in sizes])
    z = rng.normal(size=(1, 2, 400, 16))
    z[0, 0] = 0
    z[0, 0, (ids == 7) | (ids == 8)] = 5 * np.eye(16)[0]
    return measure(made(z, sizes, ids=ids), top=0.01)


def test_pmi_by_hand(planted):
    # 780 pairs a document, 7 selected; tokens 7 and 8, twice each, make 6 pairs: 4 of 7 with 8, 1 each of like tokens;
    # the seventh place is shared by the 774 other pairs, of which 18 are of like tokens
    frame = pmi(planted, 0, 0)
    best = frame.iloc[0]
    assert {best["first"], best["second"]} == {"t7", "t8"}
    assert best["selected"] == 40
    assert best["present"] == 40
    n_sel = 10 * (4 + 756 / 774)
    n_pair = 10 * (780 - 20)  # twenty tokens occur twice
    assert best["pmi"] == pytest.approx(np.log((40 / n_sel) / (40 / n_pair)))
    assert best["documents"] == 10


def test_the_rate_in_other_documents_finds_what_is_planted_and_only_that(planted):
    lift = planted.values["cooccurrence"].mean(axis=0)[0] / planted.chance["cooccurrence"].mean(axis=0)[0]
    assert lift[0] > 30
    assert lift[1] < 5


def test_the_rate_by_hand(made):
    # two tokens a, b, alternating; six of each make 36 pairs of a with b a document, in three documents.
    # the head selects pairs of one a with one b only: 1 of 66 pairs
    z = np.zeros((1, 1, 36, 2))
    for document in range(3):
        z[0, 0, document * 12 + 2 * document : document * 12 + 2 * document + 2] = [3, 0]
    measured = measure(made(z, [12] * 3, ids=np.tile([0, 1], 18)), top=1 / 66)
    # elsewhere: 2 selected of 72 present, so the rate is 1/36; all pairs: 36 of 66 are a with b
    np.testing.assert_allclose(measured.values["cooccurrence"][:, 0, 0], 1 / 36)
    np.testing.assert_allclose(measured.chance["cooccurrence"][:, 0, 0], 36 / 66 / 36)


def test_one_document_has_no_elsewhere(made):
    measured = measure(made(np.random.default_rng(0).normal(size=(1, 1, 30, 4))))
    assert np.isnan(measured.values["cooccurrence"]).all()


def test_a_neighbourhood_counts_the_pairs_with_one_token(planted):
    frame = neighbourhood(planted, 0, 0, "t7")
    assert list(frame["neighbour"][:2]) == ["t8", "t7"]
    assert list(frame["selected"][:2]) == [40, 10]
    rate = 7 / 780
    assert list(frame["expected"][:2]) == pytest.approx([40 * rate, 10 * rate])
    assert frame["lift"][0] == pytest.approx(1 / rate)


def test_neighbours_expected_add_up_to_the_pairs_with_the_token(random_corpus):
    measured = measure(random_corpus, top=1.0)
    frame = neighbourhood(measured, 0, 0, ".")
    np.testing.assert_allclose(frame["selected"], frame["expected"])


def test_unknown_tokens_and_heads_are_refused(planted):
    with pytest.raises(SimilarityError, match="token of the corpus"):
        neighbourhood(planted, 0, 0, "nowhere")
    with pytest.raises(SimilarityError, match="L3 H0"):
        pmi(planted, 3, 0)
