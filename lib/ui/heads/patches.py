"""One patch of an image in every head: patches like it over all images, and patches that look at it."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib.capture import Capture
from lib.corpora import Document, TokenTable
from lib.heads import overlay, patches_like
from lib.ui import cached
from lib.ui.captured import captured, encodings
from lib.ui.pictures import chosen_place, layers
from lib.ui.scene import Scene
from lib.ui.state import choose_head
from lib.views import coloured, head_grid_figure, patch_attention_figure, show, show_head_grid, thumbnails

VIEWS = {"like": "Patches like this one", "looking": "Patches that look at this one"}
VECTORS = {"z": "output", "query": "query", "key": "key"}
CHOSEN = "heads-patch"  # session state: position in the pattern
PIXELS = 132  # of a picture of the gallery, each way


def patches_panel(scene: Scene, documents: tuple[Document, ...], stream: str, pattern: np.ndarray) -> None:
    """Draw the chosen patch in the chosen head, in all heads, and over all images.

    pattern: (layer, head, query_pos, key_pos) of the chosen image.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        view = st.segmented_control(
            "Show", list(VIEWS), format_func=VIEWS.__getitem__, default="like", required=True,
            key="heads-patch-view", persist_state="session",
        )  # fmt: skip
        by = "z"
        if view != "looking":
            by = st.segmented_control(
                "Compared by", list(VECTORS), format_func=VECTORS.__getitem__, default="z", required=True,
                key="heads-patch-by", persist_state="session",
            )  # fmt: skip
    if view == "looking":
        _looking(scene, stream, pattern)
    else:
        _like(scene, documents, stream, pattern, by)


def chosen_patch(table: TokenTable, patch: bool) -> int:
    """The chosen position of the image; the patch in the middle where none is chosen, or no ``patch`` though asked."""
    at = st.session_state.get(CHOSEN)
    if at is not None and at < len(table) and (table.row[at] >= 0 or not patch):
        return at
    every = np.flatnonzero(table.row >= 0)
    middle = (table.row[every] == table.row.max() // 2) & (table.col[every] == table.col.max() // 2)
    return int(every[middle][0])


def _choose(position: int) -> None:
    st.session_state[CHOSEN] = position


def _like(scene: Scene, documents: tuple[Document, ...], stream: str, pattern: np.ndarray, by: str) -> None:
    """Cosine of the chosen patch with every patch: in this head here, in every head, and in all images."""
    table = scene.encoding.table
    at = chosen_patch(table, patch=True)
    row, head = chosen_place(scene, pattern, stream)
    name = f"L{layers(scene, stream)[row]} H{head}"
    images = (scene.document, *(one for one in documents if one.hash != scene.document.hash))
    taken = captured(scene, images, (by,))
    key = f"{scene.engine.key} {' '.join(one.hash[:16] for one in images)} {by} {at}"
    found = cached.kept("heads: patches like", key, lambda: patches_like(taken, 0, at, by))  # (layer, head, token)
    left, right = st.columns([2, 3], gap="large")
    with left:
        show(
            patch_attention_figure(
                scene.encoding.seen, scene.encoding.grid, cosines(taken, row, head, by),
                prefix_labels=_prefix(table), kind="diverging", value_name="cosine", chosen=at,
                title=f"{name}, {VECTORS[by]}s alike",
                note="Red: patches of which the head makes the same. Click another patch.",
            ),
            "heads-patch-image",
            _choose,
        )  # fmt: skip
    own = found[:, :, : len(table)]
    with right:
        # thumbnails brighten by the square root: of squares, the cosine itself
        _all_heads(scene, stream, pattern, np.clip(own, 0, None) ** 2, "shared", f"{key} like",
                   f"Each square: the image, lit by its patches' cosine with the chosen one ({VECTORS[by]}s); "
                   "one scale for all, below 0 dark.")  # fmt: skip
    _gallery(scene, images, taken, found[row, head], name)


def cosines(taken: Capture, row: int, head: int, by: str) -> np.ndarray:
    """Cosine of every two tokens of the first image in one head (token, token), 0 where a vector has no length."""
    vectors = getattr(taken, by)[row, head, : taken.doc_offsets[1]].astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(lengths > 0, lengths, 1)
    return np.clip(unit @ unit.T, -1, 1)


def _looking(scene: Scene, stream: str, pattern: np.ndarray) -> None:
    """Which patches look at the chosen one: in this head, and in every head."""
    table = scene.encoding.table
    at = chosen_patch(table, patch=False)
    row, head = chosen_place(scene, pattern, stream)
    left, right = st.columns([2, 3], gap="large")
    with left:
        show(
            patch_attention_figure(
                scene.encoding.seen, scene.encoding.grid, pattern[row, head], prefix_labels=_prefix(table), chosen=at,
                title=f"L{layers(scene, stream)[row]} H{head}", direction="key",
                note="Bright: patches that look at the chosen one. “Attends to” shows where it looks itself.",
            ),
            "heads-patch-looking",
            _choose,
        )  # fmt: skip
    name = f"row {table.row[at]}, column {table.col[at]}" if table.row[at] >= 0 else _prefix(table)[at]
    with right:
        key = f"{scene.engine.key} {scene.document.hash} {at} looking"
        _all_heads(scene, stream, pattern, pattern[:, :, :, at], "head", key,
                   f"Each square: the image, lit where patches look at the chosen one ({name}); each up to its own "
                   "maximum.")  # fmt: skip


def _all_heads(
    scene: Scene, stream: str, pattern: np.ndarray, lit: np.ndarray, scale: str, key: str, note: str
) -> None:
    """Every head as a small picture of the image. lit: (layer, head, token) ≥ 0; a click chooses the head."""
    numbers, table = layers(scene, stream), scene.encoding.table

    def build():
        maps = np.array([[overlay(one, table) for one in layer] for layer in lit])
        return head_grid_figure(thumbnails(maps, scale=scale), numbers, note=note)

    picture = cached.kept("heads: patches in all heads", key, build)
    show_head_grid(
        picture,
        "heads-patch-heads",
        chosen_place(scene, pattern, stream),
        lambda at, head: choose_head(numbers[at], head),
    )


def _gallery(scene: Scene, images: tuple[Document, ...], taken: Capture, likeness: np.ndarray, name: str) -> None:
    """All images, lit by the cosine of their patches with the chosen one in the chosen head (token,)."""
    st.markdown(f"**Over {len(images)} {'image' if len(images) == 1 else 'images'}, {name}**")
    with st.container(horizontal=True, gap="small", key="heads-patch-gallery"):
        for place, encoding in enumerate(encodings(scene, images, scene.engine)):
            own = likeness[slice(*taken.doc_offsets[place : place + 2])]
            picture = lit_picture(encoding.seen, overlay(own, encoding.table))
            st.image(picture, caption=f"{images[place].name[:18]} · {np.nanmax(own):.2f}", width=PIXELS)
    st.caption("Cosine with the chosen patch from 0 (dark) to 1 (bright); the number is the image's largest.")


def lit_picture(seen: np.ndarray, values: np.ndarray) -> np.ndarray:
    """An image darkened but for the patches whose value (row, column) is near 1: uint8 (height, width, 3)."""
    rows, cols = values.shape
    side = max(1, PIXELS * 2 // max(rows, cols))
    down, across = (
        np.arange(n * side) * size // (n * side) for n, size in zip((rows, cols), seen.shape[:2], strict=True)
    )
    light = np.clip(np.nan_to_num(values), 0, 1).repeat(side, 0).repeat(side, 1)[..., None]
    glow = coloured(np.nan_to_num(values), value_range=(0.0, 1.0)).repeat(side, 0).repeat(side, 1)
    photo = seen[np.ix_(down, across)]
    return (photo * (0.25 + 0.4 * light) + glow * (0.35 * light)).clip(0, 255).astype(np.uint8)


def _prefix(table: TokenTable) -> list[str]:
    return [text for text, row in zip(table.text, table.row, strict=True) if row < 0]
