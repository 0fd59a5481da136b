"""Features of tokens: what attention reads and puts out, and how far a model is run for them."""

import numpy as np
import pytest

from lib.corpora import builtin
from lib.segmentation.features import PARTS, layer_parts, part_shapes
from lib.segmentation.passes import show_layers
from lib.segmentation.ridge import spread_of
from lib.segmentation.windows import read_tokens


@pytest.fixture(scope="module")
def seen(engine):
    """Per layer the parts, (token, head, number), and the pattern between words, (head, query, key), of one text."""
    tokens = read_tokens(builtin("encyclopedia")[0].text[:150], engine)
    shapes = part_shapes(engine, 18)
    found = []

    def see(batch, shown):
        parts = layer_parts(shown, 1, 1, engine.causal)
        shaped = {name: part[0].reshape(-1, *shapes[name]) for name, part in zip(PARTS, parts, strict=True)}
        found.append((shaped, shown.pattern[0, :, 1:-1, 1:-1].copy()))

    show_layers(engine, tokens.encodings([(0, len(tokens))], engine), see)
    return found


def test_queries_and_keys_make_the_pattern(engine, seen):
    assert len(seen) == engine.n_layers
    for parts, pattern in seen:
        scores = np.einsum("qhd,khd->hqk", parts["queries"], parts["keys"]) / np.sqrt(engine.d_head)
        mass = np.exp(scores - scores.max(axis=-1, keepdims=True))
        expected = mass / mass.sum(axis=-1, keepdims=True)  # special tokens are left out on both sides
        assert pattern / pattern.sum(axis=-1, keepdims=True) == pytest.approx(expected, abs=1e-5)


def test_values_mixed_by_the_pattern_are_z_but_for_special_tokens(seen):
    for parts, pattern in seen:
        rest = parts["outputs"] - np.einsum("hqk,khd->qhd", pattern, parts["values"])
        for head in range(rest.shape[1]):  # what is left is a mix of the two special tokens' values
            assert np.linalg.matrix_rank(rest[:, head], tol=1e-3) <= 2


def test_a_model_is_run_to_its_last_attention_and_no_further(engine):
    tokens = read_tokens("One runs. Another waits.", engine)
    encodings = tokens.encodings([(0, len(tokens))], engine)
    after = engine.model.encoder.layer[-1].output
    reached, shown_z = [], {False: [], True: []}
    hook = after.register_forward_hook(lambda *_: reached.append(True))
    try:
        for hidden in (False, True):
            states = show_layers(
                engine, encodings, lambda _, shown, z=shown_z[hidden]: z.append(shown.z.copy()), hidden=hidden
            )
            assert len(reached) == hidden
            assert (states[0] is not None) == hidden
    finally:
        hook.remove()
    assert len(shown_z[False]) == engine.n_layers
    assert all(np.array_equal(a, b) for a, b in zip(*shown_z.values(), strict=True))


def test_spread_of_each_choice_of_rows():
    values = np.array([[1.0, 10.0], [3.0, 10.0], [5.0, 40.0]], dtype=np.float16)
    chosen = np.array([[True, False], [True, True], [False, True]])
    mean, deviation = spread_of(values, chosen)
    assert mean.tolist() == [[2.0, 10.0], [4.0, 25.0]]
    assert deviation == pytest.approx(np.array([[1.0, 0.0], [1.0, 15.0]]), abs=1e-5)
