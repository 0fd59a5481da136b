"""What the page says when something cannot be shown: expected, got, what to do. The session goes on."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import streamlit as st

from lib.errors import HeadlightError

log = logging.getLogger("headlight")


def problem(error: HeadlightError) -> None:
    """Show an error as three short lines; its text is plain text, never markup."""
    with st.container(border=True, key="problem"):
        st.markdown(":material/error: **This cannot be shown**")
        st.text(f"Expected  {error.expected}\nGot       {error.got}")
        st.text(error.remedy)


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turn what goes wrong inside into a message on the page instead of a broken page.

    what: the thing being drawn, in the user's words ("the patterns of this text").
    """
    try:
        yield
    except HeadlightError as error:
        problem(error)
    except MemoryError:
        problem(
            HeadlightError(
                f"enough memory for {what}",
                "the machine ran out of it",
                "Choose a shorter text, fewer layers or a smaller model.",
            )
        )
