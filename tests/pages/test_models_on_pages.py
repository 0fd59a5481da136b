"""Models of every kind on the Heads page: grouped heads, images, a user's own folder, texts longer than the window."""

from pathlib import Path

import pytest
import transformers
from streamlit.testing.v1 import AppTest

from lib.models import catalogue
from lib.models.offline import PACKAGES
from tests.pages.test_pages import pictures, texts

DOOR = Path(__file__).resolve().parents[2] / "app.py"
AVAILABLE = {entry.name for entry in catalogue() if entry.available}


def opened(model, **choice):
    app = AppTest.from_file(DOOR, default_timeout=300)
    app.session_state["model"] = model
    for name, value in choice.items():
        app.session_state[name] = value
    return app.run()


@pytest.mark.parametrize("name", [package.name for package in PACKAGES])
def test_every_packaged_model_is_shown(name):
    if name not in AVAILABLE:
        pytest.skip(f"{name} comes with requirements-models.txt")
    app = opened(name, tokens=64)
    assert not app.exception
    assert "cannot be shown" not in texts(app)
    assert {"all-heads", "one-head"} <= pictures(app)


@pytest.fixture
def own_folder(tmp_path):
    """A BERT of one layer and one head with a vocabulary of its own, saved as a user would have it."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "cat", "sat", "on", "mat", "a", "b", "."]
    vocabulary = tmp_path / "vocab.txt"
    vocabulary.write_text("\n".join(words), "utf-8")
    transformers.BertTokenizer(str(vocabulary)).save_pretrained(tmp_path)
    config = transformers.BertConfig(
        vocab_size=len(words), hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=16
    )
    transformers.BertModel(config).save_pretrained(tmp_path)
    return tmp_path


def test_a_users_own_model_of_one_layer_and_one_head_is_shown(own_folder):
    app = opened(str(own_folder))
    assert not app.exception
    assert "cannot be shown" not in texts(app)
    assert {"all-heads", "one-head"} <= pictures(app)
    assert app.number_input(key="layer").max == 0
    assert "model" not in app.query_params


def test_what_is_cut_off_is_announced_with_its_number():
    app = opened("all-MiniLM-L6-v2", tokens=512)
    app.text_area(key="pasted").set_value("word " * 600)
    app.button(key="read-pasted").click().run()
    assert not app.exception
    assert any("90 cut off" in caption.value for caption in app.caption)  # 600 words + [CLS] + [SEP] − 512


def test_an_image_for_a_text_model_is_kept_and_explained():
    from lib.corpora import builtin
    from lib.ui.texts import OwnText

    image = builtin("gratings")[0]
    app = opened("all-MiniLM-L6-v2", corpus="own-x", own_texts={"own-x": OwnText("bars.png", (image,), ())})
    assert not app.exception
    assert "bars.png, which is an image" in texts(app)
    assert "a vision model" in texts(app)
    assert "own-x" in app.session_state["own_texts"]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("all", "Type a Hub id (owner/name) or a folder or a .gguf file to use your own."),
        ("hub", "Type a Hub id (owner/name) to use your own."),
        ("catalogue", "This installation loads these models alone."),
    ],
)
def test_the_model_box_offers_what_may_be_loaded(setting, said, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_OWN", setting)
    assert opened("all-MiniLM-L6-v2", tokens=32).selectbox(key="model").help == said
