"""Everything the app remembers, in one place: engines, patterns, pictures. Keys are ids and hashes, never arrays.

Engines are resources (their memory is really freed when another takes their place); captures and patterns lie in the
store on disk and are handed out as read-only memory maps; small pictures and tables are data with a bounded size.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from lib import models
from lib.capture import Check, Store, capture_key, pattern, self_check
from lib.capture.check import trusted
from lib.corpora import Document, Encoding, builtin, builtin_names, encode, external
from lib.ui.residents import Residents, resident_engines
from lib.ui.shelves import Shelves
from lib.views import Figure, head_grid_figure, thumbnails

STORE_FOLDER = Path(os.environ.get("HEADLIGHT_STORE", ".headlight/store"))


@st.cache_resource(show_spinner=False)
def store() -> Store:
    """The one folder of captures and patterns on disk, bounded and verified."""
    return Store(STORE_FOLDER)


@st.cache_resource(show_spinner=False)
def residents() -> Residents:
    """The engines in memory, shared by all sessions."""
    return Residents()


def engine(name: str, device: str, dtype: str) -> models.Engine:
    """The model on its device; where more than ``HEADLIGHT_ENGINES`` (1) are asked for, the oldest gives way first."""
    asked = name, device, dtype
    return residents().get(asked, resident_engines(), lambda room: models.load(*asked, make_room=room))


@st.cache_resource(max_entries=8, show_spinner=False)
def check(engine_key: str, _engine: models.Engine) -> Check:
    """The trust badge's numbers, measured once per model, device and precision."""
    return self_check(_engine)


@st.cache_resource(max_entries=16, show_spinner=False)
def documents(name: str) -> list[Document]:
    """The documents of a text or image set that is built in, else of one from the data folder or the Hub."""
    return builtin(name) if name in {corpus.name for corpus in builtin_names()} else external(name)


@st.cache_resource(max_entries=64, show_spinner=False)
def encoding(engine_key: str, document_hash: str, tokens: int, _engine: models.Engine, _document: Document) -> Encoding:
    """The document as the model reads it, cut to ``tokens`` tokens at most."""
    return encode(_document, _engine, max_length=tokens)


@st.cache_resource(max_entries=6, show_spinner=False)
def patterns(
    engine_key: str, document_hash: str, tokens: int, stream: str, _engine: models.Engine, _encoding: Encoding
) -> np.ndarray:
    """All patterns of one document: (layer, head, query_pos, key_pos), read-only, mapped from the store."""
    name = capture_key(_engine, [_encoding], ("pattern",), stream=stream)
    return store().arrays(name, lambda: {"pattern": pattern(_engine, _encoding, stream=stream)})["pattern"]


@st.cache_data(max_entries=32, show_spinner=False)
def overview(
    picture_key: str, note: str, _pattern: np.ndarray, _masked: np.ndarray, _layers: Sequence[int], _names: Any = None
) -> Figure:
    """The small pictures of all heads, ready for the browser; the key names texts, tokens shown and heads' names.

    _pattern: (layer, head, query_pos, key_pos); _masked: (layer, query_pos, key_pos); _names: words per layer, head.
    """
    return head_grid_figure(thumbnails(_pattern, masked=_masked), _layers, names=_names, note=note)


@st.cache_resource(show_spinner=False)
def shelves() -> Shelves:
    """Results whose making reports its progress on the page, which a cached function may not do."""
    return Shelves(48)


def kept(what: str, key: str, build: Callable[[], Any]) -> Any:
    """``build()``, once for each name and key; for values that stay small or lie in the store."""
    return shelves().get((what, key), build)


def known(what: str, key: str) -> Any | None:
    """What ``kept`` made under that name and key, or None where it was not made (or has been dropped)."""
    return shelves().look((what, key))


@st.cache_data(max_entries=32, show_spinner=False)
def stream_layers(engine_key: str, stream: str, _engine: models.Engine) -> tuple[int, ...]:
    """The true numbers of a stream's layers, in the order of a pattern's first axis."""
    layout = trusted(_engine)
    return layout.streams[layout.stream(stream)]
