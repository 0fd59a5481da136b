"""Every page opens through the door, and what goes wrong is told without ending the session."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

DOOR = Path(__file__).resolve().parents[2] / "app.py"
PAGES = ["heads", "similarity", "spectral", "embeddings", "segmentation"]


@pytest.fixture
def app():
    return AppTest.from_file(DOOR, default_timeout=120).run()


def texts(app):
    return " ".join(element.value for kind in ("markdown", "text", "caption") for element in getattr(app, kind))


def pictures(app):
    """Keys of the pictures that are mounted."""
    return {element.proto.id.split("-", 2)[2] for element in app.get("bidi_component")}


@pytest.mark.parametrize("page", PAGES)
def test_every_page_opens(app, page):
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert app.header[0].value.endswith("?")
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
    app = AppTest.from_file(DOOR, default_timeout=120)
    app.session_state["model"] = model
    app.run()
    assert not app.exception
    assert "Expected" in texts(app)
    app.button(key="back-to-default").click().run()
    assert not app.exception
    assert app.selectbox(key="model").value == "all-MiniLM-L6-v2"
    assert app.header[0].value == "What does each head do?"


def test_a_deep_link_sets_the_choice():
    app = AppTest.from_file(DOOR, default_timeout=120)
    app.query_params.update({"layer": "5", "head": "99", "corpus": "probes", "special": "0", "model": "evil/model"})
    app.run()
    assert not app.exception
    assert app.number_input(key="layer").value == 5
    assert app.number_input(key="head").value == 11  # the last head there is
    assert app.selectbox(key="corpus").value == "probes"
    assert app.toggle(key="special").value is False
    assert app.selectbox(key="model").value == "all-MiniLM-L6-v2"
