"""The Similarity page on models of other kinds: the three streams of an encoder–decoder, two checkpoints beside."""

import pytest
import torch
import transformers

from tests.pages.test_heads_models import t5_folder  # noqa: F401  (a fixture)
from tests.pages.test_pages import pictures
from tests.pages.test_similarity import choose, opened, picture, said, store  # noqa: F401  (a fixture)


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
def test_every_stream_of_an_encoder_decoder(store, t5_folder, stream):  # noqa: F811
    app = opened(model=str(t5_folder), tokens=24, **{"similarity-stream": stream})
    assert not app.exception
    assert {"similarity-map", "similarity-matrix", "similarity-attention", "similarity-links"} <= pictures(app)
    for section, words in (("anchors", "different anchors"), ("uses", "Orders of removal")):
        assert words in said(choose(app, "similarity-section", section))
        assert "cannot be shown" not in said(app)
    ((_, kept),) = app.session_state["pruning_orders"]
    assert kept == stream
    choose(app, "similarity-unit", "words")
    meta = {which: picture(app, f"similarity-{which}")[0] for which in ("matrix", "attention", "links")}
    assert meta["matrix"]["rows"] == meta["attention"]["rows"] == meta["links"]["rows"]
    assert (meta["attention"]["columns"] == meta["attention"]["rows"]) == (stream != "cross")
    assert meta["matrix"]["row_title"] == "word" and "cannot be shown" not in said(app)
    assert not app.exception


def test_two_checkpoints_side_by_side(store):  # noqa: F811
    second = {"similarity-section": "uses", "similarity-use": "second", "similarity-second": "base-early"}
    app = opened(model="base", tokens=48, **second)
    assert not app.exception
    assert "cannot be shown" not in said(app)
    assert "similarity-difference" in pictures(app)
    assert "Could be frozen from the bottom up" in said(app)
    assert "of 48 heads differ" in str(
        next(e.proto for e in app.get("bidi_component") if "similarity-difference" in e.proto.id)
    )


def test_a_model_beside_another_kind_says_what_cannot_be_compared(store):  # noqa: F811
    second = {"similarity-section": "uses", "similarity-use": "second", "similarity-second": "base"}
    app = opened(model="all-MiniLM-L6-v2", tokens=48, **second)
    assert not app.exception
    assert "Mean distance ÷ chance by depth" in said(app)
    assert "cannot be shown" not in said(app)
    assert "Needs two checkpoints with the same layers and heads; these have (6, 12) and (6, 8)" in said(app)
    assert "the same number of heads in both checkpoints" in said(app)


def test_zero_vectors_are_left_out_of_the_cosine_and_counted(store, t5_folder, tmp_path):  # noqa: F811
    model = transformers.T5ForConditionalGeneration.from_pretrained(t5_folder)
    width = model.config.d_kv
    with torch.no_grad():
        model.encoder.block[1].layer[0].SelfAttention.v.weight[width:] = 0  # L1 H1 of the encoder
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(t5_folder).save_pretrained(tmp_path)
    kind = {"similarity-stream": "encoder", "similarity-kind": "cosine"}
    app = opened(model=str(tmp_path), tokens=24, layer=1, head=1, **kind)
    assert not app.exception
    assert "No pair of tokens to compare in this document." in said(app)
    drawn = {name: packet(app, name) for name in ("similarity-map", "similarity-matrix")}
    assert "zero vectors" in drawn["similarity-map"] and "counted over heads" in drawn["similarity-map"]
    assert "Hatched, for they have no cosine" in drawn["similarity-matrix"]
    for section, words in (("anchors", "different anchor"), ("uses", "Orders of removal")):
        assert words in said(choose(app, "similarity-section", section))
        assert "cannot be shown" not in said(app)
    app.segmented_control(key="similarity-kind").set_value("dot").run()
    assert not app.exception


def packet(app, key):
    """What a picture was sent."""
    return str(next(e.proto for e in app.get("bidi_component") if key in e.proto.id))
