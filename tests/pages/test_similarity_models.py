"""The Similarity page on models of other kinds: the three streams of an encoder–decoder, two checkpoints beside."""

import pytest

from tests.pages.test_heads_models import t5_folder  # noqa: F401  (a fixture)
from tests.pages.test_pages import pictures
from tests.pages.test_similarity import choose, opened, said, store  # noqa: F401  (a fixture)


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
def test_every_stream_of_an_encoder_decoder(store, t5_folder, stream):  # noqa: F811
    app = opened(model=str(t5_folder), tokens=24, **{"similarity-stream": stream})
    assert not app.exception
    assert {"similarity-map", "similarity-matrix", "similarity-attention", "similarity-links"} <= pictures(app)
    for section, words in (("anchors", "different anchors"), ("uses", "Two orders of removal")):
        assert words in said(choose(app, "similarity-section", section))
        assert "cannot be shown" not in said(app)
    ((_, kept),) = app.session_state["pruning_orders"]
    assert kept == stream
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
