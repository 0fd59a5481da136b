"""Boundary signals against loops over the definition, and a case worked by hand."""

import numpy as np
import pytest

from lib.segmentation.signals import FAR, FLOOR, MEANINGS, NEAR, boundary_signals, signal_names


def softmax_rows(rng, shape, causal=False):
    scores = rng.normal(size=shape)
    if causal:
        scores = np.where(np.tri(shape[-1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float32)


def by_definition(pattern, z, prefix, suffix, gap):
    """All signals of one head at one gap, loop by loop."""
    n = len(pattern)
    m = n - prefix - suffix
    log = lambda mass: np.log(mass + FLOOR)  # noqa: E731
    words = pattern[prefix : prefix + m, prefix : prefix + m]
    q = prefix + gap
    values = {
        "to_first": log(pattern[q, 0]),
        "to_last": log(pattern[q, n - 1]),
        "from_first": log(pattern[0, q]),
        "from_last": log(pattern[n - 1, q]),
        "self": log(words[gap, gap]),
        "previous": log(words[gap, gap - 1] if gap else 0),
        "next": log(words[gap, gap + 1]),
        "from_earlier": log(sum(words[i, gap] for i in range(gap))),
        "from_later": log(sum(words[i, gap] for i in range(gap + 1, m))),
        "forward_share": (words[gap, gap + 1 :].sum() + FLOOR) / (words[gap].sum() - words[gap, gap] + 2 * FLOOR),
        "entropy": -(pattern[q] * np.log(pattern[q] + 1e-9)).sum(),
    }
    for name, reach in (("near", NEAR), ("far", FAR)):
        before = range(max(0, gap + 1 - reach), gap + 1)
        after = range(gap + 1, min(m, gap + 1 + reach))
        values[f"back_{name}"] = log(sum(words[i, j] for i in after for j in before) / len(after))
        values[f"ahead_{name}"] = log(sum(words[i, j] for i in before for j in after) / len(before))
    inner = z[prefix : prefix + m]
    for span in (1, 4, 12):
        a, b = inner[max(0, gap + 1 - span) : gap + 1].mean(0), inner[gap + 1 : gap + 1 + span].mean(0)
        values[f"z_cosine_{span}"] = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    return values


@pytest.mark.parametrize(("prefix", "suffix", "causal"), [(1, 1, False), (0, 1, False), (1, 0, True), (0, 0, True)])
def test_signals_are_those_of_their_definition(prefix, suffix, causal):
    rng = np.random.default_rng(1)
    n = 19
    pattern, z = softmax_rows(rng, (2, 3, n, n), causal), rng.normal(size=(2, 3, n, 5)).astype(np.float32)
    names = signal_names(prefix, suffix, causal)
    found = boundary_signals(pattern, z, prefix, suffix, causal)
    assert found.shape == (2, n - prefix - suffix, 3, len(names))
    for gap in range(n - prefix - suffix - 1):
        expected = by_definition(pattern[1, 2].astype(float), z[1, 2].astype(float), prefix, suffix, gap)
        for name, value in zip(names, found[1, gap, 2], strict=True):
            assert value == pytest.approx(expected[name], abs=3e-3), (name, gap)


def test_uniform_attention_by_hand():
    # four words between [CLS] and [SEP], every weight 1/6; gap 1 lies between the second and the third word
    pattern = np.full((1, 1, 6, 6), 1 / 6, dtype=np.float32)
    z = np.ones((1, 1, 6, 2), dtype=np.float32)
    at = dict(zip(signal_names(1, 1, False), boundary_signals(pattern, z, 1, 1, False)[0, 1, 0], strict=True))
    assert at["to_last"] == pytest.approx(np.log(1 / 6 + FLOOR))
    assert at["entropy"] == pytest.approx(np.log(6), abs=1e-5)
    assert at["forward_share"] == pytest.approx(2 / 3, abs=1e-3)  # two of the three other words lie ahead
    assert at["back_near"] == pytest.approx(np.log(4 / 6 / 2 + FLOOR), abs=1e-5)  # 2 × 2 weights from 2 queries
    assert at["z_cosine_4"] == pytest.approx(1.0)


def test_a_planted_boundary_is_where_attention_does_not_cross():
    pattern = np.zeros((1, 1, 12, 12), dtype=np.float32)
    pattern[:, :, :6, :6] = pattern[:, :, 6:, 6:] = 1 / 6
    rng = np.random.default_rng(0)
    z = np.repeat(rng.normal(size=(1, 1, 2, 8)), 6, axis=2).astype(np.float32)
    found = boundary_signals(pattern, z, 0, 0, True)
    names = signal_names(0, 0, True)
    for name in ("back_near", "back_far", "z_cosine_1", "z_cosine_4", "z_cosine_12"):
        assert found[0, :11, 0, names.index(name)].argmin() == 5, name


def test_every_signal_is_explained_and_a_causal_model_has_none_ahead():
    assert set(signal_names(1, 1, False)) == set(MEANINGS)
    assert not {"next", "forward_share", "ahead_near", "from_earlier"} & set(signal_names(1, 1, True))


def test_a_window_of_one_token_has_finite_signals():
    pattern = np.full((1, 2, 3, 3), 1 / 3, dtype=np.float32)
    found = boundary_signals(pattern, np.zeros((1, 2, 3, 4), dtype=np.float32), 1, 1, False)
    assert np.isfinite(found).all()
