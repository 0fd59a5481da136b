import gc
import weakref

import numpy as np
import pytest

from lib import stats
from lib.capture import Block, batching, capture, pattern
from lib.corpora import Document, encode, encode_ids, from_text
from lib.heads.census import _Census, tally_heads
from lib.heads.scene import scene
from lib.heads.scores import chance_rows, row_scores, scores_of
from lib.heads.tally import frame
from lib.models import Engine
from tests.capture.families import tiny
from tests.heads.planted import random_pattern


def test_the_census_equals_scoring_every_document_alone(minilm, articles):
    documents = [articles[0], *from_text("Hi."), articles[1]]
    tally = tally_heads(minilm, documents)
    table = frame(tally)
    sums, rows = 0.0, 0
    for document in documents:
        encoding = encode(document, minilm)
        place = scene(minilm, encoding)
        values = row_scores(pattern(minilm, document)[3], place)  # layer 3
        sums, rows = sums + np.nansum(values, axis=2), rows + (~np.isnan(values)).sum(axis=2)
    expected = sums / np.where(rows > 0, rows, np.nan)  # (score, head)
    for score, values in zip(scores_of(place), expected, strict=True):
        np.testing.assert_allclose(table[table.layer == 3][score.name], values, rtol=1e-4, atol=1e-6)
    assert (tally.documents, tally.layers) == (3, tuple(range(6)))
    assert (table.excluded_rows == 0).all()


def test_chance_of_real_documents_is_exact(minilm, articles):
    tally = tally_heads(minilm, articles[:2])
    interval, chance = tally.of("previous_token")
    lengths = np.array([len(encode(document, minilm).table) for document in articles[:2]])
    expected = ((lengths - 1) / lengths).sum() / (lengths - 1).sum()
    np.testing.assert_allclose(chance, expected, rtol=1e-5)
    assert interval.estimate.shape == (6, 12)


def test_norms_are_those_of_the_vectors(smollm2):
    documents = from_text("Rivers carve valleys. The sea is salt.")
    captured = capture(smollm2, documents, keep=("query", "key", "z"))
    table = frame(tally_heads(smollm2, documents))
    gap = np.linalg.norm(captured.query, axis=-1).mean(-1) - np.linalg.norm(captured.key, axis=-1).mean(-1)
    np.testing.assert_allclose(table.norm_gap, gap.ravel(), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(table.z_norm, np.linalg.norm(captured.z, axis=-1).mean(-1).ravel(), rtol=1e-4)
    assert table.next_token.isna().all() and table.norm_gap_low.isna().all()


def _census(patterns, engine, encodings):
    """A census of patterns (document: (head, query_pos, key_pos)) shown as layer 0."""
    census = _Census(engine, encodings, True, last=0)
    for document, weights in enumerate(patterns):
        vectors = np.ones((*weights.shape[:2], 4), np.float32)
        census.see(Block(0, "self", document, vectors, vectors, vectors, vectors, weights))
    return census


def test_scenes_are_dropped_when_a_document_has_passed():
    engine = Engine.from_parts(tiny("bert"))
    encodings = [encode_ids(np.arange(3, 9), engine) for _ in range(5)]
    census = _census([np.full((2, 6, 6), 1 / 6, np.float32)] * 5, engine, encodings)
    assert census.scenes == {}
    assert len(census.found[0]) == 5


@pytest.mark.parametrize("leak", [False, True])
def test_memory_does_not_grow_with_the_number_of_documents(monkeypatch, leak):
    """Every pattern is gone before the next batch's comes, and what stays of a document knows nothing of its length."""
    monkeypatch.setattr(batching, "TOKENS", 64)  # a batch for every document
    engine = Engine.from_parts(tiny("bert"))
    patterns, alive, spied, kept = [], [], _Census.see, []

    def see(census, block):
        spied(census, block)
        owner = block.pattern
        while isinstance(owner, np.ndarray) and owner.base is not None:
            owner = owner.base
        patterns.append(weakref.ref(owner))
        alive.append(sum(one() is not None for one in patterns))
        kept[:] = [census, *(kept[1:] if leak else []), *([block.pattern[:, :1]] if leak else [])]

    monkeypatch.setattr(_Census, "see", see)
    tally_heads(engine, [encode_ids(np.arange(3, 3 + size) % 37 + 3, engine) for size in (34, 60) * 6])
    assert len(patterns) == 24
    if leak:  # a slice that is kept keeps its pattern, and the count tells
        assert max(alive) == 24
        return
    assert max(alive) <= 2  # the layer that is shown, and at most the one before it
    sizes = {sum(part.nbytes for part in document) for layer in kept[0].found.values() for document in layer}
    assert len(sizes) == 1


def test_rows_without_signal_are_excluded_and_counted():
    engine = Engine.from_parts(tiny("bert"))
    weights = np.full((2, 6, 6), 1 / 6, np.float32)
    weights[0, 2], weights[1] = np.nan, 0
    census = _census([weights], engine, [encode_ids(np.arange(3, 9), engine)])
    values, _, rows, excluded = census.found[0][0]
    np.testing.assert_array_equal(excluded, [1, 6])
    names = [score.name for score in census.scores]
    assert values[0, names.index("self")] == pytest.approx(1 / 6)
    assert rows[0, names.index("self")] == 5 and rows[1, names.index("self")] == 0
    assert np.isnan(values[1, names.index("entropy")])


def test_simultaneous_intervals_of_random_heads_hold_chance():
    engine = Engine.from_parts(tiny("bert"))
    rng = np.random.default_rng(7)
    tested = ("previous_token", "self", "first_token", "duplicate_token", "mean_lag")
    encodings = [encode_ids(rng.integers(3, 40, rng.integers(20, 40)), engine) for _ in range(40)]
    per_document = []
    for encoding in encodings:
        place = scene(engine, encoding)
        values = row_scores(random_pattern(rng, 24, place.seen, concentration=1), place)
        names = [score.name for score in scores_of(place)]
        chosen = [names.index(name) for name in tested]
        per_document.append((np.nanmean(values[chosen], 2), np.nanmean(chance_rows(place)[chosen], 1)))
    misses = 0
    for k in range(len(tested)):
        deviation = np.array([values[k] - chance[k] for values, chance in per_document])  # (document, head)
        misses += bool(stats.bootstrap_mean(deviation, simultaneous=True).excludes(0).any())
    assert misses <= 1  # 5 families of 24 heads at 95 % each


def test_streams_of_an_encoder_decoder():
    engine = Engine.from_parts(tiny("t5"))
    encodings = [encode_ids(np.arange(3, 15), engine), encode_ids(np.arange(4, 12), engine)]
    for stream, layers in (("encoder", 2), ("decoder", 3), ("cross", 3)):
        table = frame(tally_heads(engine, encodings, stream))
        assert table.layer.nunique() == layers
        assert table.previous_token.isna().all() == (stream == "cross")
        assert table.entropy_share.between(0, 1.00001).all()
    cross = frame(tally_heads(engine, encodings, "cross"))
    np.testing.assert_allclose(cross.first_token_chance, (13 / 12 + 9 / 8) / 22, rtol=1e-5)


def test_unknown_scores_are_named():
    engine = Engine.from_parts(tiny("bert"))
    tally = tally_heads(engine, [encode_ids(np.arange(3, 9), engine)])
    with pytest.raises(ValueError, match="previous_token"):
        tally.of("prevous_token")
    by_layer, chance = tally.by_layer("self")
    np.testing.assert_allclose(by_layer.estimate, tally.of("self")[0].estimate.mean(axis=1), rtol=1e-6)
    np.testing.assert_allclose(chance, 1 / 6, rtol=1e-6)


def test_a_document_longer_than_the_window_is_cut_and_told(minilm):
    tally = tally_heads(minilm, [Document("long", "one two three four five six seven eight nine ten " * 60)])
    assert tally.tokens == 512 and tally.lost == 600 - 510


def test_a_scene_goes_with_its_last_use(minilm, articles):
    """Masks are large, and the cyclic collector counts objects, not bytes: nothing on a scene may hold the scene."""
    place = scene(minilm, encode(articles[0], minilm))
    assert len(place.masks(slice(0, 4))[0]) == len(place.mask_names)
    place.masks(slice(0, len(place.queries)))
    gone = weakref.ref(place)
    gc.disable()
    try:
        del place
        assert gone() is None
    finally:
        gc.enable()
