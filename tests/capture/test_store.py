"""The store: what comes back is what was written, or nothing."""

import json
import os
import threading

import numpy as np
import pytest
from safetensors.numpy import load_file

from lib.capture import Store, capture
from lib.corpora.tokens import encode_ids
from lib.models import Engine
from tests.capture.families import tiny

NOTES = ("layers", "stream", "causal", "scaling", "model", "revision", "dtype", "attention", "lost", "hash")


@pytest.fixture(scope="module")
def captured():
    engine = Engine.from_parts(tiny("t5"), name="t5")
    draw = np.random.default_rng(0)
    return capture(engine, [encode_ids(draw.integers(3, 40, n), engine) for n in (7, 5)])


def results(seed=0):
    draw = np.random.default_rng(seed)
    return {"modes": draw.standard_normal((3, 4, 4)), "rank": np.array([7]), "mask": np.array([True, False])}


def the_file(store):
    (path,) = store.folder.glob("*.safetensors")
    return path


def test_a_capture_comes_back_whole(tmp_path, captured):
    store = Store(tmp_path)
    assert store.load_capture(captured.hash) is None
    store.save_capture(captured.hash, captured)
    back = Store(tmp_path).load_capture(captured.hash)
    assert list(back.streams) == list(captured.streams)
    for stream, expected in captured.streams.items():
        found = back.streams[stream]
        for name in ("query", "key", "value", "z", "doc_offsets", "key_doc_offsets"):
            assert np.array_equal(getattr(found, name), getattr(expected, name))
        for name in (
            "layers",
            "stream",
            "causal",
            "scaling",
            "model",
            "revision",
            "dtype",
            "attention",
            "lost",
            "hash",
        ):
            assert getattr(found, name) == getattr(expected, name)
        assert found.tokens.frame().equals(expected.tokens.frame())
        assert found.key_tokens.frame().equals(expected.key_tokens.frame())


def test_arrays_are_mapped_not_read(tmp_path, captured):
    store = Store(tmp_path)
    store.save_capture(captured.hash, captured)
    back = store.load_capture(captured.hash)
    layer = back.query[1]
    assert isinstance(layer, np.memmap)
    assert np.shares_memory(layer, back.query)
    assert not layer.flags.writeable


def test_named_results_and_their_notes(tmp_path):
    store = Store(tmp_path)
    store.save("pod é 東京", results(), {"beta": 1.5, "documents": ["a", "b"]})
    arrays, notes = store.load("pod é 東京")
    assert notes == {"beta": 1.5, "documents": ["a", "b"]}
    assert all(np.array_equal(arrays[name], array) for name, array in results().items())
    assert all(arrays[name].dtype == array.dtype for name, array in results().items())
    assert store.load("another") is None


def test_files_are_ordinary_safetensors(tmp_path):
    store = Store(tmp_path)
    store.save("pod", results())
    assert np.array_equal(load_file(the_file(store))["modes"], results()["modes"])


def test_empty_and_scalar_arrays(tmp_path):
    store = Store(tmp_path)
    store.save("odd", {"none": np.empty((0, 3), dtype=np.float32), "one": np.array(2.5)})
    arrays, _ = store.load("odd")
    assert arrays["none"].shape == (0, 3)
    assert arrays["one"] == 2.5
    store.save("nothing", {})
    assert store.load("nothing") == ({}, {})


def test_a_result_is_built_once(tmp_path):
    store, built = Store(tmp_path), []

    def build():
        built.append(1)
        return results()

    first, second = store.arrays("pod", build), store.arrays("pod", build)
    assert len(built) == 1
    assert isinstance(first["modes"], np.memmap)
    assert np.array_equal(first["modes"], second["modes"])


def test_the_files_unused_for_longest_go_first(tmp_path):
    store = Store(tmp_path, bound=25_000)
    for name in "abc":  # of 8 kB each: three fit
        store.save(name, {"x": np.full(2000, ord(name), dtype=np.float32)})
        os.utime(store._path(name), ns=(ord(name), ord(name)))
    assert store.load("a") is not None  # used now
    store.save("d", {"x": np.zeros(2000, dtype=np.float32)})
    assert [name for name in "abcd" if store.load(name) is not None] == ["a", "c", "d"]
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 25_000
    store.save("huge", {"x": np.zeros(20_000, dtype=np.float32)})
    assert [name for name in ("a", "c", "d", "huge") if store.load(name) is not None] == ["huge"]


def test_what_is_mapped_survives_its_file(tmp_path):
    store = Store(tmp_path)
    arrays = store.arrays("pod", results)
    the_file(store).unlink()
    assert np.array_equal(arrays["modes"], results()["modes"])


def test_a_capture_whose_tables_had_other_columns_is_built_again(tmp_path, captured):
    store = Store(tmp_path)
    store.save_capture("key", captured)
    arrays, notes = store.load("key")
    store.save("key", {**arrays, "encoder/tokens/colour": np.zeros(12, np.int32)}, notes)
    assert store.load_capture("key") is None
    assert store.load("key") is None
    assert np.array_equal(store.capture("key", lambda: captured).query, captured.query)


def test_temporary_files_that_nobody_writes_any_more_go(tmp_path):
    old, new = tmp_path / "a.0.tmp", tmp_path / "b.1.tmp"
    for path in (old, new):
        path.write_bytes(b"half")
    os.utime(old, (0, 0))
    Store(tmp_path).save("pod", results())
    assert not old.exists()
    assert new.exists()


def test_threads_and_writers_of_one_name(tmp_path):
    wrong = []

    def work(i):
        store = Store(tmp_path)
        for _ in range(10):
            store.save("pod", results())
            found = store.arrays("pod", results)
            if not np.array_equal(found["modes"], results()["modes"]):
                wrong.append(i)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(list(tmp_path.iterdir())) == 1


def test_nothing_is_pickled(tmp_path, captured):
    store = Store(tmp_path)
    store.save_capture(captured.hash, captured)
    content = the_file(store).read_bytes()
    header = json.loads(content[8 : 8 + int.from_bytes(content[:8], "little")])
    assert {entry["dtype"] for name, entry in header.items() if name != "__metadata__"} <= {
        "F32", "I64", "I32", "I8", "BOOL",
    }  # fmt: skip
    assert json.loads(header["__metadata__"]["headlight"])["notes"]["encoder"]["model"] == "t5"
