"""Every page opens through the door, and what goes wrong is told without ending the session."""

from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from lib.corpora import outside
from lib.models.hub import HubUnreachable
from lib.ui import cached, model
from lib.ui.rooms import QUESTIONS

DOOR = Path(__file__).resolve().parents[2] / "app.py"
PAGES = ["heads", "similarity", "spectral", "embeddings", "segmentation"]


@pytest.fixture
def app():
    return AppTest.from_file(DOOR, default_timeout=600).run()


def texts(app):
    return " ".join(element.value for kind in ("markdown", "text", "caption") for element in getattr(app, kind))


def pictures(app):
    """Keys of the pictures that are mounted."""
    return {element.proto.id.split("-", 2)[2] for element in app.get("bidi_component")}


def packets(app):
    """All bytes that the pictures are drawn from; notes are among them as text."""
    return b"".join(element.proto.SerializeToString() for element in app.get("bidi_component"))


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens(app, page):
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert [header.value for header in app.header] == [QUESTIONS[page.capitalize()]]
    assert "cannot be shown" not in texts(app)
    if page == "heads":
        assert {"all-heads", "one-head"} <= pictures(app)


def test_the_choice_is_the_same_after_a_visit_elsewhere(app):
    app.number_input(key="layer").set_value(4).run()
    app.number_input(key="head").set_value(3).run()
    app.switch_page("pages/spectral.py").run()
    app.switch_page("pages/heads.py").run()
    assert (app.number_input(key="layer").value, app.number_input(key="head").value) == (4, 3)
    assert app.query_params["layer"] == "4"
    assert app.query_params["head"] == "3"


@pytest.mark.parametrize("pasted", ["", "   \n\t "])
def test_empty_text_is_told_and_nothing_is_lost(app, pasted):
    app.text_area(key="pasted").set_value(pasted)
    app.button(key="read-pasted").click().run()
    assert not app.exception
    assert "Expected" in texts(app)
    assert app.selectbox(key="corpus").value == "encyclopedia"


@pytest.mark.parametrize(
    "pasted",
    [
        "one",
        "Hi",
        "<s> a<b </script><script>alert(1)</script>",
        "Seán 東京 한국어 💩 don’t",
        "a typed [SEP] stays text",
        "line\r\nline\x00 end",
        "مرحبا بالعالم",
        "the cat sat on the mat",
    ],
)
def test_pasted_text_is_shown(app, pasted):
    app.text_area(key="pasted").set_value(pasted)
    app.button(key="read-pasted").click().run()
    assert not app.exception
    assert "cannot be shown" not in texts(app)
    assert {"all-heads", "one-head"} <= pictures(app)
    assert app.selectbox(key="corpus").value.startswith("own-")
    assert "corpus" not in app.query_params


@pytest.mark.parametrize("model", ["nobody/no-such-model", "/no/such/folder", "weights.gguf"])
def test_a_model_that_cannot_be_loaded_leaves_the_session_usable(model):
    app = AppTest.from_file(DOOR, default_timeout=600)
    app.session_state["model"] = model
    app.run()
    assert not app.exception
    assert "Expected" in texts(app)
    app.button(key="back-to-default").click().run()
    assert not app.exception
    assert app.selectbox(key="model").value == "all-MiniLM-L6-v2"
    assert app.header[0].value == "What does each head do?"


def test_a_document_that_does_not_exist_is_the_last_one():
    app = AppTest.from_file(DOOR, default_timeout=120)
    app.query_params.update({"corpus": "conversation", "document": "70", "tokens": "16"})
    app.run()
    assert not app.exception
    assert app.session_state["document"] == 11
    assert not any("nobody foresaw" in text.value for text in app.text)


def test_a_deep_link_sets_the_choice():
    app = AppTest.from_file(DOOR, default_timeout=600)
    app.query_params.update({"layer": "5", "head": "99", "corpus": "probes", "special": "0", "model": "evil/model"})
    app.run()
    assert not app.exception
    assert app.number_input(key="layer").value == 5
    assert app.number_input(key="head").value == 11  # the last head there is
    assert app.selectbox(key="corpus").value == "probes"
    assert app.toggle(key="special").value is False
    assert app.selectbox(key="model").value == "all-MiniLM-L6-v2"
    assert [toast.value for toast in app.toast] == [
        "The link asks for the model “evil/model”, which is not here: all-MiniLM-L6-v2 is shown."
    ]


def test_a_hub_out_of_reach_is_told_in_plain_words_under_the_pages_title(monkeypatch):
    def unreachable(*_args, **_kwargs):
        raise HubUnreachable("the Hub", "no connection ([Errno -2] Name or service not known)", "What works: a folder.")

    cached.residents().clear()
    monkeypatch.setattr(cached.models, "load", unreachable)
    app = AppTest.from_file(DOOR, default_timeout=600)
    app.session_state["model"] = "openai-community/gpt2"
    app.run()
    assert [header.value for header in app.header] == ["What does each head do?"]
    assert "no connection from this server to huggingface.co" in texts(app)
    assert "Errno" not in texts(app)
    assert "What works: a folder." in texts(app)


def test_a_model_that_is_not_installed_says_so_with_the_readmes_command(app, monkeypatch):
    missing = replace(model.models.catalogue()[1], available=False, why_not="not there", install="pip install x")
    monkeypatch.setattr(model.models, "catalogue", lambda: [missing])
    app.session_state["all-models-open"] = True
    app.run()
    assert not app.exception
    assert [code.value for code in app.code] == [model.INSTALL]
    assert any(caption.value.endswith("not installed") for caption in app.caption)
    assert app.button(key=f"use-{missing.name}").disabled
    assert model.INSTALL in DOOR.with_name("README.md").read_text("utf-8")


def test_a_box_closes_over_what_was_taken_in_it(app):
    app.session_state["all-models-open"] = True
    app.session_state["own-text-open"] = True
    app.run()
    app.text_area(key="pasted").set_value("The cat sat on the mat.")
    app.button(key="read-pasted").click().run()
    assert app.session_state["own-text-open"] is False
    app.button(key="use-all-MiniLM-L6-v2").click().run()
    assert app.session_state["all-models-open"] is False
    assert not app.exception


def test_a_text_of_the_data_folder_is_offered_by_its_place_and_shown(monkeypatch, tmp_path):
    (tmp_path / "tinyshakespeare.txt").write_text(
        "First Citizen:\nBefore we proceed, hear me speak.\n\n" * 400, "utf-8"
    )
    monkeypatch.setenv("HEADLIGHT_DATA", str(tmp_path))
    cached.documents.clear()
    app = AppTest.from_file(DOOR, default_timeout=600)
    app.query_params["corpus"] = "tinyshakespeare"
    app.run()
    assert not app.exception
    assert "tinyshakespeare · from HEADLIGHT_DATA" in app.selectbox(key="corpus").options
    assert app.selectbox(key="corpus").value == "tinyshakespeare"
    assert len(app.selectbox(key="document").options) > 5
    assert {"all-heads", "one-head"} <= pictures(app)
    cached.documents.clear()


def test_a_text_that_cannot_be_fetched_is_explained_and_the_one_before_stays(app, monkeypatch):
    monkeypatch.delenv("HEADLIGHT_DATA", raising=False)
    monkeypatch.setattr("lib.corpora.outside._from_hub", lambda: outside._check_reachable() or "")
    monkeypatch.setattr("lib.corpora.outside.PATIENCE", 0.01)
    app.selectbox(key="corpus").set_value("probes").run()
    app.selectbox(key="corpus").set_value("tinyshakespeare").run()
    assert not app.exception
    assert "no connection from this server" in texts(app)
    assert app.selectbox(key="corpus").value == "probes"
    assert {"all-heads", "one-head"} <= pictures(app)


def test_a_chosen_pair_stays_with_its_text(app):
    app.session_state["heads-cell"] = (5, 9)
    app.run()
    assert "(5) →" in texts(app)
    app.selectbox(key="document").set_value(1).run()
    assert "(5) →" not in texts(app)
    assert "Click a token" in texts(app)


def test_what_is_hidden_and_renormalised_is_stated_on_the_picture(app):
    assert b"renormalised" not in packets(app)
    app.session_state["heads-sink"] = "hidden"
    app.run()
    assert b"of a row lay on hidden keys. Weights are the model's own, not renormalised." in packets(app)
    app.button_group(key="heads-rows").set_value("renormalised").run()
    assert not app.exception
    assert b"Rows are renormalised: divided by what they kept, so that each sums to 1 again." in packets(app)


def test_rows_that_rest_on_special_tokens_say_so(app):
    app.selectbox(key="corpus").set_value("probes").run()
    app.number_input(key="layer").set_value(4).run()
    app.number_input(key="head").set_value(5).run()
    assert b"of a row rests on [CLS] and [SEP]" in packets(app)  # 91 % in this head on a short text


def test_every_slow_step_shows_that_it_works(monkeypatch):
    """Loading, checking, fetching and reading run inside a spinner that tells the time."""
    working = []

    @contextmanager
    def spinner(_text, show_time=False):
        working.append(show_time)
        yield
        working.pop()

    def seen(name, real):
        def slow(*args, **kwargs):
            assert working and working[-1], f"{name} shows nothing while it works"
            told.add(name)
            return real(*args, **kwargs)

        return slow

    told = set()
    monkeypatch.setattr("streamlit.spinner", spinner)
    for owner, name in ((cached.models, "load"), (cached, "self_check"), (cached, "pattern"), (cached, "builtin")):
        monkeypatch.setattr(owner, name, seen(name, getattr(owner, name)))
    cached.residents().clear()
    for store in (cached.check, cached.documents, cached.patterns):
        store.clear()
    app = AppTest.from_file(DOOR, default_timeout=600).run()
    assert not app.exception
    assert "foresaw" not in texts(app)
    assert told == {"load", "self_check", "pattern", "builtin"}
