"""The text that is cut: pasted into the page, or else the sidebar's document, as written or without its marks."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import streamlit as st

from lib.corpora import Document
from lib.errors import HeadlightError
from lib.numerals import plural
from lib.segmentation import CONDITIONS, under
from lib.ui.scene import Scene
from lib.ui.segmentation.wording import TRANSCRIPT, condition_name

BOX = "segmentation-text"  # session state: what stands in the box
HELD = "segmentation-held"  # session state: a long text that was taken out of it
LIGHT = 20_000  # characters that may stand in the box: a browser sends all of them again with every click
MARKUP = str.maketrans({c: f"\\{c}" for c in "\\`*_[]<>$:#~"})  # names are told as they are
MOST = 3_000_000  # characters; 200,000 words of English are about 1.2 million
HOLDS = "“{} …”\n\nThis text is held. Paste another in its place, or clear it."
PLACEHOLDER = "Paste a text or a transcript, as long as you like. Left empty, the sidebar's document is cut."


@dataclass(frozen=True)
class Source:
    """A text to cut; gold: the document with its true boundaries, None where they are not known."""

    name: str
    text: str
    document: Document

    @property
    def gold(self) -> Document | None:
        """The document, where its sentences come from the source."""
        return self.document if self.document.gold else None

    @cached_property
    def digest(self) -> str:
        """Names the text in keys."""
        return hashlib.sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()[:24]


def _set(text: str) -> None:
    st.session_state[BOX] = text
    st.session_state.pop(HELD, None)


def _take() -> None:
    """A new text takes the place of one that is held; a long one is held and leaves the box."""
    text = st.session_state[BOX] or ""
    if not text.strip():
        return
    _set(text)
    if len(text) > LIGHT:
        st.session_state.update({BOX: "", HELD: text})


def text_box() -> str:
    """The box; returns the text that was given, "" where that is nothing but white space."""
    held = st.session_state.get(HELD, "")
    typed = st.text_area(
        "Text",
        key=BOX,
        height=110,
        placeholder=HOLDS.format(" ".join(held[:160].split())) if held else PLACEHOLDER,
        label_visibility="collapsed",
        persist_state="session",
        on_change=_take,
    )
    text = held or typed or ""
    return text if text.strip() else ""


def buttons(about: str) -> None:
    """Under the box: cut what was typed, an example, an empty box; and what is being cut."""
    st.button("Cut", key="segmentation-cut", type="primary", help="Or press Ctrl + Enter in the box.")
    st.button("Try a transcript", key="segmentation-example", on_click=_set, args=(TRANSCRIPT,))
    empty = not (st.session_state.get(BOX) or st.session_state.get(HELD))
    st.button("Clear", key="segmentation-clear", on_click=_set, args=("",), disabled=empty)
    st.caption(about.translate(MARKUP))


def chosen_source(now: Scene, pasted: str, shown: str) -> Source:
    """What is cut. shown: the condition under which the sidebar's document is read.

    Raises HeadlightError for more than 3,000,000 characters.
    """
    if len(pasted) > MOST:
        raise HeadlightError(f"at most {MOST:,} characters", f"{len(pasted):,}", "Cut it in parts.")
    if pasted:
        return Source("pasted text", pasted, Document("pasted text", pasted))
    document = now.document if shown == "written" else under(now.document, shown)
    name = document.name if shown == "written" else f"{document.name}, {condition_name(shown)}"
    return Source(name, document.text, document)


def shown_condition() -> str:
    """The condition in which the sidebar's document is read: as written, or without what gives its sentences away."""
    return (
        st.selectbox(
            "Document",
            list(CONDITIONS),
            format_func=condition_name,
            key="segmentation-shown",
            persist_state="session",
            width=165,
            help="Takes capitals or punctuation away, to see what attention still finds.",
        )
        or "written"
    )


def described(now: Scene, pasted: str) -> str:
    """One line: what is cut, and how long it is."""
    name, text = ("Your text", pasted) if pasted else (now.document.name, now.document.text)
    return f"{name}: {plural(len(text.split()), 'word')}"
