"""The panels of the Heads page on models of every kind: encoder, decoder, images, encoder–decoder."""

import numpy as np
import pytest
import tokenizers
import transformers

from lib.capture import capture
from lib.corpora import builtin
from lib.heads import patches_like
from lib.models import load
from lib.ui.heads import patches
from tests.heads.planted import grid_table
from tests.pages.test_models_on_pages import AVAILABLE, opened
from tests.pages.test_pages import pictures

SAID = {
    "Catalogue": "simultaneous over all heads",
    "This head over the corpus": "Reads from",
    "Similar heads": "in which every two heads",
    "Switch off": "The output moved",
    "Whole model": "Norm gap",
}


def texts(app):
    return " ".join(element.value for kind in ("markdown", "text", "caption") for element in getattr(app, kind))


def ticked(app, table):
    """The heads of the rows that are ticked in the catalogue."""
    rows = app.session_state["heads-catalogue"]["selection"]["rows"]
    return [(table["layer"].iloc[row], table["head"].iloc[row]) for row in rows]


@pytest.fixture(scope="module")
def t5_folder(tmp_path_factory):
    """A T5 of two layers with a tokenizer of whole words, saved as a user would have it."""
    folder = tmp_path_factory.mktemp("t5")
    transformers.set_seed(0)
    words = sorted({w for d in builtin("encyclopedia")[:3] for w in d.text.split()})
    vocabulary = {word: place for place, word in enumerate(["<pad>", "</s>", "<unk>", *words])}
    raw = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    raw.post_processor = tokenizers.processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 1)]
    )
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=raw, pad_token="<pad>", eos_token="</s>", unk_token="<unk>", model_max_length=64
    ).save_pretrained(folder)
    config = transformers.T5Config(
        vocab_size=len(vocabulary), d_model=16, d_kv=8, d_ff=16, num_layers=2, num_heads=2, decoder_start_token_id=0
    )
    transformers.T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.mark.parametrize("name", ["all-MiniLM-L6-v2", "SmolLM2-135M-Instruct", "DINOv2-small"])
def test_catalogue_scatter_map_and_filter(name):
    if name not in AVAILABLE:
        pytest.skip(f"{name} comes with requirements-models.txt")
    app = opened(name, tokens=32, **{"heads-section": "Catalogue", "heads-documents": 2})
    assert not app.exception
    assert "cannot be shown" not in texts(app)
    assert {"heads-scatter", "heads-score-map"} <= pictures(app)
    table = next(frame.value for frame in app.dataframe if "role" in frame.value)
    engine_heads = {"all-MiniLM-L6-v2": 72, "SmolLM2-135M-Instruct": 270, "DINOv2-small": 72}[name]
    assert len(table) == engine_heads
    score = next(column for column in table if column.endswith(": ÷ chance"))
    assert np.isfinite(table[score]).all()
    role = table["role"].value_counts().index[0]
    app.multiselect(key="heads-catalogue-roles").set_value([role]).run()
    kept = next(frame.value for frame in app.dataframe if "role" in frame.value)
    assert not app.exception
    assert set(kept["role"]) == {role} and len(kept) == (table["role"] == role).sum()
    here = app.session_state["layer"], app.session_state["head"]
    held = (kept[["layer", "head"]] == list(here)).all(axis=1).any()
    assert ticked(app, kept) == ([here] if held else [])
    other = kept.iloc[-1]
    app.session_state["layer"], app.session_state["head"] = int(other["layer"]), int(other["head"])
    app.run()
    assert ticked(app, kept) == [(other["layer"], other["head"])]  # the row of the chosen head, whoever chose it
    app.multiselect(key="heads-catalogue-roles").set_value([]).run()
    assert ticked(app, table) == [(other["layer"], other["head"])]
    app.selectbox(key="heads-catalogue-Across").set_value("confidence").run()
    assert not app.exception


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
def test_every_panel_of_an_encoder_decoder(t5_folder, stream):
    app = opened(str(t5_folder), tokens=24, **{"heads-stream": stream, "heads-documents": 2})
    for section, words in SAID.items():
        app.session_state["heads-section"] = section
        app.session_state["heads-off-on"] = True
        app.run()
        assert not app.exception
        told = texts(app)
        assert words in told
        assert "cannot be shown" not in told


def test_patches_are_lit_over_all_images_and_heads():
    if "DINOv2-small" not in AVAILABLE:
        pytest.skip("DINOv2-small comes with requirements-models.txt")
    app = opened("DINOv2-small", corpus="photographs", **{"heads-section": "Patches"})
    assert not app.exception
    assert {"heads-patch-image", "heads-patch-heads"} <= pictures(app)
    assert "Over 2 images" in texts(app)
    assert len(app.get("image")) == 2
    app.session_state["heads-patch"] = 0  # the class token is no patch: its like is not asked for
    app.button_group(key="heads-patch-by").set_value("key").run()
    assert not app.exception and "cannot be shown" not in texts(app)
    app.button_group(key="heads-patch-view").set_value("looking").run()
    assert not app.exception and "cannot be shown" not in texts(app)
    app.selectbox(key="model").set_value("all-MiniLM-L6-v2").run()  # a text has no patches: the panel closes
    assert not app.exception and "cannot be shown" not in texts(app)


def test_the_chosen_patch_is_one_of_the_image(monkeypatch):
    monkeypatch.setattr(patches.st, "session_state", {})
    table = grid_table(3, 5, prefix=2)
    assert patches.chosen_patch(table, patch=True) == 2 + 1 * 5 + 2
    patches.st.session_state[patches.CHOSEN] = 1
    assert patches.chosen_patch(table, patch=False) == 1
    assert patches.chosen_patch(table, patch=True) == 9
    patches.st.session_state[patches.CHOSEN] = 99  # of a larger image
    assert patches.chosen_patch(table, patch=False) == 9


def test_one_head_here_agrees_with_all_heads_everywhere():
    if "DINOv2-small" not in AVAILABLE:
        pytest.skip("DINOv2-small comes with requirements-models.txt")
    taken = capture(load("DINOv2-small", device="cpu"), builtin("photographs"), keep=("z",))
    one, every = patches.cosines(taken, 3, 2, "z"), patches_like(taken, 0, 40)
    np.testing.assert_allclose(one[40, 1:], every[3, 2, 1 : len(one)], atol=1e-5)


def test_a_picture_is_dark_where_nothing_is_alike():
    seen = np.full((4, 6, 3), 200, np.uint8)
    picture = patches.lit_picture(seen, np.array([[1.0, 0.0, np.nan], [0.0, 0.0, -1.0]]))
    rows, cols = picture.shape[:2]
    light = picture.mean(axis=2)
    assert cols * 2 == rows * 3
    assert light[0, 0] > 2 * light[-1, -1]
    assert light[0, -1] == light[-1, 0]
