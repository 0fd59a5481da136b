import os
import sys
import threading
import time
from pathlib import Path

import pytest

from lib.models import cache


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def filler(calls, text="content"):
    def fill(folder):
        calls.append(folder)
        (folder / "file").write_text(text, "utf-8")

    return fill


def test_made_once_and_found_again(place):
    calls = []
    assert cache.find("a") is None
    folder = cache.convert("a", filler(calls))
    assert folder == place / "a"
    assert cache.convert("a", filler(calls)) == cache.find("a") == folder
    assert len(calls) == 1


@pytest.mark.parametrize("damage", ["changed", "cut", "gone", "no manifest", "broken manifest"])
def test_damage_is_found_and_repaired(damage, place):
    calls = []
    folder = cache.convert("a", filler(calls))
    file, manifest = folder / "file", folder / cache.MANIFEST
    if damage == "changed":
        file.write_text("cOntent", "utf-8")
    elif damage == "cut":
        file.write_text("cont", "utf-8")
    elif damage == "gone":
        file.unlink()
    elif damage == "no manifest":
        manifest.unlink()
    else:
        manifest.write_text("[1", "utf-8")
    assert cache.find("a") is None
    assert (cache.convert("a", filler(calls)) / "file").read_text("utf-8") == "content"
    assert len(calls) == 2


def test_an_interrupted_conversion_leaves_nothing(place):
    def fill(folder):
        (folder / "file").write_text("half", "utf-8")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        cache.convert("a", fill)
    assert list(place.iterdir()) == []


@pytest.mark.parametrize("obstacle", ["a file", "read-only"])
def test_where_the_cache_cannot_be_written_a_temporary_folder_serves(obstacle, place):
    if obstacle == "a file":
        place.write_text("in the way", "utf-8")
    else:
        if os.geteuid() == 0:
            pytest.skip("root writes everywhere")
        place.mkdir(mode=0o500)
    calls = []
    folder = cache.convert(f"b {obstacle}", filler(calls))
    assert (folder / "file").read_text("utf-8") == "content"
    assert place not in folder.parents
    assert cache.convert(f"b {obstacle}", filler(calls)) == folder
    assert len(calls) == 1


def test_two_threads_make_it_once(place):
    calls = []
    threads = [threading.Thread(target=cache.convert, args=("a", filler(calls))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1


def test_a_faster_process_wins(place):
    def fill(folder):
        (folder / "file").write_text("mine", "utf-8")
        cache._make(place, "a", filler([], "theirs"))

    assert (cache._make(place, "a", fill) / "file").read_text("utf-8") == "theirs"


def test_the_platform_decides_where(monkeypatch, tmp_path):
    monkeypatch.delenv("HEADLIGHT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache.cache_folder() == tmp_path / "headlight"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cache.cache_folder() == Path.home() / "Library" / "Caches" / "headlight"
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path))
    assert cache.cache_folder() == tmp_path / "headlight" / "Cache"


def test_old_drafts_of_killed_processes_are_swept(place):
    for name, hours in ((".old-1a2b", 25), (".young-3c4d", 1), ("kept-model", 500)):
        (place / name).mkdir(parents=True)
        (place / name / "file").write_text("half")
        then = time.time() - hours * 3600
        os.utime(place / name, (then, then))
    cache.convert("a", filler([]))
    assert sorted(path.name for path in place.iterdir()) == [".young-3c4d", "a", "kept-model"]
