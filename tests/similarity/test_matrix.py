import numpy as np
import pytest

from lib.similarity import similarity_matrix
from lib.similarity.errors import SimilarityError

Z = np.random.default_rng(5).normal(size=(3, 40, 8))


@pytest.mark.parametrize("kind", ["dot", "cosine"])
def test_symmetric_positive_semidefinite_and_of_bounded_rank(kind):
    for z in Z:
        matrix = similarity_matrix(z, kind)
        np.testing.assert_array_equal(matrix, matrix.T)
        eigenvalues = np.linalg.eigvalsh(matrix)
        assert eigenvalues.min() > -1e-9
        assert (eigenvalues > 1e-9).sum() <= 8


def test_diagonal_is_the_squared_length_or_one():
    np.testing.assert_allclose(np.diag(similarity_matrix(Z[0])), (Z[0] ** 2).sum(axis=1))
    np.testing.assert_allclose(np.diag(similarity_matrix(Z[0], "cosine")), 1.0)


def test_against_every_pair_by_hand():
    expected = [[sum(a * b for a, b in zip(x, y, strict=True)) for y in Z[1]] for x in Z[1]]
    np.testing.assert_allclose(similarity_matrix(Z[1]), expected)
    lengths = np.linalg.norm(Z[1], axis=1)
    np.testing.assert_allclose(similarity_matrix(Z[1], "cosine"), expected / np.outer(lengths, lengths))


def test_several_heads_at_once_are_each_alone():
    together = similarity_matrix(Z, "cosine")
    for z, matrix in zip(Z, together, strict=True):
        np.testing.assert_allclose(matrix, similarity_matrix(z, "cosine"), atol=1e-12)


def test_rotation_changes_nothing_and_scale_only_the_dot():
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(8, 8)))[0]
    np.testing.assert_allclose(similarity_matrix(Z[0] @ rotation), similarity_matrix(Z[0]), atol=1e-10)
    np.testing.assert_allclose(similarity_matrix(3 * Z[0], "cosine"), similarity_matrix(Z[0], "cosine"))
    np.testing.assert_allclose(similarity_matrix(3 * Z[0]), 9 * similarity_matrix(Z[0]))


def attended(pattern, value):
    return similarity_matrix(pattern @ value), similarity_matrix(pattern @ value, "cosine")


def test_uniform_attention_makes_similarity_constant():
    dot, cosine = attended(np.full((12, 12), 1 / 12), Z[0][:12])
    np.testing.assert_allclose(dot, dot[0, 0])
    np.testing.assert_allclose(cosine, 1.0)


def test_identity_attention_makes_repeated_tokens_alike():
    embedding = Z[0][:5]
    tokens = np.array([0, 1, 2, 1, 3, 0, 4])
    _, cosine = attended(np.eye(7), embedding[tokens])
    repeated = tokens[:, None] == tokens[None, :]
    np.testing.assert_allclose(cosine[repeated], 1.0)
    assert cosine[~repeated].max() < 0.99


def test_attention_to_one_token_makes_similarity_its_squared_length():
    pattern = np.zeros((9, 9))
    pattern[:, 4] = 1
    dot, _ = attended(pattern, Z[0][:9])
    np.testing.assert_allclose(dot, (Z[0][4] ** 2).sum())


def test_zero_vectors_have_a_product_but_no_direction():
    z = Z[0][:4].copy()
    z[2] = 0
    assert (similarity_matrix(z)[2] == 0).all()
    cosine = similarity_matrix(z, "cosine")
    assert np.isnan(cosine[2]).all()
    assert np.isnan(cosine[:, 2]).all()
    assert np.isfinite(np.delete(np.delete(cosine, 2, 0), 2, 1)).all()


def test_half_precision_is_computed_in_single():
    z = (Z[0] * 100).astype(np.float16)
    matrix = similarity_matrix(z)
    assert matrix.dtype == np.float32
    assert np.isfinite(matrix).all()  # in float16 these products overflow
    np.testing.assert_allclose(matrix, similarity_matrix(z.astype(np.float64)), rtol=1e-4, atol=1)


@pytest.mark.parametrize(
    ("z", "kind", "words"),
    [
        (np.ones(4), "dot", "token, d_head"),
        (np.ones((3, 0)), "dot", "token, d_head"),
        (np.ones((3, 2)), "euclid", "cosine"),
        (np.array([[1.0, np.nan]]), "dot", "1 of 1"),
        (np.array([[np.inf, 0.0], [1.0, 0.0]]), "cosine", "1 of 2"),
    ],
)
def test_wrong_input_says_what_was_expected(z, kind, words):
    with pytest.raises(SimilarityError, match=words):
        similarity_matrix(z, kind)
