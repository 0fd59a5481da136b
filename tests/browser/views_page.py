"""One view a page, chosen by ?view=: what test_views opens."""

import numpy as np
import streamlit as st

from lib import views

EVIL = "</script><script>window.harmed = 1</script>"
TOKENS = ["[CLS]", "the", "cat", EVIL, "<img src=x onerror='window.harmed = 1'>", "שלום", "東京", "[SEP]"]
N = len(TOKENS)
state = st.session_state
state.setdefault("head", (0, 0))


def remember(name):
    def keep(*values):
        state[name] = values

    return keep


lag = np.arange(N)[:, None] - np.arange(N)[None]
pattern = np.where(lag == 1, 0.9, 0.1 / (N - 1))
mask = lag < 0
view = st.query_params.get("view", "grid")
if view == "grid":
    tiles = views.thumbnails(np.broadcast_to(pattern, (3, 4, N, N)))
    views.head_grid(tiles, key="v-grid", chosen=state.head, on_choose=remember("head"), title=EVIL)
    views.head_grid(np.eye(3, 4), key="v-map", small=True, chosen=state.head, on_choose=remember("head"))
if view == "heatmap":
    views.heatmap(pattern, key="v-heat", row_labels=TOKENS, column_labels=TOKENS, mask=mask, on_choose=remember("cell"))
if view == "head":
    special = [token[0] == "[" for token in TOKENS]
    views.head_view(pattern, TOKENS, key="v-head", mask=mask, query_special=special, on_choose=remember("pair"))
if view == "sink":
    sink = np.tile([0.8, 0.016, 0.008, 0.006, 0.17], (5, 1))
    views.head_view(
        sink,
        ["[CLS]", "a", "b", "c", "[SEP]"],
        key="v-sink",
        mode="text",
        query_special=[True, False, False, False, True],
    )
if view == "patches":
    seen = np.zeros((40, 80, 3), np.uint8)
    views.patch_attention(seen, (2, 4), np.full((9, 9), 1 / 9), key="v-patches", on_choose=remember("patch"))
if view == "signed":
    sign = np.where(np.arange(8) < 4, 1.0, -1.0)
    similarity = 0.8 * np.outer(sign, sign) + 0.2 * np.eye(8)
    views.patch_attention(
        np.zeros((40, 80, 3), np.uint8),
        (2, 4),
        similarity,
        key="v-signed",
        kind="diverging",
        value_name="cosine",
        threshold=-0.9,
    )
if view == "scatter":
    xy = np.stack(np.meshgrid(np.arange(10), np.arange(10)), -1).reshape(-1, 2)
    other = st.toggle("Other colours")
    colouring = views.by_value(xy[:, 0]) if other else views.by_class(np.zeros(100, int), ["all"])
    labels = [EVIL] * 100
    views.scatter(
        xy,
        key="v-points",
        data_id="a",
        labels=labels,
        colouring=colouring,
        on_choose=remember("point"),
        on_select=remember("points"),
    )
if view == "bare":
    nine = np.argwhere(np.ones((3, 3)))
    own = views.Colouring(np.zeros(9, np.uint8), ("#808080",), (), "the patch's mean colour")
    views.scatter(nine, key="v-own", colouring=own)
    views.scatter(nine, key="v-told", colouring=views.by_class(np.zeros(9, int), ["all"], title="kind"))
if view == "matrix":
    points = views.coordinates(np.random.default_rng(0).normal(size=(3, 4, 50, 2)))
    colouring = views.by_class(np.arange(50) % 2, ["query", "key"])
    views.matrix_scatter(points, colouring, key="v-matrix", chosen=state.head, on_choose=remember("head"))
if view == "linked":
    xy = np.stack(np.meshgrid(np.arange(8), np.arange(2)), -1).reshape(-1, 2)
    text = views.head_view_figure(pattern, TOKENS, mask=mask)
    cloud = views.scatter_figure(xy, labels=TOKENS * 2, roles=np.repeat([0, 1], 8))
    views.linked(cloud, text, np.arange(8), np.arange(8, 16), key="v-linked", on_choose=remember("point"))
if view == "scores":
    names = [["previous token"] * 4] * 3
    scores = np.arange(12).reshape(3, 4) / 10
    views.head_grid(scores, key="v-scores", chosen=state.head, on_choose=remember("head"), names=names)
    with st.sidebar:
        views.head_grid(scores, key="v-small", small=True, chosen=state.head, on_choose=remember("head"), names=names)
kept = ("cell", "head", "pair", "patch", "point", "points")
st.code(repr({name: state[name] for name in kept if name in state}))
