"""Corpora from the data folder or the Hub: found, named, refused in time."""

import os
import socket
from threading import Event

import pytest

from lib.corpora import external, external_names
from lib.corpora.outside import passages
from lib.errors import HeadlightError

needs_data = pytest.mark.skipif(not os.environ.get("HEADLIGHT_DATA"), reason="HEADLIGHT_DATA names no data folder")


@pytest.fixture
def no_network(monkeypatch, tmp_path):
    def refuse(*_, **__):
        raise OSError("no network in this test")

    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))


def test_without_network_the_hub_is_given_up(no_network):
    assert set(external_names()) == {"tinyshakespeare"}
    with pytest.raises(HeadlightError, match=r"Hub to answer.*built-in corpus"):
        external("tinyshakespeare")


def test_a_silent_network_is_given_up_too(no_network, monkeypatch):
    monkeypatch.setattr("lib.corpora.outside.PATIENCE", 0.3)
    answered = Event()
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: answered.wait())
    with pytest.raises(HeadlightError, match="no answer"):
        external("tinyshakespeare")
    assert not answered.is_set()  # given up while the question still hangs
    answered.set()


def test_unknown_names_list_what_is_available(no_network):
    with pytest.raises(HeadlightError, match=r"'ewt-dev'.*Available here: tinyshakespeare.*HEADLIGHT_DATA"):
        external("ewt-dev")


def test_a_folder_decides_what_is_available(monkeypatch, tmp_path):
    (tmp_path / "choi" / "3-5").mkdir(parents=True)
    for number in (10, 2):
        (tmp_path / "choi" / "3-5" / f"{number}.ref").write_text("==========\nOne .\n==========\nTwo .\n")
    (tmp_path / "tinyshakespeare.txt").write_text("First:\nSpeak.\n\nAll:\nSpeak!")
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    assert set(external_names()) == {"tinyshakespeare", "choi-3-5"}
    assert [document.name for document in external("choi-3-5")] == ["3-5/2", "3-5/10"]
    assert external("tinyshakespeare")[0].text == "First:\nSpeak.\n\nAll:\nSpeak!"
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path / "none"))
    assert set(external_names()) == {"tinyshakespeare"}


def test_passages_end_at_empty_lines_and_lose_nothing():
    text = "\n\n".join(f"Speaker {n}:\nLine {n}." for n in range(100))
    parts = passages(text, size=200)
    assert "\n\n".join(part.text for part in parts) == text
    assert all(len(part.text) >= 200 for part in parts[:-1])
    assert len({part.name for part in parts}) == len(parts)


@needs_data
def test_everything_in_the_data_folder_loads():
    for name in external_names():
        documents = external(name)
        assert documents and all(document.sentences for document in documents)
    assert {"ewt-dev", "pud-ko", "choi-3-11", "tinyshakespeare"} <= set(external_names())
