"""How many documents a page measures."""

from __future__ import annotations

import streamlit as st


def document_count(name: str, most: int, first: int, width: int = 130) -> int:
    """The control for how many of ``most`` documents are measured, and what it says; no control where there is one.

    name: session key of the number asked for, which outlives a corpus of fewer documents; first: at first.
    """
    key = f"{name}-of-{most}"
    st.session_state[key] = max(1, min(st.session_state.setdefault(name, first), most))
    if most < 2:
        return 1

    def remember() -> None:
        st.session_state[name] = st.session_state[key]

    st.number_input(f"Documents of {most:,}", 1, most, key=key, on_change=remember, width=width)
    return st.session_state[key]
