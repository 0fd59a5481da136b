import numpy as np
import pytest

from lib.corpora import Document
from lib.similarity import FEATURES, pair_list, pair_statistics, rank_keywords, token_features
from lib.similarity.errors import SimilarityError
from lib.similarity.keywords import _score


def test_features_by_hand(made):
    # similarities: (0,3) 4, (1,2) 1, others 0; the top third of six pairs are those two
    z = np.array([[2, 0], [0, 1], [0, 1], [2, 0]], dtype=float)[None, None]
    features = token_features(made(z, ids=[5, 6, 7, 5], sentence=[0, 0, 0, 1]), top=0.34)
    first = dict(zip(FEATURES, features.values[0, 0, 0], strict=True))
    assert first["partners"] == 1  # 1 pair; 4 ends over 4 tokens
    assert first["distance"] == 3
    assert first["same_sentence"] == 0
    assert first["same_token"] == 1
    assert first["similarity"] == pytest.approx(4 / 3 / 2.5)  # mean ‖z‖² = (4 + 1 + 1 + 4)/4
    assert first["length"] == pytest.approx(2 / 1.5)
    assert dict(zip(FEATURES, features.values[1, 0, 0], strict=True))["same_sentence"] == 1


@pytest.mark.parametrize("kind", ["dot", "cosine"])
def test_features_add_up_to_the_statistics(random_corpus, kind):
    features = token_features(random_corpus, kind=kind)
    frame = pair_statistics(random_corpus, kind=kind)
    partners = features.values[..., 0]
    for name, index in (("distance", 1), ("same_sentence", 2), ("same_token", 3)):
        per_document = [
            (np.nan_to_num(features.values[rows, :, :, index]) * partners[rows]).sum(axis=0)
            / partners[rows].sum(axis=0)
            for rows in (features.index["document"].to_numpy() == d for d in range(40))
        ]
        np.testing.assert_allclose(np.mean(per_document, axis=0).ravel(), frame[name], rtol=1e-4)


def test_partners_and_lengths_average_to_one(random_corpus):
    features = token_features(random_corpus)
    for document in range(40):
        rows = features.index["document"] == document
        np.testing.assert_allclose(features.values[rows][..., 0].mean(axis=0), 1, rtol=1e-5)
        np.testing.assert_allclose(features.values[rows][..., 5].mean(axis=0), 1, rtol=1e-5)


def test_exports_name_everything(random_corpus):
    features = token_features(random_corpus)
    frame = features.frame()
    assert len(frame) == len(random_corpus.tokens)
    assert list(frame.columns[:4]) == ["document", "position", "token", "sentence"]
    assert len(frame.columns) == 4 + 2 * len(FEATURES)
    arrays = features.arrays()
    assert arrays["values"].shape == (len(frame), 2, 12, len(FEATURES))
    assert {array.dtype.kind for array in arrays.values()} <= set("fiU")  # nothing that needs pickling
    assert arrays["axes"].tolist() == ["unit", "layer", "head", "feature"]
    assert dict(zip(arrays["features"], arrays["meanings"], strict=True)) == FEATURES
    meaning = features.columns().set_index("column")["meaning"]
    assert "in layer 0: mean over heads" in meaning["L0 …"]
    explained = set(meaning.index) - {"L0 …"}
    assert {column.split(" ", 1)[-1] for column in frame.columns} == explained


def test_zero_vectors_have_no_features_under_the_cosine(made):
    z = np.random.default_rng(0).normal(size=(1, 1, 30, 4))
    z[0, 0, 7] = 0
    values = token_features(made(z), kind="cosine").values[:, 0, 0]
    assert np.isnan(values[7]).all()
    assert not np.isnan(values[8, [0, 4, 5]]).any()


def test_words_whose_scores_tie_share_their_ranks():
    assert _score(np.array([3.0, 2, 1]), np.array([False, True, False])) == (1 / 2, 1)
    # one true among three tied: places 1, 2, 3 equally likely
    assert _score(np.ones(3), np.array([False, True, False]))[0] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)
    # two true among three tied: first at place 1 with 2/3, else at 2
    assert _score(np.ones(3), np.array([True, True, False]))[0] == pytest.approx(2 / 3 + 1 / 6)
    # twelve tied, one true: in the first ten with 10/12
    assert _score(np.zeros(12), np.arange(12) == 0)[1] == pytest.approx(10 / 12)


def titled(made, signal):
    """Eight texts of forty words with a title word each, which a head of the right kind makes alike to many."""
    rng = np.random.default_rng(1)
    titles = ["amber", "bronze", "cobalt", "denim", "ebony", "flint", "garnet", "hazel"]
    documents, text, z = [], [], []
    for title in titles:
        own = [title] + [f"{chr(97 + i // 26)}{chr(97 + i % 26)}word" for i in range(39)]
        documents.append(Document(title.title(), " ".join(own)))
        text += own
        vectors = rng.normal(size=(40, 8))
        if signal:
            vectors[0] *= 20
        z.append(vectors)
    ids = np.unique(text, return_inverse=True)[1]
    return made(np.concatenate(z)[None, None], [40] * 8, ids=ids, text=text), documents


def test_keywords_are_found_where_they_are_marked_and_by_chance_where_not(made):
    found = {}
    for signal in (True, False):
        capture, documents = titled(made, signal)
        result = rank_keywords(token_features(capture, words=True), documents)
        found[signal] = result.scores.set_index("method")["reciprocal_rank"]
        assert result.documents == 8
    chance = np.mean(1 / np.arange(1, 41))
    assert found[True]["features"] == 1
    assert found[True]["chance"] == pytest.approx(chance)
    assert found[True]["tf-idf"] == pytest.approx(1)  # the title word is the only one of its own document
    assert found[False]["features"] < 0.5


def test_keywords_need_words_and_titles(made):
    capture, documents = titled(made, True)
    with pytest.raises(SimilarityError, match="words=True"):
        rank_keywords(token_features(capture), documents)
    nameless = [Document("Text", document.text) for document in documents]
    with pytest.raises(SimilarityError, match="titles"):
        rank_keywords(token_features(capture, words=True), nameless)


def test_pairs_are_listed_as_selected(random_corpus):
    listed = pair_list(random_corpus, 3, 1, 5, top=0.05)
    start, stop = random_corpus.doc_offsets[3:5]
    z = random_corpus.z[1, 5, start:stop]
    np.testing.assert_allclose(listed["similarity"], (z[listed["first"]] * z[listed["second"]]).sum(axis=1), rtol=1e-4)
    assert listed["similarity"].is_monotonic_decreasing
    alone = pair_statistics(random_corpus.of(3), top=0.05)
    assert (listed["weight"] * listed["distance"]).sum() / listed["weight"].sum() == pytest.approx(
        alone["distance"][17]
    )
    assert listed.attrs["pairs"] == (stop - start) * (stop - start - 1) // 2
    assert listed["first_text"][0] == random_corpus.tokens.text[start + listed["first"][0]]


def test_a_pair_with_a_special_token_is_neither_within_nor_across_sentences(made):
    z = np.array([[1, 0], [1, 0.1], [1, 0.2], [1, 0.3]])[None, None]
    capture = made(z, special=np.array([False, False, False, True]), sentence=np.array([0, 0, 1, -1]))
    listed = pair_list(capture, 0, 0, 0, top=1.0, special=True).set_index(["first", "second"]).sort_index()
    assert listed["same_sentence"].tolist() == [True, False, False, False, False, False]
    assert listed["other_sentence"].tolist() == [False, True, False, True, False, False]


def test_a_list_shows_words_in_their_context(made):
    text = "the playing cat"
    z = np.array([[0, 1], [1, 0], [1, 0.1], [1, 0.2]])[None, None]
    capture = made(z, word=[0, 1, 1, 2], text=["the", "play", "ing", "cat"])
    table = capture.tokens
    for name, value in (("start", [0, 4, 8, 12]), ("end", [3, 8, 11, 15])):
        object.__setattr__(table, name, np.array(value))
    row = pair_list(capture, 0, 0, 0, words=True, text=text).iloc[0]
    assert (row["first_text"], row["second_text"]) == ("playing", "cat")
    assert row["first_context"] == "the [playing] cat"
    assert row["second_context"] == "the playing [cat]"


def test_lists_of_nothing_and_of_what_is_not_there(made):
    capture = made(np.ones((1, 1, 3, 2)), special=np.array([True, False, True]))
    assert pair_list(capture, 0, 0, 0).empty
    with pytest.raises(SimilarityError, match="document < 1"):
        pair_list(capture, 1, 0, 0)
