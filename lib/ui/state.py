"""The user's choice: one set of session keys, the same on every page and in the link.

The link carries ids only (a model's catalogue name, a built-in text's name, numbers), never raw text, and every value
read from a link is checked against what exists before it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import streamlit as st
from streamlit.errors import StreamlitAPIException

from lib.corpora import USUAL_LENGTH

DEFAULT_MODEL = "all-MiniLM-L6-v2"
DEFAULT_CORPUS = {"text": "encyclopedia", "image": "photographs"}
DEVICES = ("auto", "cpu", "cuda", "mps")
DTYPES = ("float32", "bfloat16", "float16")
LIVE_FRAGMENTS = ["choice", "panel"]  # what a new layer, head or document redraws: no full rerun


@dataclass(frozen=True)
class Choice:
    """What the sidebar says: ids and numbers only, so that it can be a key."""

    model: str
    device: str
    dtype: str
    corpus: str
    document: int
    tokens: int
    layer: int
    head: int
    special: bool


DEFAULTS = {
    "model": DEFAULT_MODEL,
    "device": "auto",
    "dtype": "float32",
    "corpus": DEFAULT_CORPUS["text"],
    "document": 0,
    "tokens": USUAL_LENGTH,
    "layer": 2,  # of the default model: L2 H9 looks at the same token elsewhere, which anyone sees at once
    "head": 9,  # a model with fewer heads shows its last
    "special": True,
}


def choice() -> Choice:
    """The current choice; call it after the sidebar has been drawn."""
    return Choice(**{name: st.session_state[name] for name in DEFAULTS})


def from_link(parameters: Mapping[str, str], models: set[str], corpora: set[str]) -> dict[str, object]:
    """Values of a link that can be used, and nothing else: unknown names and malformed numbers are dropped.

    parameters: the query string; models: catalogue names that are available; corpora: names of built-in texts.
    Returns a subset of the choice. Upper bounds of document, layer and head are applied when the model is known.
    """
    allowed = {"model": models, "corpus": corpora, "device": set(DEVICES), "dtype": set(DTYPES)}
    chosen: dict[str, object] = {
        name: parameters[name] for name, values in allowed.items() if parameters.get(name) in values
    }
    for name in ("document", "tokens", "layer", "head"):
        value = parameters.get(name, "")
        if value.isascii() and value.isdigit() and len(value) < 6:
            chosen[name] = int(value)
    if parameters.get("special") in {"0", "1"}:
        chosen["special"] = parameters["special"] == "1"
    return chosen


def not_followed(parameters: Mapping[str, str], models: set[str], corpora: set[str]) -> list[str]:
    """What a link asks for and does not get, as sentences without markup: a model or a text that is not here."""
    known = from_link(parameters, models, corpora)
    told = []
    for name, what, instead in (("model", "model", DEFAULT_MODEL), ("corpus", "text", "a built-in one")):
        asked = parameters.get(name)
        if asked and name not in known:
            plain = "".join(c for c in asked[:60] if c.isalnum() or c in " .-_/")
            told.append(f"The link asks for the {what} “{plain}”, which is not here: {instead} is shown.")
    return told


def to_link(values: Mapping[str, object], models: set[str], corpora: set[str]) -> dict[str, str]:
    """The link of a choice: what differs from the defaults, ids only.

    A user's own model or own text is left out: the receiver does not have it.
    """
    link = {}
    own = values.get("corpus", DEFAULTS["corpus"]) not in corpora  # then its documents are the user's own as well
    for name, default in DEFAULTS.items():
        value = values.get(name, default)
        known = {"model": models, "corpus": corpora}.get(name)
        if value == default or (known is not None and value not in known) or (name == "document" and own):
            continue
        link[name] = str(int(value)) if isinstance(value, bool) else str(value)
    return link


def boot(models: set[str], corpora: set[str]) -> None:
    """Once per session: defaults, then whatever of the link can be used."""
    if "booted" in st.session_state:
        return
    asked = st.query_params.to_dict()
    for name, value in (DEFAULTS | from_link(asked, models, corpora)).items():
        st.session_state.setdefault(name, value)
    for sentence in not_followed(asked, models, corpora):
        st.toast(sentence, icon=":material/link_off:", duration="infinite")
    st.session_state["booted"] = models, corpora


def write_link() -> None:
    """Bring the address bar in line with the session, only when it differs."""
    models, corpora = st.session_state["booted"]
    link = to_link({name: st.session_state.get(name, DEFAULTS[name]) for name in DEFAULTS}, models, corpora)
    if st.query_params.to_dict() != link:
        st.query_params.from_dict(link)


def redraw_live() -> None:
    """From a widget callback: redraw the sidebar's choice and the page's panel, not the whole app."""
    write_link()
    try:
        st.rerun(LIVE_FRAGMENTS)
    except StreamlitAPIException:
        return  # the page has no live panel: the ordinary full rerun follows


def choose_head(layer: int, head: int) -> None:
    """Callback of every picture of heads: the chosen head, everywhere."""
    st.session_state["layer"], st.session_state["head"] = int(layer), int(head)
    redraw_live()
