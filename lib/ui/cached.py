"""Everything the app remembers, in one place: engines, patterns, pictures. Keys are ids and hashes, never arrays.

Engines are resources (their memory is really freed when another takes their place); captures and patterns lie in the
store on disk and are handed out as read-only memory maps; small pictures and tables are data with a bounded size.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import streamlit as st

from lib import models
from lib.capture import Check, Store, pattern, self_check
from lib.corpora import Document, TokenTable, builtin, encode
from lib.views import thumbnails

RESIDENT_ENGINES = int(os.environ.get("HEADLIGHT_ENGINES", "1"))
STORE_FOLDER = Path(os.environ.get("HEADLIGHT_STORE", ".headlight/store"))


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The one folder of captures and patterns on disk, bounded and verified."""
    return Store(STORE_FOLDER)


@st.cache_resource(
    max_entries=RESIDENT_ENGINES, on_release=lambda engine: engine.release(), show_spinner=False
)
def engine(name: str, device: str, dtype: str) -> models.Engine:
    """The model on its device; the oldest is released when more than ``HEADLIGHT_ENGINES`` (1) are asked for."""
    return models.load(name, device=device, dtype=dtype)


@st.cache_resource(max_entries=8, show_spinner=False)
def check(engine_key: str, _engine: models.Engine) -> Check:
    """The trust badge's numbers, measured once per model, device and precision."""
    return self_check(_engine)


@st.cache_resource(max_entries=16, show_spinner=False)
def documents(name: str) -> list[Document]:
    """The documents of a built-in text or image set."""
    return builtin(name)


@st.cache_resource(max_entries=64, show_spinner=False)
def tokens(engine_key: str, document_hash: str, _engine: models.Engine, _document: Document):
    """The document as the model reads it: an ``Encoding``."""
    return encode(_document, _engine)


@st.cache_resource(max_entries=6, show_spinner=False)
def patterns(
    engine_key: str, document_hash: str, stream: str, _engine: models.Engine, _document: Document
) -> np.ndarray:
    """All patterns of one document: (layer, head, query_pos, key_pos), read-only, mapped from the store."""
    name = f"pattern-{engine_key}-{document_hash}-{stream}"
    return store().arrays(name, lambda: {"pattern": pattern(_engine, _document, stream=stream)})["pattern"]


@st.cache_data(max_entries=32, show_spinner=False)
def tiles(
    engine_key: str, document_hash: str, stream: str, special: bool, _pattern: np.ndarray, _table: TokenTable
) -> np.ndarray:
    """The small pictures of all heads: uint8 (layer, head, height, width)."""
    kept = np.flatnonzero(~_table.is_special) if not special else slice(None)
    return thumbnails(_pattern[:, :, kept][..., kept])
