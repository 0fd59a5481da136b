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
    with st.container(border=True):
        st.markdown(":material/error: **This cannot be shown**")
        st.text(f"Expected  {error.expected}\nGot       {error.got}")
        st.text(error.remedy)


def explained(error: Exception, what: str) -> HeadlightError:
    """Any error as one that can be shown; what nobody foresaw goes to the log with its traceback.

    what: the thing being made, in the user's words ("the attention of this text").
    """
    if isinstance(error, HeadlightError):
        return error
    if isinstance(error, MemoryError) or "out of memory" in str(error).lower():  # an accelerator's says so in words
        return HeadlightError(
            f"enough memory for {what}",
            "the machine ran out of it",
            "Choose a shorter text, fewer layers or a smaller model.",
        )
    log.error("unforeseen problem with %s", what, exc_info=error)
    return HeadlightError(
        what,
        f"a problem nobody foresaw ({type(error).__name__})",
        "Nothing is lost: choose something else, or try again. The server's log holds the details.",
    )


@contextmanager
def guarded(what: str) -> Iterator[None]:
    """Turn what goes wrong inside into a message on the page instead of a broken page; ``what`` as in `explained`."""
    try:
        yield
    except Exception as error:  # Streamlit's own control flow is not among these
        problem(explained(error, what))
