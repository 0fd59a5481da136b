"""What keeps a click quick whatever else the server does: the garbage collector's rounds, and turns between threads.

Streamlit collects garbage after every run, also after the short one of a callback that asks for another. With torch and
transformers loaded one round looks at some 10⁶ objects that live as long as the server does, which takes longer than
everything else a click does; frozen, they are skipped. And a thread that computes in Python gives way to one that has
waited for so long only: a click waits at every step for work that nobody is waiting for.
"""

from __future__ import annotations

import gc
import sys
from functools import cache

import lib.capture
import lib.ui.sidebar  # noqa: F401 - brings everything that draws

TURN = 0.0005  # seconds that a thread computes in Python while another waits; Python's own are ten times as long


@cache
def make_ready() -> None:
    """Keep imports out of later collections and turns short; does nothing the second time."""
    sys.setswitchinterval(TURN)
    settle()


def settle() -> None:
    """Collect once, then keep what is there out of later collections: after imports, and after a library compiled."""
    gc.collect()
    gc.freeze()
