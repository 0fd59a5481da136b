"""Every view mounts in a running script, and a second run with another choice keeps the large message."""

from streamlit.testing.v1 import AppTest

from lib import views


def gallery():
    import numpy as np
    import streamlit as st

    from lib import views

    chosen = st.session_state.setdefault("chosen", (0, 1))
    tokens = ["the", "</script>", "cat"]
    pattern = np.full((3, 3), 1 / 3)
    views.head_grid(views.thumbnails(np.full((2, 2, 3, 3), 1 / 3)), key="grid", chosen=chosen, on_choose=print)
    views.head_grid(np.eye(2), key="map", small=True, chosen=chosen, on_choose=print)
    views.heatmap(pattern, key="heat", row_labels=tokens, column_labels=tokens, on_choose=print)
    views.head_view(pattern, tokens, key="view", on_choose=print)
    views.head_view(pattern, tokens, key="lines", modes=("lines",))
    views.patch_attention(np.zeros((4, 4, 3), np.uint8), (2, 2), np.eye(4), key="patch", on_choose=print)
    xy = np.random.default_rng(0).normal(size=(5, 2))
    views.scatter(xy, key="points", on_choose=print, on_select=print)
    cloud, text = views.scatter_figure(np.eye(2)), views.head_view_figure(np.eye(2), ["a", "b"])
    views.linked(cloud, text, [0, 1], [1, 0], key="linked", on_choose=print, on_select=print)
    points = views.coordinates(np.broadcast_to(xy, (2, 2, 5, 2)))
    views.matrix_scatter(
        points, views.by_class(np.zeros(5, int), ["all"]), key="matrix", chosen=chosen, on_choose=print
    )


def mounted(app):
    return {part.proto.component_name: part.proto.bytes for part in app.get("bidi_component")}


def test_everything_has_one_public_name():
    assert len({id(getattr(views, name)) for name in views.__all__}) == len(views.__all__)


def test_every_view_mounts():
    app = AppTest.from_function(gallery, default_timeout=30).run()
    assert not app.exception
    expected = {"head_grid", "heatmap", "head_view", "patch_attention", "scatter", "matrix_scatter", "linked"}
    assert set(mounted(app)) == {f"headlight_{name}" for name in expected}


def test_another_choice_does_not_resend_the_thumbnails():
    app = AppTest.from_function(gallery, default_timeout=30).run()
    before = [part.proto.bytes for part in app.get("bidi_component")]
    app.session_state["chosen"] = (1, 0)
    after = [part.proto.bytes for part in app.run().get("bidi_component")]
    changed = [len(new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 3 and sorted(changed)[1] < 200, "only two cursors and the small map"
    assert before[0] == after[0]
