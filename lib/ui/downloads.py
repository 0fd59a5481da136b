"""Downloads: every figure and table leaves with the model, revision, precision and settings it was made with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st

from lib.ui.scene import Scene
from lib.views import Figure, coloured, figure_html, matrix_csv, npz_bytes, png

PNG_PIXELS = 1024  # the longest side of a downloaded map, at least one pixel a cell


def provenance(scene: Scene, **settings: object) -> dict[str, object]:
    """What every downloaded file says of itself: model, revision, precision, input, what was shown."""
    engine, choice = scene.engine, scene.choice
    return {
        "model": engine.name,
        "revision": engine.revision,
        "dtype": engine.dtype,
        "device": engine.device,
        "attention": engine.attention,
        "document": scene.document.name,
        "document hash": scene.document.hash[:16],
        "tokens": len(scene.encoding.table),
        "tokens cut off": scene.encoding.lost,
        "special tokens": "shown" if choice.special else "hidden",
        "layer": choice.layer,
        "head": choice.head,
        **settings,
    }


def download_row(files: Mapping[str, tuple[str, str, Callable[[], bytes]]], key: str) -> None:
    """One quiet row of downloads; a file is made when it is asked for.

    files: label -> (file name, media type, function that makes the bytes). key: unique on the page.
    """
    with st.container(horizontal=True, key=f"downloads-{key}"):
        for label, (name, media, make) in files.items():
            st.download_button(
                label,
                make,
                file_name=name,
                mime=media,
                key=f"download-{key}-{label}",
                type="tertiary",
                icon=":material/download:",
                on_click="ignore",
            )


def pattern_downloads(scene: Scene, pattern: np.ndarray, figure: Figure) -> None:
    """The chosen head as a picture, a page, a table; its whole layer as arrays.

    pattern: (layer, head, query_pos, key_pos) of the scene's document.
    """
    facts = provenance(scene, quantity="attention after softmax, rows are queries")
    layer, head = scene.choice.layer, scene.choice.head
    one, tokens = pattern[layer, head], scene.encoding.table.text
    stem = f"headlight-L{layer}-H{head}"
    table = {"tokens": np.array(tokens), "start": scene.encoding.table.start, "end": scene.encoding.table.end}
    download_row(
        {
            "PNG": (
                f"{stem}.png",
                "image/png",
                lambda: png(coloured(one), facts, enlarge=max(1, PNG_PIXELS // max(one.shape))),
            ),
            "Page": (f"{stem}.html", "text/html", lambda: figure_html(figure, facts)),
            "CSV": (f"{stem}.csv", "text/csv", lambda: matrix_csv(one, tokens, tokens, facts)),
            "All heads of the layer": (
                f"headlight-L{layer}.npz",
                "application/octet-stream",
                lambda: npz_bytes({"pattern": pattern[layer], **table}, facts),
            ),
        },
        "head",
    )
