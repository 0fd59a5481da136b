"""Downloads: every figure and table leaves with the model, revision, precision and settings it was made with."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import streamlit as st
import transformers

from lib.ui.pictures import chosen_place, layers, masked, shown_tokens, tables
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
        "transformers": transformers.__version__,
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


def pattern_downloads(scene: Scene, pattern: np.ndarray, figure: Figure, stream: str = "self") -> None:
    """The chosen head as a picture, a page, a table; its whole layer as arrays: the tokens that the page shows.

    pattern: (layer, head, query_pos, key_pos) of the scene's document. Masked pairs are NaN, not zero.
    """
    row, head = chosen_place(scene, pattern, stream)
    layer = layers(scene, stream)[row]
    special = scene.choice.special or scene.encoding.grid is not None
    queries, keys = (table.at(shown_tokens(table, special)) for table in tables(scene, stream))
    facts = provenance(scene, quantity="attention after softmax, rows are queries; masked pairs are NaN", stream=stream)
    facts |= {"tokens": f"{len(queries)} × {len(keys)}", "special tokens": "shown" if special else "hidden"}

    def weights() -> np.ndarray:
        every = np.where(masked(scene, stream, layer), np.nan, pattern[row])
        return every[:, *np.ix_(queries.pos, keys.pos)]

    def picture() -> bytes:
        one = weights()[head]
        return png(coloured(one), facts, enlarge=max(1, PNG_PIXELS // max(one.shape)))

    sides = {"query": queries, "key": keys}
    table = {f"{side}_{name}": getattr(own, name) for side, own in sides.items() for name in ("start", "end", "pos")}
    table |= {f"{side}_tokens": np.array(own.text) for side, own in sides.items()}
    stem = f"headlight-L{layer}-H{head}"
    download_row(
        {
            "PNG": (f"{stem}.png", "image/png", picture),
            "Page": (f"{stem}.html", "text/html", lambda: figure_html(figure, facts)),
            "CSV": (f"{stem}.csv", "text/csv", lambda: matrix_csv(weights()[head], queries.text, keys.text, facts)),
            "All heads of the layer": (
                f"headlight-L{layer}.npz",
                "application/octet-stream",
                lambda: npz_bytes({"pattern": weights(), **table}, facts),
            ),
        },
        "head",
    )
