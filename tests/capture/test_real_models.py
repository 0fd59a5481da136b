"""The three real models that need no hub: exact, padded or alone, and recomputed from what was captured."""

from functools import cache

import numpy as np
import pytest
import torch
from PIL import Image
from sklearn.datasets import load_sample_images

from lib.capture import capture, observe, pattern, self_check
from lib.capture.tap import implementation
from lib.corpora import from_text
from lib.corpora.document import Document
from lib.corpora.tokens import encode
from lib.models import catalogue, load

MODELS = ("all-MiniLM-L6-v2", "SmolLM2-135M-Instruct", "DINOv2-small")
TEXTS = (
    "Hi",
    "The cat sat on the mat. It was the third day of rain, and nobody had asked the cat.",
    "Rivers carry sand to the sea; the sea gives it back to the beach, a little at a time, year after year.",
    "Rivers carry silt to the sea; the sea gives it back to the beach, a little at a time, every single year.",
)


@cache
def engine(name):
    entry = next(entry for entry in catalogue() if entry.name == name)
    if not entry.available:
        pytest.skip(f"{name} is not installed: {entry.why_not}")
    return load(name, device="cpu")


@cache
def documents(name):
    if engine(name).kind == "vision":
        photographs = [Image.fromarray(image).resize((140, 98)) for image in load_sample_images().images]
        return [Document(f"photograph {i}", image=np.asarray(image)) for i, image in enumerate(photographs)]
    return [document for text in TEXTS for document in from_text(text)]


@pytest.mark.parametrize("name", MODELS)
def test_the_self_check_passes(name):
    check = self_check(engine(name))
    assert check.passed
    assert check.pattern_deviation <= check.tolerance
    assert check.output_deviation <= check.tolerance
    assert check.result_deviation is not None
    assert check.result_deviation <= check.tolerance


@pytest.mark.parametrize("name", MODELS)
def test_patterns_equal_eager(name):
    encoding = encode(documents(name)[1], engine(name))
    with torch.inference_mode(), implementation(engine(name).model, "eager"):
        if encoding.pixels is None:
            given = {"input_ids": torch.from_numpy(encoding.token_ids.copy())[None]}
        else:
            given = {"pixel_values": torch.from_numpy(encoding.pixels.copy())[None]}
        eager = engine(name).model(**given, output_attentions=True).attentions
    found = pattern(engine(name), encoding)
    assert found.shape == (len(eager), *eager[0].shape[1:])
    for layer, expected in enumerate(eager):
        np.testing.assert_allclose(found[layer], expected[0].numpy(), atol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_every_document_equals_itself_alone(name):
    together = capture(engine(name), documents(name))
    for i, document in enumerate(documents(name)):
        alone, own = capture(engine(name), [document]), together.of(i)
        assert own.tokens.text == alone.tokens.text
        for kept in ("query", "key", "value", "z"):
            ours, theirs = getattr(own, kept), getattr(alone, kept)
            np.testing.assert_allclose(ours, theirs, atol=2e-5 * np.abs(theirs).max())


@pytest.mark.parametrize("name", MODELS)
def test_attention_follows_from_query_and_key(name):
    one = engine(name)
    document = documents(name)[1]
    captured, found = capture(one, [document]), pattern(one, document)
    scores = captured.query @ captured.key.swapaxes(2, 3) * captured.scaling
    if one.causal:
        scores = np.where(np.tri(scores.shape[-1], dtype=bool), scores, -np.inf)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(found, weights / weights.sum(-1, keepdims=True), atol=1e-4)
    np.testing.assert_allclose(found @ captured.value, captured.z, atol=1e-4)
    assert captured.query.shape[:2] == (one.n_layers, one.n_heads)


@pytest.mark.parametrize("name", MODELS)
def test_half_precision_is_exact_and_its_distance_from_float32_is_told(name):
    half = load(name, device="cpu", dtype="bfloat16")
    check = self_check(half)
    assert check.passed
    assert check.dtype == "bfloat16"
    assert check.pattern_deviation <= check.tolerance
    assert 1e-3 < check.precision_deviation < 0.5
    assert self_check(engine(name)).precision_deviation is None
    exact, found = (pattern(e, documents(name)[1]) for e in (engine(name), half))
    assert 1e-3 < np.abs(exact - found).max() < 0.5
    assert np.abs(exact - found).mean() < 2e-3


def test_unequal_lengths_really_share_a_batch():
    rows = []
    model = engine(MODELS[0]).model

    class Count:
        needs = frozenset({"z"})

        def see(self, block):
            rows.append(block.document)

    batches = []
    hook = model.register_forward_pre_hook(lambda _, a, k: batches.append(k["input_ids"].shape), with_kwargs=True)
    observe(engine(MODELS[0]), documents(MODELS[0])[2:], Count())
    hook.remove()
    assert [shape[0] for shape in batches] == [2]
    assert sorted(set(rows)) == [0, 1]
