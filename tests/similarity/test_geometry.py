import numpy as np
import pytest

from lib.similarity import (
    differences,
    head_alignment,
    head_differences,
    heads_of,
    layers_to_freeze,
    measure,
    pair_statistics,
    redundancy_order,
    repetition_order,
    side_by_side,
    similarity_matrix,
)
from lib.similarity.errors import SimilarityError
from lib.similarity.geometry import alignment, paired_alignment


def unbiased_hsic(k, m):
    """Song et al. 2012, eq. 5, term by term on the matrices."""
    n = len(k)
    k, m = k - np.diag(np.diag(k)), m - np.diag(np.diag(m))
    one = np.ones(n)
    middle = (one @ k @ one) * (one @ m @ one) / ((n - 1) * (n - 2))
    return (np.trace(k @ m) + middle - 2 / (n - 2) * (one @ k @ m @ one)) / (n * (n - 3))


def test_alignment_equals_the_formula_on_the_matrices():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(3, 20, 6)) + 1, rng.normal(size=(2, 20, 9)) - 2
    expected = [[unbiased_hsic(similarity_matrix(x), similarity_matrix(y)) for y in b] for x in a]
    np.testing.assert_allclose(alignment(a, b), expected, rtol=1e-8)
    np.testing.assert_allclose(paired_alignment(a, a), np.diag(alignment(a, a)), rtol=1e-10)


def test_unrelated_heads_align_by_zero_on_average_even_in_short_documents():
    rng = np.random.default_rng(1)
    found = [alignment(rng.normal(size=(1, 8, 16)), rng.normal(size=(1, 8, 16)))[0, 0] for _ in range(400)]
    assert abs(np.mean(found)) < 4 * np.std(found) / np.sqrt(400)


def test_rotated_and_scaled_heads_are_one_geometry(made):
    rng = np.random.default_rng(2)
    z = rng.normal(size=(2, 2, 120, 8))
    z[1, 0] = 3 * z[0, 0] @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    cka = head_alignment(made(z, [40, 50, 30]))
    np.testing.assert_allclose(np.diag(cka), 1)
    np.testing.assert_allclose(cka, cka.T)
    assert cka[0, 2] == pytest.approx(1, abs=1e-5)
    assert np.abs(cka[[0, 0, 1, 1, 2], [1, 3, 2, 3, 3]]).max() < 0.3


def test_redundant_heads_go_first(made):
    rng = np.random.default_rng(3)
    z = rng.normal(size=(2, 3, 200, 8))
    z[1, 2] = z[0, 1] + 0.1 * rng.normal(size=(200, 8))
    z[0, 2] = 0
    capture = made(z, [50] * 4)
    heads = heads_of(capture)
    order = redundancy_order(head_alignment(capture), heads)
    assert sorted(order) == heads == heads_of(measure(capture))
    assert order[0] == (0, 2)  # says nothing
    assert order[1] in {(0, 1), (1, 2)}
    assert {(0, 1), (1, 2)} - {order[1]} <= set(order[2:])
    with pytest.raises(SimilarityError, match="alignment"):
        redundancy_order(np.eye(3), heads)


def test_heads_that_rarely_repeat_go_first(made):
    rng = np.random.default_rng(4)
    ids = rng.integers(0, 10, size=120)
    z = rng.normal(size=(1, 3, 120, 8))
    z[0, 1] = np.eye(10)[ids][:, :8] + 0.01 * rng.normal(size=(120, 8))
    frame = pair_statistics(made(z, [60, 60], ids=ids))
    assert repetition_order(frame)[-1] == (0, 1)
    assert repetition_order(frame)[0][0] == 0


def test_layers_that_did_not_move_can_be_frozen(made):
    rng = np.random.default_rng(5)
    z = rng.normal(size=(4, 3, 300, 8))
    after = z.copy()
    after[2] = rng.normal(size=z[2].shape)
    after[3] *= 2
    found = layers_to_freeze(made(z, [60] * 5, layers=(1, 2, 3, 4)), made(after, [60] * 5, layers=(1, 2, 3, 4)))
    assert found.still == (1, 2, 4)
    assert found.frozen == (1, 2)
    assert len(found.heads) == 12
    assert found.layers["cka"][2] < 0.2


def test_checkpoints_must_share_tokens_and_shape(made):
    z = np.random.default_rng(6).normal(size=(1, 2, 30, 4))
    for other, words in (
        (made(z, ids=np.arange(30) + 1), "tokens"),
        (made(z[:, :1]), "heads"),
        (made(z, [10, 20]), "documents"),
        (made(z, layers=(3,)), "layers"),
    ):
        with pytest.raises(SimilarityError, match=words):
            layers_to_freeze(made(z), other)


def test_a_model_does_not_differ_from_itself(random_corpus):
    measured = measure(random_corpus)
    frame = differences(measured, measured)
    assert (frame["difference"] == 0).all()
    assert not frame["separated"].any()
    assert list(side_by_side(measured, measured)["model"].unique()) == ["made (first)", "made (second)"]
    assert side_by_side(measured, measured)["depth"].max() == 1


def test_a_planted_difference_is_separated_and_only_that(made):
    rng = np.random.default_rng(7)
    ids, sizes = rng.integers(0, 12, size=800), [40] * 20
    z = rng.normal(size=(1, 2, 800, 16))
    repeating = z.copy()
    repeating[0, 1] = 3 * np.eye(16)[ids]
    one, two = (measure(made(x, sizes, ids=ids)) for x in (z, repeating))
    frame = differences(one, two).set_index("statistic")
    assert frame.loc["same_token", "separated"]
    assert frame.loc["same_token", "low"] > 0
    assert not frame.loc["separator", "separated"]
    heads = head_differences(one, two)
    assert heads["same_token_low"][1] > 0
    assert heads["same_token"][0] == 0


def test_other_documents_or_shapes_cannot_be_compared(made, random_corpus):
    measured = measure(random_corpus)
    with pytest.raises(SimilarityError, match="documents"):
        differences(measured, measure(made(np.random.default_rng(0).normal(size=(1, 1, 60, 4)), [30, 30])))
    sizes = np.diff(random_corpus.doc_offsets)
    with pytest.raises(SimilarityError, match="side by side"):
        head_differences(measured, measure(made(random_corpus.z[:1], sizes)))
