"""The sidebar every page shares: model, text or images, layer and head, special tokens, badge. Nothing else."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib.errors import HeadlightError
from lib.models import Engine
from lib.ui import cached
from lib.ui.badge import badge
from lib.ui.message import explained, guarded
from lib.ui.pictures import describe
from lib.ui.scene import corpora_for, corpus_documents, scene
from lib.ui.state import DEFAULT_CORPUS, DEFAULT_MODEL, choose_head, redraw_live
from lib.ui.texts import own_text_controls, own_texts
from lib.views import head_grid

MIN_TOKENS, MAX_TOKENS = 8, 2048


def sidebar(engine: Engine) -> None:
    """Draw what stands under the model: text or images, layer and head, special tokens, badge."""
    _corpus("image" if engine.kind == "vision" else "text")
    _choice()
    st.toggle(
        "Special tokens",
        key="special",
        persist_state="session",
        help="Show [CLS], [SEP] and their like. Hiding them never changes the model's numbers; "
        "where rows are renormalised the figure says so.",
    )
    badge(cached.check(engine.key, engine), engine)


def _corpus(kind: str) -> None:
    labels = corpora_for(kind)
    if st.session_state["corpus"] not in labels:
        _explain_mismatch(kind)
        st.session_state.update(corpus=DEFAULT_CORPUS[kind], document=0)
    elif not _readable(labels[st.session_state["corpus"]]):
        readable = st.session_state.get("corpus_shown")
        st.session_state.update(corpus=readable if readable in labels else DEFAULT_CORPUS[kind], document=0)
    st.session_state["corpus_shown"] = st.session_state["corpus"]
    st.selectbox(
        "Images" if kind == "image" else "Text",
        list(labels),
        format_func=labels.__getitem__,
        key="corpus",
        persist_state="session",
        on_change=_first_document,
    )
    own_text_controls()
    for note in own.notes if (own := own_texts().get(st.session_state["corpus"])) else ():
        st.text(note)


def _readable(label: str) -> bool:
    """Whether the chosen texts can be had, fetched now where they have to be; if not, the reason is kept to be told."""
    try:
        with st.spinner(f"Fetching {label}", show_time=True):
            corpus_documents(st.session_state["corpus"])
    except Exception as error:
        st.session_state["text_problem"] = explained(error, label)
        return False
    return True


def _explain_mismatch(kind: str) -> None:
    """Say why the user's own text or image is not shown: the model cannot read it; it stays in the list."""
    own = own_texts().get(st.session_state["corpus"])
    if own is None:
        return
    wanted = "a vision model, such as DINOv2-small" if own.kind == "image" else f"a text model, such as {DEFAULT_MODEL}"
    st.session_state["text_problem"] = HeadlightError(
        f"{'images' if kind == 'image' else 'text'} for {st.session_state['model']}",
        f"{own.label}, which is {'an image' if own.kind == 'image' else 'text'}",
        f"It is kept. Choose {wanted}, then pick it from the list.",
    )


def _first_document() -> None:
    st.session_state["document"] = 0


@st.fragment(key="choice")
def _choice() -> None:
    """Document, layer and head: what changes most often redraws only itself and the page's panel."""
    names = [document.name for document in scene().documents]
    st.session_state["document"] = min(st.session_state["document"], len(names) - 1)
    current = scene()  # with a document that exists
    st.selectbox(
        "Document",
        range(len(names)),
        format_func=names.__getitem__,
        key="document",
        persist_state="session",
        on_change=redraw_live,
    )
    if current.engine.kind != "vision":
        most = min(current.engine.max_length or MAX_TOKENS, MAX_TOKENS)
        least = min(MIN_TOKENS, most)
        st.session_state["tokens"] = min(max(st.session_state["tokens"], least), most)
        st.number_input(
            "Tokens at most",
            least,
            most,
            step=64,
            key="tokens",
            persist_state="session",
            on_change=redraw_live,
        )
    with guarded("this text"):
        encoding = scene().encoding
        st.caption(describe(current.document, encoding.table, encoding.lost))
    shape = current.engine.n_layers, current.engine.n_heads
    for name, column, size in zip(("layer", "head"), st.columns(2), shape, strict=True):
        st.session_state[name] = min(st.session_state[name], size - 1)
        column.number_input(name.capitalize(), 0, size - 1, key=name, persist_state="session", on_change=redraw_live)
    head_grid(
        np.zeros(shape),
        small=True,
        key="mini-map",
        chosen=(st.session_state["layer"], st.session_state["head"]),
        on_choose=choose_head,
    )
