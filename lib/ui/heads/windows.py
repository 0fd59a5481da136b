"""Models that attend within windows of the image (Swin): every window drawn where it lies."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib.capture import WindowPattern, window_patterns
from lib.capture.check import trusted
from lib.models import Engine
from lib.ui import cached
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.views import Figure, head_grid_figure, patch_attention_figure, show, show_head_grid, thumbnails

WHY = (
    "This model attends within windows of the image whose number changes from layer to layer, so scores over the whole "
    "image, likeness and rollout are not defined: choose ViT or DINOv2 for those."
)


def windowed(engine: Engine) -> bool:
    """Whether a model attends within windows."""
    if engine.kind != "vision":
        return False
    return cached.kept("heads: windowed", engine.key, lambda: trusted(engine).windowed)


def window_view(scene: Scene) -> None:
    """Draw all heads, and the chosen one over the image with the borders of its windows."""
    key = f"{scene.engine.key} {scene.document.hash}"
    found = cached.kept("heads: windows", key, lambda: window_patterns(scene.engine, scene.encoding))
    numbers = [one.layer for one in found]
    row = min(range(len(found)), key=lambda place: abs(numbers[place] - scene.choice.layer))
    head = min(scene.choice.head, found[row].pattern.shape[1] - 1)
    picture = cached.kept("heads: windows overview", key, lambda: overview_figure(found))
    show_head_grid(picture, "all-heads", (row, head), lambda place, own: choose_head(numbers[place], own))
    show(window_figure(scene, found[row], head), "one-head")
    st.caption(WHY)


def overview_figure(found: list[WindowPattern]) -> Figure:
    """All layers × heads: the mean over the windows of a layer; layers with fewer heads leave places empty."""
    heads = max(one.pattern.shape[1] for one in found)
    side = max(one.pattern.shape[2] for one in found)
    means = np.full((len(found), heads, side, side), np.nan, dtype=np.float32)
    for place, one in enumerate(found):
        own, size = one.pattern.shape[1:3]
        means[place, :own, :size, :size] = one.pattern.mean(axis=0)
    note = "Each square: one window, rows and columns its tokens, mean over all windows of the layer."
    return head_grid_figure(thumbnails(means), [one.layer for one in found], note=note)


def placed(one: WindowPattern, head: int) -> tuple[np.ndarray, np.ndarray]:
    """The attention of one head between all tokens of the image, NaN across windows, and each token's window.

    Returns (token, token) float32 and (row, column) int, both on the grid before it was rolled and cut.
    """
    rows, cols, side = one.rows * one.side, one.cols * one.side, one.side
    down, across = np.meshgrid(np.arange(rows), np.arange(cols), indexing="ij")
    rolled = (down - one.shift) % rows, (across - one.shift) % cols  # where a token stood when windows were cut
    window = rolled[0] // side * one.cols + rolled[1] // side
    inside = rolled[0] % side * side + rolled[1] % side
    full = np.full((rows * cols, rows * cols), np.nan, dtype=np.float32)
    for number in range(one.rows * one.cols):
        tokens = np.flatnonzero(window.ravel() == number)
        order = inside.ravel()[tokens]
        full[np.ix_(tokens, tokens)] = one.pattern[number, head][np.ix_(order, order)]
    return full, window


def window_figure(scene: Scene, one: WindowPattern, head: int) -> Figure:
    """The chosen head over the image, borders between windows drawn."""
    full, window = placed(one, head)
    shifted = f", rolled by {one.shift} before they are cut" if one.shift else ""
    return patch_attention_figure(
        scene.encoding.seen,
        window.shape,
        full,
        prefix_labels=(),
        windows=window,
        title=f"L{one.layer} H{head}",
        note=f"{one.rows} × {one.cols} windows of {one.side} × {one.side} tokens{shifted}. Across windows: masked.",
    )
