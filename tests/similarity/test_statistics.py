from itertools import pairwise

import numpy as np
import pytest
from scipy import stats as scipy_stats

from lib.similarity import measure, pair_statistics, summary
from lib.similarity.document import STATISTICS as WITHIN
from lib.similarity.errors import SimilarityError
from lib.similarity.statistics import STATISTICS


def straightforward(capture, layer, head, top, kind):
    """Every statistic of every document without ties by one loop over pairs: the oracle."""
    rows = {}
    for document, (start, stop) in enumerate(pairwise(capture.doc_offsets)):
        z = capture.z[layer, head, start:stop].astype(np.float64)
        ids, sentence = capture.tokens.token_id[start:stop], capture.tokens.sentence[start:stop]
        stop_mark = np.array([t == "." for t in capture.tokens.text[start:stop]])
        pairs = []
        for i in range(len(z)):
            for j in range(i + 1, len(z)):
                value = z[i] @ z[j]
                if kind == "cosine":
                    value /= np.linalg.norm(z[i]) * np.linalg.norm(z[j])
                pairs.append((value, i, j))
        count = max(1, int(top * len(pairs)))
        ordered = sorted(pairs, reverse=True)
        if ordered[count - 1][0] - ordered[count][0] < 2e-6 * abs(ordered[count][0]):
            continue  # a tie in float32: shared, which one loop does not do
        chosen = ordered[:count]
        every = np.array([value for value, _, _ in pairs])
        same = np.array([sentence[i] == sentence[j] for _, i, j in pairs])
        ends = [place for _, i, j in chosen for place in (i, j)]
        apart = [(a, b) for x, a in enumerate(ends) for y, b in enumerate(ends) if x != y and a != b]
        rows[document] = {
            "distance": np.mean([j - i for _, i, j in chosen]),
            "same_sentence": np.mean([sentence[i] == sentence[j] for _, i, j in chosen]),
            "same_token": np.mean([ids[i] == ids[j] for _, i, j in chosen]),
            "separator": np.mean(stop_mark[ends]),
            "concentration": np.mean([ids[a] == ids[b] for a, b in apart]),
            "contrast": (every[same].mean() - every[~same].mean()) / every.std(),
        }
    return rows


@pytest.mark.parametrize("kind", ["dot", "cosine"])
@pytest.mark.parametrize(("layer", "head"), [(0, 3), (1, 11)])
def test_every_statistic_against_one_loop_over_pairs(random_corpus, kind, layer, head):
    measured = measure(random_corpus, top=0.05, kind=kind)
    oracle = straightforward(random_corpus, layer, head, 0.05, kind)
    assert len(oracle) > 35  # of 40
    for document, expected in oracle.items():
        for name, value in expected.items():
            assert measured.values[name][document, layer, head] == pytest.approx(value, rel=1e-4, abs=1e-5), name


@pytest.mark.parametrize("kind", ["dot", "cosine"])
@pytest.mark.parametrize("switches", [{}, {"words": True}, {"top": 0.2}])
def test_random_vectors_reproduce_every_chance_value(made, kind, switches):
    # 40 documents, 2 × 60 heads of independent vectors: one mean per statistic over documents and heads, its standard
    # error from the independent heads, and one bound for all statistics and the worst head together
    rng = np.random.default_rng(77)
    sizes = rng.integers(25, 60, size=40)
    n = sizes.sum()
    ids = rng.zipf(1.4, size=n) % 40
    capture = made(
        rng.normal(size=(2, 60, n, 8)) * rng.lognormal(sigma=0.5, size=(2, 60, n, 1)),
        sizes,
        ids=ids,
        sentence=np.concatenate([np.arange(size) // 9 for size in sizes]),
        text=["." if i == 1 else f"t{i}" for i in ids],
    )
    measured = measure(capture, kind=kind, **switches)
    t = []
    for name in STATISTICS:
        per_head = np.nanmean(measured.values[name] - measured.chance[name], axis=0).ravel()
        assert len(per_head) == 120
        t.append(per_head.mean() / (per_head.std(ddof=1) / np.sqrt(len(per_head))))
    assert np.abs(t).max() < scipy_stats.t.isf(0.0005 / len(t), 119)  # 0.1 % for all statistics together
    frame = summary(measured, simultaneous=True, level=0.999)
    for name in WITHIN:
        outside = (frame[f"{name}_low"] > frame[f"{name}_chance"]) | (frame[f"{name}_high"] < frame[f"{name}_chance"])
        assert not outside.any(), name


def test_all_tokens_alike_is_exactly_chance(made):
    z = np.broadcast_to(np.random.default_rng(0).normal(size=8), (1, 2, 60, 8))
    capture = made(z, [25, 35], ids=np.arange(60) % 4, sentence=np.arange(60) // 6)
    frame = pair_statistics(capture, kind="cosine")
    for name in ("distance", "same_sentence", "same_token", "separator", "concentration", "contrast"):
        np.testing.assert_allclose(frame[name], frame[f"{name}_chance"], rtol=1e-6, atol=1e-9)


def test_one_repeated_token_repeats_always(made):
    capture = made(np.random.default_rng(1).normal(size=(1, 1, 30, 4)), ids=np.zeros(30))
    row = pair_statistics(capture).iloc[0]
    assert row["same_token"] == row["same_token_chance"] == row["concentration"] == 1


def test_by_hand(made):
    # similarities: (0,3) 4 > (1,2) 1 > others 0; top third of six pairs selects those two
    z = np.array([[2, 0], [0, 1], [0, 1], [2, 0]], dtype=float)[None, None]
    row = pair_statistics(made(z, ids=[5, 6, 7, 5], sentence=[0, 0, 0, 1]), top=0.34).iloc[0]
    assert row["distance"] == (3 + 1) / 2
    assert row["distance_chance"] == pytest.approx(5 / 3)
    assert row["same_sentence"] == 0.5
    assert row["same_sentence_chance"] == 0.5  # 3·2/(4·3)
    assert row["same_token"] == 0.5
    assert row["same_token_chance"] == pytest.approx(1 / 6)
    assert np.isnan(row["distance_low"])  # one document
    assert row["pairs"] == 2


def test_planted_sentences_repetition_and_range_are_found(made):
    rng = np.random.default_rng(4)
    sizes = [60] * 12
    n = sum(sizes)
    sentence = np.tile(np.arange(60) // 10, 12)
    ids = rng.integers(0, 20, size=n)
    topic = rng.normal(size=(12, 6, 8))[np.repeat(np.arange(12), 60), sentence]
    token = rng.normal(size=(20, 8))[ids]
    far = rng.normal(size=(30, 8))[np.arange(n) % 30]  # alike at distance 30 and nowhere else
    z = np.stack([topic, token, far, np.zeros((n, 8))]) + 0.1 * rng.normal(size=(4, n, 8))
    frame = pair_statistics(made(z[None], sizes, ids=ids, sentence=sentence), kind="cosine", simultaneous=True)
    assert list(frame.index[frame["same_sentence_low"] > frame["same_sentence_chance"]]) == [0]
    assert list(frame.index[frame["contrast_low"] > 0]) == [0]
    assert list(frame.index[frame["same_token_low"] > frame["same_token_chance"]]) == [1]
    assert frame["same_token"][1] == 1
    assert frame["distance_high"][0] < frame["distance_chance"][0]
    assert frame["distance_low"][2] > 25 > frame["distance_chance"][2]


def test_a_document_reversed_measures_the_same(made):
    z = np.random.default_rng(8).normal(size=(1, 3, 50, 8))
    ids, sentence = np.arange(50) % 7, np.arange(50) // 10
    one = pair_statistics(made(z, ids=ids, sentence=sentence), top=0.1)
    two = pair_statistics(made(z[:, :, ::-1], ids=ids[::-1], sentence=sentence[::-1]), top=0.1)
    for name in WITHIN:
        np.testing.assert_allclose(one[name], two[name], rtol=1e-5)


def test_the_special_switch_counts_as_cutting_the_tokens_out(made):
    rng = np.random.default_rng(9)
    z = rng.normal(size=(1, 4, 44, 8))
    special = np.zeros(44, dtype=bool)
    special[[0, 21, 22, 43]] = True
    sentence = np.where(special, -1, np.arange(44) // 11)
    capture = made(z, [22, 22], special=special, sentence=sentence)
    cut = made(z[:, :, ~special], [20, 20], sentence=sentence[~special])
    left, right = pair_statistics(capture), pair_statistics(cut)
    for name in WITHIN:
        np.testing.assert_allclose(left[name], right[name])
        np.testing.assert_allclose(left[f"{name}_chance"], right[f"{name}_chance"])
    kept = pair_statistics(capture, special=True)
    assert kept["separator_chance"][0] == pytest.approx(1 / 22)
    assert not np.allclose(kept["distance"], left["distance"])


def test_weights_by_document_or_by_pair(made):
    rng = np.random.default_rng(10)
    capture = made(rng.normal(size=(1, 1, 230, 4)), [30, 200])
    by_document, by_pair = pair_statistics(capture), pair_statistics(capture, weights="pairs")
    assert by_document["distance_chance"][0] == pytest.approx((31 / 3 + 201 / 3) / 2)
    assert by_document.attrs["notes"][-1] == "every document counts alike"
    assert by_pair.attrs["notes"][-1] == "documents count by their selected pairs"
    few, many = 4, 199  # ⌊1 %⌋ of 435 and 19,900 pairs
    assert by_pair["distance_chance"][0] == pytest.approx((few * 31 / 3 + many * 201 / 3) / (few + many))
    with pytest.raises(SimilarityError, match="documents"):
        pair_statistics(capture, weights="tokens")


def test_lift_is_a_ratio_of_averages(random_corpus):
    frame = pair_statistics(random_corpus)
    for name in ("distance", "same_sentence", "separator", "concentration"):
        np.testing.assert_allclose(frame[f"{name}_lift"], frame[name] / frame[f"{name}_chance"])
        assert (frame[f"{name}_lift_low"] <= frame[f"{name}_lift"]).all()


def test_simultaneous_intervals_are_wider(random_corpus):
    one, all_ = pair_statistics(random_corpus), pair_statistics(random_corpus, simultaneous=True)
    assert ((all_["distance_high"] - all_["distance_low"]) > (one["distance_high"] - one["distance_low"])).all()


def test_images_are_measured_in_steps_on_the_patch_grid(made):
    rng = np.random.default_rng(11)
    places = np.concatenate([[[-1, -1]], np.argwhere(np.ones((4, 6)))])
    special = np.array([True] + [False] * 24)
    z = rng.normal(size=(1, 2, 25, 8))
    z[0, 0, 1:] = np.eye(8)[places[1:, 0]]  # a head that sees rows: patches of a row are alike
    sentence = np.where(special, -1, 0)
    capture = made(z, places=places, ids=np.full(25, -1), special=special, sentence=sentence)
    row = pair_statistics(capture, top=60 / 276).iloc[0]
    assert row["distance_chance"] == pytest.approx(10 / 3)
    assert row["distance"] == pytest.approx(7 / 3)  # mean of |Δcolumn| within a row of 6: (6 + 1)/3
    assert row["same_sentence"] == row["same_sentence_chance"] == 1
    assert np.isnan(row["same_token"])
    assert pair_statistics(capture, top=0.5, special=True)["distance_chance"][0] == pytest.approx(10 / 3)


def test_bad_input_is_measured_where_it_can_be_and_said(made):
    rng = np.random.default_rng(12)
    capture = made(rng.normal(size=(1, 2, 131, 4)), [1, 8, 122])
    frame = pair_statistics(capture)
    notes = " ".join(frame.attrs["notes"])
    assert "left out for want of a pair: 1 document of fewer than two tokens" in notes
    assert "1 document of fewer than 20" in notes
    assert "1 % is less than one pair in 1 document:" in notes
    assert "no sentence boundaries" in notes
    assert frame["same_sentence"].isna().all()
    assert (frame["documents"] == 2).all()
    assert frame["distance"].notna().all()


def test_pairs_with_a_token_of_no_sentence_are_neither_within_nor_between(made):
    z = np.random.default_rng(0).normal(size=(2, 3, 12, 4))
    special = [True] + [False] * 10 + [True]
    one = pair_statistics(made(z, sentence=[-1] + [0] * 10 + [-1], special=special), special=True)
    assert one["contrast"].isna().all() and "contrast is not defined" in " ".join(one.attrs["notes"])
    sentence = [-1] + [0] * 5 + [1] * 5 + [-1]
    two = pair_statistics(made(z, sentence=sentence, special=special), special=True)
    similar = z[1, 2] @ z[1, 2].T
    first, second = np.triu_indices(12, 1)
    known = (first > 0) & (second < 11)
    same = known & (np.array(sentence)[first] == np.array(sentence)[second])
    every = similar[first, second]
    expected = (every[same].mean() - every[known & ~same].mean()) / every.std()
    assert two["contrast"].iloc[5] == pytest.approx(expected, rel=1e-5)


def test_one_sentence_has_no_contrast_and_says_so(made):
    z = np.random.default_rng(14).normal(size=(1, 2, 60, 4))
    frame = pair_statistics(made(z, [30, 30], sentence=np.zeros(60)))
    assert (frame["same_sentence"] == 1).all() and (frame["same_sentence_chance"] == 1).all()
    assert frame["contrast"].isna().all()
    assert "contrast is not defined" in " ".join(frame.attrs["notes"])
    two = pair_statistics(made(z, [30, 30], sentence=np.arange(60) // 10))
    assert "contrast" not in " ".join(two.attrs["notes"])


def test_zero_vectors_are_excluded_and_counted(made):
    z = np.random.default_rng(13).normal(size=(1, 2, 40, 4))
    z[0, 1, 5:9] = 0
    z[0, 1, 20:] = 0
    cosine = pair_statistics(made(z, [20, 20]), kind="cosine")
    assert list(cosine["undefined"]) == [0, 24]
    assert list(cosine["documents"]) == [2, 1]
    assert cosine["distance"].notna().all()
    assert "24 zero vectors" in " ".join(cosine.attrs["notes"])
    assert list(pair_statistics(made(z, [20, 20]))["undefined"]) == [0, 0]


def test_nothing_to_measure_says_what_to_do(made):
    with pytest.raises(SimilarityError, match="keep"):
        capture = made(np.ones((1, 1, 4, 2)))
        object.__setattr__(capture, "z", None)
        measure(capture)
    with pytest.raises(SimilarityError, match="not special"):
        measure(made(np.ones((1, 1, 4, 2)), special=np.array([True, True, False, True])))


@pytest.mark.filterwarnings("ignore:.*tasks have been successfully executed:UserWarning")
def test_progress_counts_documents_and_can_cancel(random_corpus):
    seen = []
    measure(random_corpus, progress=lambda done, total, stage: seen.append((done, total, stage)))
    assert seen[-1] == (40, 40, "similarity")
    assert len(seen) == 40

    def cancel(done, total, stage):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure(random_corpus, progress=cancel)


def test_layers_keep_their_true_numbers(made):
    frame = pair_statistics(made(np.random.default_rng(0).normal(size=(2, 3, 25, 4)), layers=(4, 9)))
    assert list(frame["layer"]) == [4, 4, 4, 9, 9, 9]
    assert list(frame["head"]) == [0, 1, 2] * 2
