"""The user's own texts and images: kept in the session only, named in the choice by a digest."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from lib.corpora import Document, Reading, read_file, read_text
from lib.ui.message import explained, problem

MOST_KEPT = 12  # the oldest own text gives way: a session on a small host stays small
UPLOAD_TYPES = ["txt", "md", "csv", "jsonl", "conllu", "png", "jpg", "jpeg", "webp"]
UPLOAD_MEGABYTES = 5
OPEN = "own-text-open"


@dataclass(frozen=True)
class OwnText:
    """Documents a user brought, with what was changed while reading them."""

    label: str
    documents: tuple[Document, ...]
    notes: tuple[str, ...]

    @property
    def kind(self) -> str:
        """``"text"`` or ``"image"``."""
        return self.documents[0].kind


def own_texts() -> dict[str, OwnText]:
    """The session's own texts: corpus id -> OwnText, oldest first."""
    return st.session_state.setdefault("own_texts", {})


def keep(label: str, documents: list[Document], notes: list[str] | tuple[str, ...]) -> str:
    """Remember documents under a digest of their content and return the corpus id."""
    digest = hashlib.sha256("".join(document.hash for document in documents).encode()).hexdigest()[:12]
    corpus = f"own-{digest}"
    texts = own_texts()
    texts.pop(corpus, None)
    texts[corpus] = OwnText(label, tuple(documents), tuple(notes))
    while len(texts) > MOST_KEPT:
        del texts[next(iter(texts))]
    return corpus


def _take(label: str, what: str, read: Callable[[], Reading]) -> None:
    """Keep what was read and show it, or keep the reason to be told; close the box: the result lies behind it."""
    try:
        reading = read()
        st.session_state.update(corpus=keep(label, reading.documents, reading.notes), document=0)
    except Exception as error:
        st.session_state["text_problem"] = explained(error, what)
    st.session_state[OPEN] = False
    st.rerun()


def _take_pasted() -> None:
    pasted = st.session_state.get("pasted") or ""
    _take("Pasted text", "a text that can be read", lambda: read_text(pasted, name="pasted text"))


def _take_upload() -> None:
    if (upload := st.session_state.get("uploaded")) is not None:
        _take(upload.name, "a file that can be read", lambda: read_file(upload.getvalue(), name=upload.name))


def own_text_controls() -> None:
    """Paste or upload, folded into one button of the sidebar; a problem is shown where it arose."""
    _box()
    if error := st.session_state.pop("text_problem", None):  # told once, until the next run of the whole page
        problem(error)


@st.fragment(key="own-text")
def _box() -> None:
    """Opening and closing runs nothing but this; what was taken closes it and runs the app."""
    with st.popover("Use your own", icon=":material/add:", key=OPEN, on_change="rerun", width="stretch"):
        st.text_area(
            "Paste text",
            key="pasted",
            height=120,
            placeholder="Any language. It stays in this session.",
            persist_state="session",
        )
        st.button("Read this text", key="read-pasted", on_click=_take_pasted, width="stretch")
        st.file_uploader(
            "Or a file or an image",
            type=UPLOAD_TYPES,
            key="uploaded",
            on_change=_take_upload,
            max_upload_size=UPLOAD_MEGABYTES,
            help=f"Text, Markdown, CSV, JSON lines, CoNLL-U or an image, up to {UPLOAD_MEGABYTES} MB.",
        )
