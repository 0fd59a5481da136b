"""Problems nobody foresaw: told on the page, logged, and the session goes on."""

from pathlib import Path

import pytest
import torch
from streamlit.testing.v1 import AppTest

from lib.capture import TooLarge
from lib.corpora import Document, TokenTable
from lib.errors import HeadlightError
from lib.ui import cached, message, pictures, texts

DOOR = Path(__file__).resolve().parents[2] / "app.py"


def shown(app):
    return " ".join(element.value for element in (*app.text, *app.markdown))


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (RuntimeError("secret path /srv/x"), "a problem nobody foresaw (RuntimeError)"),
        (MemoryError(), "the machine ran out of it"),
        (TooLarge("at most 1 GB of memory", "97 GB", "Choose fewer layers."), "97 GB"),
    ],
)
def test_a_failing_picture_leaves_the_rest_of_the_page(monkeypatch, raised, told):
    def failing(*_args, **_kwargs):
        raise raised

    monkeypatch.setattr(cached, "pattern", failing)
    app = AppTest.from_file(DOOR, default_timeout=120).run()
    assert not app.exception
    assert told in shown(app)
    assert "secret" not in shown(app)
    assert app.selectbox(key="model").value == "all-MiniLM-L6-v2"


def test_a_failing_load_offers_the_way_back(monkeypatch):
    def failing(*_args, **_kwargs):
        raise ImportError("bitsandbytes")

    cached.residents().clear()
    monkeypatch.setattr(cached.models, "load", failing)
    app = AppTest.from_file(DOOR, default_timeout=120)
    app.session_state["device"] = "cpu"
    app.run()
    assert not app.exception
    assert "ImportError" in shown(app)
    monkeypatch.undo()
    app.button(key="back-to-default").click().run()
    assert not app.exception
    assert app.session_state["device"] == "auto"
    assert app.header


def test_out_of_memory_on_the_device_is_told_as_such():
    error = message.explained(torch.OutOfMemoryError("CUDA out of memory"), "the attention of this text")
    assert isinstance(error, HeadlightError)
    assert "memory" in str(error)


def test_own_texts_are_bounded_and_the_newest_stay(monkeypatch):
    state = {}
    monkeypatch.setattr(texts.st, "session_state", state)
    kept = [texts.keep(f"text {i}", [Document(f"t{i}", f"Text number {i}.")], []) for i in range(20)]
    assert list(texts.own_texts()) == kept[-texts.MOST_KEPT :]


def test_a_text_of_special_tokens_alone_says_what_to_do():
    table = TokenTable(
        doc=[0, 0], pos=[0, 1], text=["[CLS]", "[SEP]"], start=[-1, -1], end=[-1, -1], word=[-1, -1],
        sentence=[-1, -1], is_special=[True, True], token_id=[101, 102], part_of_speech=["", ""], segment=[0, 0],
        row=[-1, -1], col=[-1, -1],
    )  # fmt: skip
    assert list(pictures.shown_tokens(table, special=True)) == [0, 1]
    with pytest.raises(HeadlightError, match="Switch special tokens on"):
        pictures.shown_tokens(table, special=False)
