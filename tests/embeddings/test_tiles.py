"""Maps of all heads: ready one by one, the same as one at a time, cancellable, kept in the store."""

import numpy as np
import pytest
from joblib import parallel_config

from lib.capture import Store
from lib.embeddings import (
    EmbeddingError,
    MapSettings,
    all_heads,
    head_map,
    load_tile,
    principal_axes,
    project,
    save_tile,
    tiles,
)


@pytest.fixture(scope="module")
def small(made):
    rng = np.random.default_rng(0)
    query, key = rng.normal(size=(2, 2, 3, 40, 5))
    special = np.arange(40) % 20 == 0
    return made(query, key, [20, 20], layers=(1, 4), special=special)


def test_every_head_has_its_own_map(small):
    done = list(tiles(small))
    assert (
        [(tile.layer, tile.head) for tile in done]
        == all_heads(small)
        == [(1, h) for h in range(3)] + [(4, h) for h in range(3)]
    )
    for tile in done:
        joint = head_map(small, tile.layer, tile.head)
        np.testing.assert_array_equal(tile.projection.xy, principal_axes(joint.points).xy)
        np.testing.assert_array_equal(tile.role, joint.role)


def same_as_alone(capture, settings, found):
    rows = settings.samples(capture)[0].rows
    for (layer, head), xy in found.items():
        alone = project(head_map(capture, layer, head, rows=rows).points, settings.method).xy
        np.testing.assert_array_equal(xy, alone)


def test_joblib_decides_who_does_the_work(small):
    settings = MapSettings("tsne", most=20)
    with parallel_config("threading", n_jobs=2):
        found = {(t.layer, t.head): t.projection.xy for t in tiles(small, settings)}
    assert set(found) == set(all_heads(small))
    same_as_alone(small, settings, found)


@pytest.mark.slow
def test_processes_give_what_one_process_gives(small):
    settings = MapSettings("tsne", most=20)
    found = {(t.layer, t.head): t.projection.xy for t in tiles(small, settings, [(1, 0), (4, 2), (1, 2)], jobs=2)}
    assert set(found) == {(1, 0), (4, 2), (1, 2)}
    same_as_alone(small, settings, found)


def test_one_head_and_one_layer(made):
    rng = np.random.default_rng(1)
    capture = made(*rng.normal(size=(2, 1, 1, 5, 4)))
    (tile,) = tiles(capture, MapSettings("umap"))
    assert tile.projection.xy.shape == (10, 2)


def test_cancel_in_the_middle_keeps_what_is_ready(small):
    ready = []

    def cancel(done, total, stage):
        if done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        for tile in tiles(small, progress=cancel):
            ready.append((tile.layer, tile.head))
    assert ready == [(1, 0), (1, 1)]


def test_settings_choose_tokens_and_name_the_map(small):
    plain = MapSettings()
    assert len(plain.samples(small)[0]) == 40
    bare = MapSettings(special=False, most=12)
    rows = bare.samples(small)[0].rows
    assert len(rows) == 12
    assert not small.tokens.is_special[rows].any()
    changed = [
        MapSettings("umap"), MapSettings(dimensions=3), MapSettings(scale=2.0), MapSettings(roles=("key",)),
        MapSettings(most=9), MapSettings(special=False), MapSettings(seed=1),
    ]  # fmt: skip
    keys = {one.key("hash", 1, 2) for one in (plain, *changed)}
    keys |= {plain.key("other", 1, 2), plain.key("hash", 2, 1)}
    assert len(keys) == len(changed) + 3


def test_cross_attention_samples_each_side_for_itself(table):
    from lib.capture.value import Capture

    rng = np.random.default_rng(2)
    query, key = (rng.normal(size=(1, 1, n, 4)).astype(np.float32) for n in (9, 30))
    capture = Capture(
        tokens=table([4, 5]), doc_offsets=np.array([0, 4, 9]), layers=(0,), query=query, key=key,
        key_tokens=table([10, 20]), key_doc_offsets=np.array([0, 10, 30]), stream="cross",
    )  # fmt: skip
    (tile,) = tiles(capture, MapSettings(most=12))
    assert np.bincount(tile.role).tolist() == [9, 12]


def test_the_store_gives_back_what_was_saved(small, tmp_path):
    store, settings = Store(tmp_path), MapSettings()
    tile = next(tiles(small, settings))
    assert load_tile(store, small.hash, settings, 1, 0) is None
    save_tile(store, small.hash, settings, tile)
    found = load_tile(store, small.hash, settings, 1, 0)
    np.testing.assert_array_equal(found.projection.xy, tile.projection.xy)
    np.testing.assert_array_equal(found.role, tile.role)
    assert dict(found.projection.fidelity) == dict(tile.projection.fidelity)
    assert load_tile(store, small.hash, MapSettings(seed=1), 1, 0) is None
    assert load_tile(store, "another capture", settings, 1, 0) is None


@pytest.mark.parametrize(
    "asked", [{"method": "isomap"}, {"dimensions": 4}, {"dimensions": 2.0}, {"most": 0}, {"most": 9.5}, {"seed": -1}]
)
def test_settings_that_cannot_be_are_refused_when_they_are_made(asked):
    with pytest.raises(EmbeddingError, match=r"Expected .*; got"):
        MapSettings(**asked)
