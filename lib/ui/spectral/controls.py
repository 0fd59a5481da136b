"""The controls above the scalograms: how many windows of which length, of which attention, and what is coloured."""

from __future__ import annotations

import streamlit as st

from lib.spectral import Windows
from lib.ui.scene import Scene
from lib.ui.spectral.measures import Ask
from lib.ui.state import DEFAULT_MODEL

FEW_WINDOWS = 48  # at first: a picture within seconds
COLOURINGS = {"density": "energy", "ratio": "÷ chance"}
EASY = "encyclopedia"  # a built-in text that gives windows enough


def controls(now: Scene) -> tuple[Ask, str]:
    """Windows, length, mean or one head, stream; and what the scalograms are coloured by."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        colouring = st.segmented_control(
            "Colour",
            list(COLOURINGS),
            format_func=COLOURINGS.__getitem__,
            default="density",
            required=True,
            key="spectral-colour",
            persist_state="session",
        )
        count = st.number_input(
            "Windows, N",
            1,
            1000,
            FEW_WINDOWS,
            key="spectral-windows",
            persist_state="session",
            width=120,
            help="Stretches of equal length cut from the texts. Ranks and spectra settle slowly: 150 windows and more "
            "are better than the first picture's 48.",
        )
        length = st.number_input(
            "Tokens each, L",
            4,
            1024,
            None,
            placeholder="automatic",
            key="spectral-length",
            persist_state="session",
            width=140,
            help="Left empty: 256 for character models, 64 for others, and fewer, down to 18, where the texts are too "
            "short for a dozen such windows. Special tokens are not counted.",
        )
        heads = st.segmented_control(
            "Attention of",
            ["mean", "head"],
            format_func={"mean": "all heads, mean", "head": f"head {now.choice.head} of each layer"}.__getitem__,
            default="mean",
            required=True,
            key="spectral-heads",
            persist_state="session",
        )
        stream = None
        if now.engine.kind == "encoder-decoder":
            stream = st.selectbox(
                "Stream", ["encoder", "decoder"], key="spectral-stream", persist_state="session", width=130
            )
    head = now.choice.head if heads == "head" else None
    return Ask(int(count), None if length is None else int(length), head, stream), colouring


def within(key: str, most: int) -> None:
    """Bring a number chosen earlier, with more windows or another layer, down to what there is now."""
    if isinstance(value := st.session_state.get(key), int) and value > most:
        st.session_state[key] = most


def ways_out(now: Scene, ask: Ask) -> None:
    """Beneath a message that nothing can be shown: what helps most often, one click each."""
    with st.container(horizontal=True):
        if ask.length is not None:
            st.button("Fit the length to the text", key="spectral-fit", on_click=_fit, icon=":material/straighten:")
        if ask.count < FEW_WINDOWS:
            st.button(f"Take {FEW_WINDOWS} windows", key="spectral-more", on_click=_more, icon=":material/add:")
        easy_text(now)


def more_text(now: Scene, ask: Ask, taken: Windows) -> None:
    """Where windows are shorter than usual because the text is: a text that is long enough, one click away."""
    if ask.length is None and taken.length < taken.wanted:
        easy_text(now)


def needs_text(now: Scene) -> None:
    """A vision model is on screen: what this page reads instead, one click away."""
    st.info(
        f"{now.engine.name} reads images. Lags are distances along a text, and patches have none, so this page reads "
        "text models only: choose one in the sidebar."
    )
    st.button(f"Take {DEFAULT_MODEL}", key="spectral-text-model", on_click=_text_model, icon=":material/article:")


def easy_text(now: Scene) -> None:
    """A text that gives windows enough, one click away."""
    if now.choice.corpus != EASY:
        st.button(f"Take the text “{EASY}”", key="spectral-easy", on_click=_easy, icon=":material/article:")


def _text_model() -> None:
    st.session_state.update(model=DEFAULT_MODEL, device="auto", dtype="float32")


def _fit() -> None:
    st.session_state["spectral-length"] = None


def _more() -> None:
    st.session_state["spectral-windows"] = FEW_WINDOWS


def _easy() -> None:
    st.session_state.update(corpus=EASY, document=0)
