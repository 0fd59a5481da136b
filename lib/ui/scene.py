"""What a page works on: the chosen model with the chosen document, as the model reads it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lib.corpora import Document, Encoding, builtin_names, external_names, external_place
from lib.models import Engine
from lib.ui import cached
from lib.ui.state import Choice, choice
from lib.ui.texts import own_texts


@dataclass(frozen=True)
class Scene:
    """Model, documents and choice of this moment; made afresh in every run, everything in it is cached."""

    choice: Choice
    engine: Engine
    documents: tuple[Document, ...]

    @property
    def document(self) -> Document:
        """The chosen document."""
        return self.documents[self.choice.document]

    @property
    def encoding(self) -> Encoding:
        """The chosen document as the model reads it."""
        return cached.encoding(self.engine.key, self.document.hash, self.choice.tokens, self.engine, self.document)


def corpora() -> dict[str, tuple[str, str]]:
    """Corpus id -> (kind, label) of all that is not one session's own: built in, in HEADLIGHT_DATA, on the Hub."""
    found = {corpus.name: (corpus.kind, corpus.name) for corpus in builtin_names()}
    for name in external_names():
        found.setdefault(name, ("text", f"{name} · from {external_place(name)}"))
    return found


def corpora_for(kind: str) -> dict[str, str]:
    """Corpus id -> label of everything a model of this kind can read; kind ``"text"`` or ``"image"``."""
    own = {corpus: f"{text.label} · your own" for corpus, text in own_texts().items() if text.kind == kind}
    return {corpus: label for corpus, (its, label) in corpora().items() if its == kind} | own


def corpus_documents(corpus: str) -> tuple[Document, ...]:
    """The documents of a corpus id: built in, from outside, or the session's own; raises HeadlightError as they do."""
    own = own_texts().get(corpus)
    return own.documents if own else tuple(cached.documents(corpus))


def scene() -> Scene:
    """The scene of this run; call it in a page after the sidebar has been drawn."""
    now = choice()
    engine = cached.engine(now.model, now.device, now.dtype)
    return Scene(now, engine, corpus_documents(st.session_state["corpus"]))
