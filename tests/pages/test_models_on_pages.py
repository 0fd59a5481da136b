"""Models of every kind on the Heads page: grouped heads, images, a user's own folder, texts longer than the window."""

import re
from pathlib import Path

import pytest
import transformers
from streamlit.testing.v1 import AppTest

from lib.corpora import builtin
from lib.models import catalogue
from lib.models.offline import PACKAGES
from lib.ui.texts import OwnText
from tests.pages.test_pages import PAGES, pictures, texts

DOOR = Path(__file__).resolve().parents[2] / "app.py"
WORDS = builtin("encyclopedia")[:3]
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


def vocabulary_in(folder):
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *sorted({w for d in WORDS for w in d.text.lower().split()})]
    (folder / "vocab.txt").write_text("\n".join(words), "utf-8")
    transformers.BertTokenizer(str(folder / "vocab.txt")).save_pretrained(folder)
    return len(words)


@pytest.mark.parametrize("page", PAGES)
def test_nine_heads_over_three_keys_and_values_on_every_page(tmp_path, page):
    config = transformers.LlamaConfig(
        vocab_size=vocabulary_in(tmp_path), hidden_size=36, num_hidden_layers=2, num_attention_heads=9,
        num_key_value_heads=3, intermediate_size=36, max_position_embeddings=128,
    )  # fmt: skip
    transformers.set_seed(0)
    transformers.LlamaModel(config).save_pretrained(tmp_path)
    app = opened(str(tmp_path), tokens=32)
    app.switch_page(f"pages/{page}.py").run()
    assert not app.exception
    assert "cannot be shown" not in texts(app)
    assert app.number_input(key="head").max == 8


def test_the_windows_of_swin_are_drawn_and_nothing_over_the_whole_image_is_offered(tmp_path):
    config = transformers.SwinConfig(
        image_size=32, patch_size=2, embed_dim=8, depths=[2, 2], num_heads=[2, 4], window_size=4
    )
    transformers.SwinModel(config).save_pretrained(tmp_path)
    size = {"height": 32, "width": 32}
    transformers.ViTImageProcessor(size=size).save_pretrained(tmp_path)
    app = opened(str(tmp_path), corpus="photographs")
    assert not app.exception
    assert "cannot be shown" not in texts(app)
    assert {"all-heads", "one-head"} <= pictures(app)
    assert "likeness and rollout are not defined" in texts(app)
    assert not app.get("button_group")  # no panels: none of their measures means anything here


def test_half_precision_shows_its_deviation():
    app = opened("all-MiniLM-L6-v2", tokens=32, dtype="bfloat16")
    assert not app.exception
    labels = [element.proto.popover.label for element in app.get("popover")]
    assert any(re.fullmatch(r"within \de-\d in bfloat16", label) for label in labels)
    assert "This precision, against float32 on the CPU" in " ".join(element.proto.body for element in app.get("html"))


def test_what_is_cut_off_is_announced_with_its_number():
    app = opened("all-MiniLM-L6-v2", tokens=512)
    app.text_area(key="pasted").set_value("word " * 600)
    app.button(key="read-pasted").click().run()
    assert not app.exception
    assert any("90 cut off" in caption.value for caption in app.caption)  # 600 words + [CLS] + [SEP] − 512


def test_an_image_for_a_text_model_is_kept_and_explained():
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
