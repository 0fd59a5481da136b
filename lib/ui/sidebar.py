"""The sidebar every page shares: model, text or images, layer and head, special tokens, badge. Nothing else."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lib import models
from lib.errors import HeadlightError
from lib.models.catalogue import OWN
from lib.ui import cached
from lib.ui.badge import badge
from lib.ui.message import explained, guarded, problem
from lib.ui.pictures import describe
from lib.ui.scene import Scene, corpora_for, scene
from lib.ui.state import DEFAULT_CORPUS, DEFAULT_MODEL, DEVICES, DTYPES, choose_head, redraw_live
from lib.ui.texts import own_text_controls, own_texts
from lib.views import head_grid

MIN_TOKENS, MAX_TOKENS = 8, 2048


def sidebar() -> Scene | None:
    """Draw the sidebar; None where the model cannot be used, after saying so in the page's main part."""
    with st.sidebar:
        _model()
    engine = _loaded_engine()
    if engine is None:
        return None
    with st.sidebar:
        _corpus("image" if engine.kind == "vision" else "text")
        current = scene()
        _choice()
        st.toggle(
            "Special tokens",
            key="special",
            persist_state="session",
            help="Show [CLS], [SEP] and their like. Hiding them never changes the model's numbers; "
            "where rows are renormalised the figure says so.",
        )
        badge(cached.check(engine.key, engine), engine)
    return current


def _loaded_engine() -> models.Engine | None:
    name, device, dtype = (st.session_state[key] for key in ("model", "device", "dtype"))
    try:
        with st.spinner(f"Loading {name}; the first time can take a minute", show_time=True):
            engine = cached.engine(name, device, dtype)
        with st.spinner(f"Checking that the captured attention of {name} is the model's own"):
            cached.check(engine.key, engine)
    except Exception as error:
        problem(explained(error, f"{name} on {device} in {dtype}"))
        if (name, device, dtype) != (DEFAULT_MODEL, "auto", "float32"):
            st.button(f"Back to {DEFAULT_MODEL}", key="back-to-default", on_click=_use_model, args=(DEFAULT_MODEL,))
        return None
    return engine


def _use_model(name: str) -> None:
    st.session_state.update(model=name, device="auto", dtype="float32")


def _model() -> None:
    entries = {entry.name: entry for entry in models.catalogue()}
    ready = [name for name, entry in entries.items() if entry.available and entry.group != OWN]
    current = st.session_state["model"]
    options = ready if current in ready else [current, *ready]
    st.selectbox(
        "Model",
        options,
        key="model",
        accept_new_options=True,
        persist_state="session",
        help="Type a Hub id (owner/name), a folder, or a .gguf file to use your own.",
    )
    entry = entries.get(st.session_state["model"])
    st.caption(_described(entry) if entry else "your own model")
    with st.popover("All models, device and precision", width="stretch"):
        _catalogue(list(entries.values()))
        st.selectbox("Device", DEVICES, key="device", persist_state="session")
        st.selectbox(
            "Precision",
            DTYPES,
            key="dtype",
            persist_state="session",
            help="The badge shows how far half precision departs.",
        )


def _described(entry: models.Entry) -> str:
    size = f"{entry.size / 1e6:,.0f} M parameters" if entry.size else ""
    where = {"offline": "ready offline", "hub": "from the Hub"}.get(entry.source, entry.source)
    return " · ".join(filter(None, [entry.family, size, where]))


def _catalogue(entries: list[models.Entry]) -> None:
    for group in dict.fromkeys(entry.group for entry in entries if entry.group != OWN):
        st.markdown(f"**{group[0].upper()}{group[1:]}**")
        for entry in (e for e in entries if e.group == group):
            left, right = st.columns([5, 2], vertical_alignment="center")
            left.text(entry.name)
            left.caption(_described(entry))
            if entry.install and not entry.available:
                st.code(entry.install, language="bash", wrap_lines=True)
            right.button(
                "Use",
                key=f"use-{entry.name}",
                on_click=_use_model,
                args=(entry.name,),
                disabled=not entry.available,
                help=entry.why_not or None,
                width="stretch",
            )


def _corpus(kind: str) -> None:
    labels = corpora_for(kind)
    if st.session_state["corpus"] not in labels:
        _explain_mismatch(kind)
        st.session_state.update(corpus=DEFAULT_CORPUS[kind], document=0)
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
    current = scene()
    names = [document.name for document in current.documents]
    st.session_state["document"] = min(st.session_state["document"], len(names) - 1)
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
