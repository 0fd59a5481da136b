import numpy as np
import pytest
import torch

from lib.capture import capture, pattern
from lib.capture.batching import model_inputs
from lib.corpora import Document, encode, encode_ids, from_text
from lib.heads import between, breakdown, hide, merge_words, results, rollout, value_weighted
from lib.models import Engine
from tests.capture.families import tiny
from tests.heads.planted import random_pattern

TEXT = "Unbelievably, glaciers grind. Photosynthesis doesn’t!"


def projected(engine, document, layer, path):
    """What the attention's output projection really gave: (pos, d_model)."""
    seen = []
    module = engine.model.get_submodule(path.format(layer))
    hook = module.register_forward_hook(lambda _, __, out: seen.append(out))
    try:
        with torch.inference_mode():
            engine.model(**model_inputs(engine, [encode(document, engine)]))
    finally:
        hook.remove()
    return seen[0][0].numpy()


@pytest.mark.parametrize(
    "name, path",
    [
        ("minilm", "encoder.layer.{}.attention.output.dense"),
        ("smollm2", "model.layers.{}.self_attn.o_proj"),
        ("dinov2", "encoder.layer.{}.attention.o_proj"),
    ],
)
def test_results_of_all_heads_add_up_to_the_modules_output(name, path, request):
    engine = request.getfixturevalue(name)
    image = np.random.default_rng(0).integers(0, 255, (60, 90, 3), dtype=np.uint8)
    document = Document("one", image=image) if engine.kind == "vision" else Document("one", TEXT)
    layer = 3
    weights, kept = engine.weights(layer), capture(engine, [document], keep=("value",), layers=[layer])
    weights_of = pattern(engine, document, layers=[layer])[0]
    ours = results(weights_of, kept.value[0], weights.W_O)
    theirs = projected(engine, document, layer, path)
    np.testing.assert_allclose(ours.sum(0) + weights.b_O, theirs, atol=2e-5 * np.abs(theirs).max())
    contribution = weights_of[2, 4, 1] * (kept.value[0][2, 1] @ weights.W_O[2])
    got = value_weighted(weights_of, kept.value[0], weights.W_O)
    assert got[2, 4, 1] == pytest.approx(np.linalg.norm(contribution), rel=1e-4)
    assert (np.linalg.norm(ours, axis=2) <= got.sum(2) * (1 + 1e-5)).all()  # lengths of a sum and of its terms


def test_value_weighting_by_hand():
    weights, value = np.array([[[0.5, 0.5]]]), np.array([[[3.0, 4.0], [0.0, 1.0]]])
    np.testing.assert_allclose(value_weighted(weights, value), [[[2.5, 0.5]]])
    doubled = 2 * np.eye(2)[None]
    np.testing.assert_allclose(value_weighted(weights, value, doubled), [[[5.0, 1.0]]])


def test_the_products_of_a_pair_add_up_to_its_score(smollm2):
    document = Document("one", TEXT)
    kept = capture(smollm2, [*from_text("Hi there."), document], keep=("query", "key"), layers=[2, 5])
    table = breakdown(kept, 5, 4, query_pos=6, key_pos=2, document=1)
    assert len(table) == 64 and table.share.abs().sum() == pytest.approx(1)
    weights = pattern(smollm2, document, layers=[5])[0, 4, 6]
    others = [breakdown(kept, 5, 4, 6, key, document=1)["product"].sum() for key in range(7)]
    np.testing.assert_allclose(np.exp(others) / np.exp(others).sum(), weights[:7], rtol=1e-4)
    assert table["product"].sum() == pytest.approx(others[2])
    with pytest.raises(ValueError, match="query 99"):
        breakdown(kept, 5, 4, 99, 0, document=1)


def test_words_keep_every_total(minilm):
    document = Document("one", TEXT)
    table = encode(document, minilm).table
    weights = pattern(minilm, document)[2]
    words = merge_words(weights, table, table, TEXT)
    assert words.keys == (
        "[CLS]",
        "Unbelievably",
        ",",
        "glaciers",
        "grind",
        ".",
        "Photosynthesis",
        "doesn’t",
        "!",
        "[SEP]",
    )
    np.testing.assert_allclose(words.pattern.sum(2), 1, rtol=1e-5)
    tokens = np.flatnonzero(words.key_of == 6)
    assert len(tokens) > 1
    np.testing.assert_allclose(
        words.pattern[:, 3, 6], weights[:, words.query_of == 3][:, :, tokens].sum(2).mean(1), rtol=1e-5
    )


def test_one_token_per_word_changes_nothing(minilm):
    table = encode(Document("one", "the cat sat on the mat"), minilm).table
    weights = random_pattern(np.random.default_rng(0), 2, np.ones((8, 8), bool))
    words = merge_words(weights, table, table)
    np.testing.assert_allclose(words.pattern, weights, rtol=1e-6)
    assert words.keys == table.text  # "the" twice: entries, not labels


def test_hiding_keeps_the_total_apart():
    weights = np.array([[[0.5, 0.3, 0.2], [1.0, 0.0, 0.0]]])
    shown = hide(weights, np.array([True, True]), np.array([False, True, True]))
    np.testing.assert_allclose(shown.pattern[0, 0], [0.6, 0.4])
    np.testing.assert_allclose(shown.hidden, [[0.5, 1.0]])
    assert np.isnan(shown.pattern[0, 1]).all()
    back = shown.pattern[0, 0] * (1 - shown.hidden[0, 0])
    np.testing.assert_allclose(back, weights[0, 0, 1:])


def test_directions_of_a_pair(minilm):
    text = "Is it raining? It is pouring."
    table = encode(Document("pair", text, second=15), minilm).table
    queries, keys = between(table, "A→B")
    assert [table.text[i] for i in np.flatnonzero(queries)][1] == "Is" and "pouring" in np.array(table.text)[keys]
    assert not (queries & keys).any() and (queries | keys).all()
    both = between(table, "all")
    assert both[0].all() and both[1].all()


def test_rollout_of_one_layer_by_hand():
    weights = np.array([[[[1.0, 0.0], [0.2, 0.8]], [[0.0, 1.0], [0.6, 0.4]]]])  # one layer, two heads
    np.testing.assert_allclose(rollout(weights), [[0.75, 0.25], [0.2, 0.8]])


def test_rollout_of_real_layers_is_their_product(minilm):
    weights = pattern(minilm, Document("one", TEXT))
    got = rollout(weights)
    np.testing.assert_allclose(got.sum(1), 1, rtol=1e-6)
    expected = np.eye(weights.shape[2])
    for layer in weights:
        expected = (0.5 * layer.mean(0) + 0.5 * np.eye(len(expected))) @ expected
    np.testing.assert_allclose(got, expected, rtol=1e-5)
    assert np.abs(got - rollout(weights, residual=0)).max() > 0.05  # the residual is not a detail


def test_rollout_refuses_what_it_is_not_defined_for():
    for shape in ((2, 3, 5, 4), (2, 5, 5), (0, 3, 5, 5)):
        with pytest.raises(ValueError, match="Rollout is defined"):
            rollout(np.ones(shape))


def test_breakdown_needs_vectors():
    engine = Engine.from_parts(tiny("bert"))
    kept = capture(engine, [encode_ids(np.arange(3, 9), engine)], keep=("z",))
    with pytest.raises(ValueError, match="query and key"):
        breakdown(kept, 0, 0, 0, 0)
