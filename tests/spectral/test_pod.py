import numpy as np
import pytest
from scipy.fft import idct

from lib.errors import HeadlightError
from lib.spectral import Field, lag_bands, lag_window, reconstruct, snapshot_pod
from tests.spectral.synthetic import noise_field, planted, planted_modes, softmax_rows


def flat(array):
    return np.reshape(array, (len(array), -1)).astype(np.float64)


def centred(snapshots):
    return flat(snapshots) - flat(snapshots).mean(axis=0)


@pytest.fixture(
    params=["causal", "bidirectional", "window", "vectors", "more documents than cells", "wide"],
)
def ensemble(request):
    rng = np.random.default_rng(3)
    window = None
    if request.param == "vectors":
        snapshots = rng.standard_normal((20, 77))
    elif request.param == "more documents than cells":
        snapshots = rng.standard_normal((50, 4, 5))
    elif request.param == "wide":
        snapshots = rng.standard_normal((6, 20_000)).astype(np.float32)
    else:
        snapshots = noise_field(20, 40, causal=request.param != "bidirectional").pattern
        window = lag_window(40, 8, 2) if request.param == "window" else None
    return snapshots, window


def test_modes_are_orthonormal(ensemble):
    modes = snapshot_pod(*ensemble)
    error = np.abs(flat(modes.modes) @ flat(modes.modes).T - np.eye(modes.rank))
    strong = modes.eigenvalues > 1e-7 * modes.eigenvalues[0]
    assert error[np.ix_(strong, strong)].max() < 1e-8
    assert error.max() < 1e-5


def test_eigenvalues_are_those_of_the_svd(ensemble):
    snapshots, window = ensemble
    weighted = snapshots if window is None else snapshots.astype(np.float64) * window
    singular = np.linalg.svd(centred(weighted), compute_uv=False)
    modes = snapshot_pod(snapshots, window)
    expected = singular[: modes.rank] ** 2 / len(snapshots)
    np.testing.assert_allclose(modes.eigenvalues, expected, rtol=1e-7, atol=1e-13 * expected[0])
    assert modes.rank == min(len(snapshots) - 1, np.prod(snapshots.shape[1:]))
    assert modes.eigenvalues.sum() == pytest.approx(modes.total)
    assert modes.total == pytest.approx((centred(weighted) ** 2).sum() / len(snapshots))


@pytest.mark.parametrize("count", [0, 1, 5, 100])
def test_what_k_modes_leave_out_is_the_tail_of_the_spectrum(ensemble, count):
    snapshots, window = ensemble
    weighted = snapshots if window is None else snapshots.astype(np.float64) * window
    modes = snapshot_pod(snapshots, window)
    left = [((weighted[s] - reconstruct(modes, s, count)) ** 2).sum() for s in range(len(snapshots))]
    np.testing.assert_allclose(left, [modes.residual(s, count) for s in range(len(left))], atol=1e-9 * modes.total)
    assert np.mean(left) == pytest.approx(modes.tail(count), abs=1e-9 * modes.total)


def test_scores_are_projections_and_uncorrelated(ensemble):
    snapshots, window = ensemble
    modes = snapshot_pod(snapshots, window)
    weighted = snapshots if window is None else snapshots.astype(np.float64) * window
    projected = centred(weighted) @ flat(modes.modes).T
    np.testing.assert_allclose(modes.scores, projected, atol=1e-6 * np.sqrt(modes.eigenvalues[0]))
    np.testing.assert_allclose(
        modes.scores.T @ modes.scores / len(snapshots), np.diag(modes.eigenvalues), atol=1e-9 * modes.total
    )


def test_signs_are_fixed_and_leading_modes_are_the_first(ensemble):
    modes = snapshot_pod(*ensemble)
    rows = flat(modes.modes)
    assert (rows[np.arange(len(rows)), np.abs(rows).argmax(axis=1)] > 0).all()
    fields, scores = modes.leading(3)
    np.testing.assert_allclose(fields, modes.modes[:3], atol=1e-12)
    np.testing.assert_allclose(scores, modes.scores[:, :3], atol=1e-12)


def test_no_other_basis_does_better():
    snapshots = noise_field(30, 16, strength=2.0).pattern
    modes = snapshot_pod(snapshots)
    u = centred(snapshots)
    rng = np.random.default_rng(0)
    cosine = idct(np.eye(256), norm="ortho", axis=0).T
    others = {
        "random": np.linalg.qr(rng.standard_normal((256, 6)))[0].T,
        "cosine": cosine[:6],
        "permuted": rng.permuted(flat(modes.modes)[:6], axis=1),
        "lesser modes": flat(modes.modes)[1:7],
    }
    for name, basis in others.items():
        basis = np.linalg.qr(basis.T)[0].T
        left = ((u - u @ basis.T @ basis) ** 2).sum() / len(u)
        assert left > modes.tail(6), name


def test_planted_modes_come_back_from_a_causal_field():
    energies = np.array([9.0, 4, 1, 0.5])
    pattern, truth, mean = planted_modes(4, energies)
    modes = snapshot_pod(pattern)
    np.testing.assert_allclose(modes.eigenvalues[:4], energies, rtol=1e-6)
    assert modes.rank == 4
    cosines = np.linalg.svd(flat(modes.modes) @ flat(truth).T, compute_uv=False)
    assert cosines.min() > 0.999
    np.testing.assert_allclose(modes.mean, mean, atol=1e-12)
    np.testing.assert_allclose(np.abs((flat(modes.modes) * flat(truth)).sum(axis=1)), 1, atol=1e-6)


def test_planted_modes_come_back_under_noise_in_single_precision():
    pattern, truth, _ = planted_modes(3, [9.0, 4, 1])
    noise = 1e-3 * np.tril(np.random.default_rng(1).standard_normal(pattern.shape))
    modes = snapshot_pod(Field((pattern + noise).astype(np.float32)))
    cosines = np.linalg.svd(flat(modes.leading(3)[0]) @ flat(truth).T, compute_uv=False)
    assert cosines.min() > 0.999


def test_a_planted_band_is_found_by_its_window_and_not_by_another():
    def bump(lag, _):
        return np.exp(-0.5 * ((lag - 16) / 2) ** 2)

    field = planted(bump, noise=0.01)
    near, at, far = (snapshot_pod(field, w) for w in lag_bands(64, [2, 16, 50]))
    assert at.eigenvalues[0] > 100 * at.eigenvalues[1]
    assert near.total < at.total / 50 and far.total < at.total / 50
    truth = np.where(np.tri(64) > 0, bump(np.subtract.outer(range(64), range(64)), 0), 0) * lag_bands(64, [16])[0]
    assert (at.modes[0] * truth).sum() / np.linalg.norm(truth) > 0.999


def test_row_sums_of_modes_are_zero_where_whole_softmax_rows_were_kept():
    scores = np.random.default_rng(0).standard_normal((20, 24, 24))
    for causal in (True, False):
        modes = snapshot_pod(softmax_rows(scores, causal))
        assert np.abs(modes.modes.sum(axis=-1)).max() < 1e-9


def test_off_the_diagonal_is_where_causal_modes_live():
    field = noise_field(12, 32)
    only_diagonal = Field(field.pattern * np.eye(32, dtype=np.float32))
    whole, diagonal = snapshot_pod(field), snapshot_pod(only_diagonal)
    assert diagonal.total < 0.6 * whole.total
    off = flat(whole.modes * (1 - np.eye(32)))
    assert ((off**2).sum(axis=1) > 0.2).all()
    bands = [snapshot_pod(field, w).eigenvalues[:3] for w in lag_bands(32, [2, 12])]
    assert (np.abs(bands[0] / bands[1] - 1) > 0.05).all()  # reading the diagonal alone makes all bands alike


def test_a_worked_example():
    # three documents, two cells: u = (1, 0), (−1, 0), (0, 0) about the mean (2, 5): λ = 2/3, φ = (1, 0)
    modes = snapshot_pod(np.array([[3.0, 5.0], [1.0, 5.0], [2.0, 5.0]]))
    np.testing.assert_allclose(modes.eigenvalues, [2 / 3])
    np.testing.assert_allclose(modes.modes, [[1, 0]])
    np.testing.assert_allclose(modes.scores.ravel(), [1, -1, 0], atol=1e-15)
    np.testing.assert_allclose(modes.mean, [2, 5])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_identical_documents_have_rank_zero_and_no_nan(dtype):
    pattern = softmax_rows(np.random.default_rng(0).standard_normal((1, 32, 32)), True).astype(dtype)
    modes = snapshot_pod(np.repeat(pattern, 150, axis=0))
    assert (modes.rank, modes.total) == (0, 0)
    assert modes.modes.shape == (0, 32, 32) and modes.scores.shape == (150, 0)
    np.testing.assert_allclose(reconstruct(modes, 3, 5), pattern[0], rtol=1e-6)
    assert (modes.tail(0), modes.residual(0, 0)) == (0, 0)


def test_documents_equal_but_for_rounding_have_rank_zero():
    pattern = softmax_rows(np.random.default_rng(0).standard_normal((1, 32, 32)), True).astype(np.float32)
    copies = np.repeat(pattern, 20, axis=0)
    copies[::2] = np.nextafter(copies[::2], np.float32(1))
    assert snapshot_pod(copies).rank == 0
    copies[3] *= 1.01
    assert snapshot_pod(copies).rank >= 1


def test_a_constant_field_has_rank_zero():
    assert snapshot_pod(np.full((5, 8, 8), 0.125, np.float32)).rank == 0


def test_a_band_without_energy_has_rank_zero():
    field = planted(lambda lag, _: (lag < 4) * 1.0)
    assert snapshot_pod(field, lag_window(64, 60, 1)).rank == 0
    assert snapshot_pod(field, lag_window(64, 2, 1)).rank == 1


@pytest.mark.parametrize(
    ("snapshots", "said"),
    [
        (np.ones((2, 8, 8)), "at least 3 documents"),
        (np.ones((0, 8, 8)), "at least 3 documents"),
        (np.ones(9), "at least 3 documents"),
        (np.where(np.arange(64).reshape(1, 8, 8) == 5, np.nan, np.ones((5, 8, 8))), "NaN"),
    ],
)
def test_bad_snapshots_are_refused(snapshots, said):
    with pytest.raises(HeadlightError, match=said):
        snapshot_pod(snapshots)


def test_nan_in_one_document_names_it():
    snapshots = np.random.default_rng(0).standard_normal((5, 8, 8))
    snapshots[3, 2, 1] = np.nan
    with pytest.raises(HeadlightError, match="document 3"):
        snapshot_pod(snapshots)


def test_a_window_of_another_length_and_a_document_out_of_range_are_refused():
    with pytest.raises(HeadlightError, match=r"\(32, 32\)"):
        snapshot_pod(noise_field(5, 64), lag_window(32, 2, 1))
    with pytest.raises(HeadlightError, match=r"0 … 4"):
        reconstruct(snapshot_pod(noise_field(5, 16)), 5, 1)


def test_the_snapshots_are_not_changed():
    snapshots = np.random.default_rng(0).standard_normal((5, 8, 8))
    before = snapshots.copy()
    snapshot_pod(snapshots, lag_window(8, 2, 1)).leading(2)
    np.testing.assert_array_equal(snapshots, before)
