"""Encoder–decoders, causal masks and images: the same statistics wherever there is z."""

import numpy as np
import pytest

from lib.capture import Block, capture, observe
from lib.corpora import builtin, encode_ids
from lib.models import Engine, catalogue, load
from lib.similarity import column_mass, evidence, halevi, pair_statistics
from lib.similarity.attention_mass import _Keeper
from tests.capture.families import tiny


@pytest.fixture(scope="module")
def bart():
    return Engine.from_parts(tiny("bart", 0), name="bart")


def test_every_stream_of_an_encoder_decoder_has_its_statistics(bart):
    rng = np.random.default_rng(0)
    encodings = [encode_ids(rng.integers(3, 40, size=n), bart) for n in (30, 45)]
    taken = capture(bart, encodings, keep=("z",))
    assert set(taken.streams) == {"encoder", "decoder", "cross"}
    for name, stream in taken.streams.items():
        frame = pair_statistics(stream)
        assert len(frame) == len(stream.layers) * 3
        assert frame["distance"].notna().all()
        assert ("causal" in " ".join(frame.attrs["notes"])) == (name == "decoder")
        mass = column_mass(bart, encodings, stream=name)
        assert mass.layers == stream.layers
        np.testing.assert_allclose(np.nansum(mass.mass, axis=-1), 1, atol=1e-5)
        np.testing.assert_allclose(np.nansum(mass.chance, axis=-1), 1, atol=1e-6)


def test_chance_counts_only_the_keys_that_a_row_may_see():
    # causal, four tokens, the third ends a sentence: rows see it with 0, 0, 1/3, 1/4
    pattern = np.tril(np.random.default_rng(1).uniform(0.1, 1, size=(2, 4, 4)).astype(np.float32))
    pattern /= pattern.sum(axis=-1, keepdims=True)
    keeper = _Keeper([np.arange(4)], [np.array([0, 0, 3, 0])])
    keeper.see(Block(layer=0, stream="self", document=0, pattern=pattern))
    mass, chance = keeper.kept[0, 0]
    np.testing.assert_allclose(chance[:, 3], (0 + 0 + 1 / 3 + 1 / 4) / 4)
    np.testing.assert_allclose(mass[:, 3], pattern[:, :, 2].mean(axis=1), rtol=1e-6)
    assert np.isnan(mass[:, [1, 2]]).all()


def test_a_uniform_pattern_has_exactly_chance_mass(bart):
    class Uniform(_Keeper):
        def see(self, block):
            seen = (block.pattern > 0).any(axis=0).astype(np.float32)
            flat = np.broadcast_to(seen / seen.sum(axis=1, keepdims=True), block.pattern.shape)
            super().see(Block(layer=block.layer, stream=block.stream, document=block.document, pattern=flat))

    encoding = encode_ids(np.arange(3, 33), bart)
    classes = np.arange(len(encoding.target_table)) % 4
    keeper = Uniform([np.arange(len(classes))], [classes])
    observe(bart, [encoding], keeper, stream="decoder")
    for mass, chance in keeper.kept.values():
        np.testing.assert_allclose(mass, chance, atol=1e-6)


@pytest.mark.slow
def test_images_are_measured_on_their_grid_and_claims_about_text_stay_open():
    entry = next(entry for entry in catalogue() if entry.name == "DINOv2-small")
    if not entry.available:
        pytest.skip(entry.why_not)
    engine, documents = load(entry.name), builtin("gratings")[:5]
    found = evidence(engine, documents)
    chance = found.dot.chance["distance"]
    np.testing.assert_allclose(chance, (16 + 16) / 3, rtol=1e-6)
    assert found.dot.unit == "patches"
    marks = [verdict.mark for verdict in halevi(found, None, "gratings")]
    assert [marks[i] for i in (0, 1, 2, 4)] == ["undecided"] * 4
