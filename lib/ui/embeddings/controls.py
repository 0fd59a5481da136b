"""The controls above the picture of all heads: projection, colour, roles, search; scale and sampling folded away."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from lib.embeddings.joint import ROLES
from lib.embeddings.reading import READ, most_tokens
from lib.ui.embeddings.colours import IMAGES, TEXTS, TYPE
from lib.ui.embeddings.measures import THUMBNAIL, Ask
from lib.ui.embeddings.pace import expected, spoken
from lib.ui.pictures import streams
from lib.ui.scene import Scene

METHODS = {"pca": "PCA", "umap": "UMAP", "tsne": "t-SNE"}
SHOWN = {"query": "queries", "key": "keys", "value": "values", "z": "outputs z"}
RULES = {"variance": "equal spread", "norm": "equal length", "search": "searched", "by hand": "by hand"}


@dataclass(frozen=True)
class Look:
    """How points are coloured and what is searched for; changing it moves no point."""

    colour: str
    wanted: str
    kind: str


def controls(now: Scene) -> tuple[Ask, Look]:
    """Draw the controls; returns what is asked for."""
    names = IMAGES if now.engine.kind == "vision" else TEXTS
    if st.session_state.get("embeddings-colour") not in names:
        st.session_state["embeddings-colour"] = TYPE
    with st.container(horizontal=True, vertical_alignment="bottom", key="embeddings-controls"):
        method = st.segmented_control(
            "Picture by",
            list(METHODS),
            format_func=lambda method: _method(now, method),
            default="pca",
            required=True,
            key="embeddings-method",
            persist_state="session",
            help="PCA keeps large distances and is there at once. UMAP and t-SNE keep neighbourhoods and draw one head "
            "after another. Beside their names: about how long all heads of this model take on idle processors; they "
            "can be stopped.",
        )
        colour = st.selectbox(
            "Coloured by",
            list(names),
            format_func=names.__getitem__,
            key="embeddings-colour",
            persist_state="session",
            width=190,
        )
        roles = st.pills(
            "Points",
            list(SHOWN),
            format_func=SHOWN.__getitem__,
            selection_mode="multi",
            default=["query", "key"],
            key="embeddings-roles",
            persist_state="session",
        )
        stream, offered = "self", streams(now.engine)
        if len(offered) > 1:
            stream = st.selectbox("Attention", offered, key="embeddings-stream", persist_state="session", width=130)
        scale, read = _scale(now)
    wanted, kind = _search(now)
    chosen = tuple(role for role in ROLES if role in (roles or [])) or ("query", "key")
    ask = Ask(stream, read, method, scale, chosen, now.choice.special or now.engine.kind == "vision")
    return ask, Look(colour or TYPE, wanted, kind)


def _method(now: Scene, method: str) -> str:
    """A method's name, with about how long it takes for all heads of the model where they are not there at once."""
    roles = len(st.session_state.get("embeddings-roles") or ("query", "key"))
    seconds = expected(method, now.engine.n_layers * now.engine.n_heads, roles * THUMBNAIL)
    return f"{METHODS[method]} :small[:gray[≈ {spoken(seconds)}]]" if seconds else METHODS[method]


def _search(now: Scene) -> tuple[str, str]:
    """What is searched for, and how."""
    if now.engine.kind == "vision":
        return "", "exact"
    with st.container(horizontal=True, vertical_alignment="bottom", key="embeddings-search-row"):
        wanted = st.text_input(
            "Search all heads",
            key="embeddings-search",
            persist_state="session",
            placeholder="a token, lit in every head",
            width=330,
            icon=":material/search:",
        )
        kind = st.segmented_control(
            "Find",
            ["exact", "regex"],
            format_func={"exact": "the whole token", "regex": "regular expression"}.__getitem__,
            default="exact",
            required=True,
            key="embeddings-search-kind",
            persist_state="session",
            help="A whole token, whatever its case; or an expression found anywhere in it, such as ^un|ing$.",
        )
    return wanted or "", kind


def _scale(now: Scene) -> tuple[str | float, int]:
    """The scale rule, and how many tokens are read."""
    with st.popover("Scale and tokens", icon=":material/tune:"):
        rule = st.segmented_control(
            "Queries are scaled by",
            list(RULES),
            format_func=RULES.__getitem__,
            default="variance",
            required=True,
            key="embeddings-scale",
            persist_state="session",
            help="Queries times c and keys divided by c give the same attention for every c above 0.",
        )
        scale: str | float = rule
        if rule == "by hand":
            scale = st.number_input("c", 0.05, 20.0, 1.0, 0.1, key="embeddings-c", persist_state="session")
        most = most_tokens(now.engine)
        st.session_state.setdefault("embeddings-read", READ)
        read = st.number_input(
            "Tokens read at most", 50, 50_000, step=500, key="embeddings-read", persist_state="session"
        )
        if read > most:
            st.caption(f"This model's vectors of {most:,} tokens fill the memory allowed for them: so many are read.")
    return scale, int(read)
