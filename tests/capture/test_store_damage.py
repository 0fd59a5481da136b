"""Files of the store that were damaged, or cannot be written or deleted, are never served and never stop the app."""

import numpy as np
import pytest

from lib.capture import Store
from tests.capture.test_store import results, the_file


def cut(path):
    with path.open("rb+") as file:
        file.truncate(path.stat().st_size - 8)


def flip(path, place):
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)


def grow(path):
    with path.open("ab") as file:
        file.write(b"\0" * 16)


def rename_in_header(path):
    content = path.read_bytes()
    path.write_bytes(content.replace(b'\\"name\\": \\"pod\\"', b'\\"name\\": \\"dop\\"'))


DAMAGE = {
    "cut short": cut,
    "a bit in the data": lambda path: flip(path, -5),
    "a bit in the header's length": lambda path: flip(path, 0),
    "a bit in the header": lambda path: flip(path, 40),
    "grown": grow,
    "emptied": lambda path: path.write_bytes(b""),
    "half of the first eight bytes": lambda path: path.write_bytes(path.read_bytes()[:4]),
    "header only": lambda path: path.write_bytes(path.read_bytes()[:64]),
    "another format": lambda path: path.write_bytes(b"PK\x03\x04" + b"\0" * 400),
    "an absurd length": lambda path: path.write_bytes(b"\xff" * 8 + path.read_bytes()[8:]),
    "another name": rename_in_header,
    "no metadata": lambda path: path.write_bytes((len(b"{}")).to_bytes(8, "little") + b"{}"),
}


@pytest.mark.parametrize("how", DAMAGE)
@pytest.mark.parametrize("same_process", [True, False])
def test_a_damaged_file_is_never_served_and_is_built_again(tmp_path, how, same_process):
    store = Store(tmp_path)
    store.save("pod", results())
    assert store.load("pod") is not None  # verified once
    before = the_file(store).read_bytes()
    DAMAGE[how](the_file(store))
    assert the_file(store).read_bytes() != before
    reader = store if same_process else Store(tmp_path)
    assert reader.load("pod") is None
    assert not list(tmp_path.iterdir())
    rebuilt = reader.arrays("pod", lambda: results(1))
    assert np.array_equal(rebuilt["modes"], results(1)["modes"])


def test_every_single_altered_byte_is_noticed(tmp_path):
    store = Store(tmp_path)
    store.save("pod", {"a": np.arange(4, dtype=np.float32)})
    path = the_file(store)
    content = path.read_bytes()
    unnoticed = []
    for place in range(len(content)):
        altered = bytearray(content)
        altered[place] ^= 0x10
        path.write_bytes(altered)
        found = Store(tmp_path).load("pod")
        if found is not None and not np.array_equal(found[0]["a"], np.arange(4)):
            unnoticed.append(place)
        path.write_bytes(content)
    assert not unnoticed
    assert Store(tmp_path).load("pod") is not None


def test_a_write_that_dies_leaves_what_was_there(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.save("pod", results())

    def dies(arrays, path, metadata):
        path.write_bytes(b"half")
        raise OSError("disk full")

    monkeypatch.setattr("lib.capture.store.save_file", dies)
    with pytest.raises(OSError, match="disk full"):
        store.save("pod", results(1))
    assert np.array_equal(store.load("pod")[0]["modes"], results()["modes"])
    assert len(list(tmp_path.iterdir())) == 1  # no temporary file is left behind
    unsaved = store.arrays("other", lambda: results(2))  # and a result is still given
    assert np.array_equal(unsaved["modes"], results(2)["modes"])
    assert not unsaved["modes"].flags.writeable


def test_a_good_file_outlives_errors_of_the_system(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.save("pod", results())

    def refused(*arguments, **keywords):
        raise OSError("not the owner, or too many open files")

    with monkeypatch.context() as patched:
        patched.setattr("lib.capture.store.os.utime", refused)
        assert np.array_equal(store.load("pod")[0]["modes"], results()["modes"])
    with monkeypatch.context() as patched:
        patched.setattr("lib.capture.store._mapped", refused)
        assert store.load("pod") is None
    assert np.array_equal(store.load("pod")[0]["modes"], results()["modes"])


def test_a_damaged_file_that_cannot_be_deleted_is_not_served(tmp_path, monkeypatch):
    store = Store(tmp_path)
    store.save("pod", results())
    the_file(store).write_bytes(b"short")

    def refused(*arguments, **keywords):
        raise PermissionError("read-only")

    monkeypatch.setattr("pathlib.Path.unlink", refused)
    assert store.load("pod") is None


@pytest.mark.parametrize("place", ["folder", "file"])
def test_what_stands_in_the_way_costs_only_the_speed(tmp_path, place):
    folder = tmp_path / "store"
    store = Store(folder)
    if place == "folder":
        folder.write_text("a file", "utf-8")
    else:
        store._path("pod").mkdir(parents=True)
    for _ in range(2):
        assert np.array_equal(store.arrays("pod", results)["modes"], results()["modes"])
    assert not list(folder.glob("*.tmp"))
    if place == "file":
        store.save("other", results(1))
        assert np.array_equal(store.load("other")[0]["modes"], results(1)["modes"])
