"""What keeps a click quick whatever else the server does: garbage collection, turns between threads, idle threads.

Streamlit collects garbage after every run, also after the short one of a callback that asks for another. With torch and
transformers loaded one round looks at some 10⁶ objects that live as long as the server does, which takes longer than
everything else a click does; frozen, they are skipped. And a thread that computes in Python gives way to one that has
waited for so long only: a click waits at every step for work that nobody is waiting for. NumPy's own threads, at last,
wait for work by keeping a core busy, which the model and the browser lack.
"""

from __future__ import annotations

import gc
import sys
from functools import cache

import scipy.linalg  # noqa: F401 - brings a linear algebra of its own, beside NumPy's

import lib.capture
import lib.ui.sidebar  # noqa: F401 - brings everything that draws
from lib.threads import one_thread_from_now_on

TURN = 0.0005  # seconds that a thread computes in Python while another waits; Python's own are ten times as long


@cache
def make_ready() -> None:
    """Keep imports out of later collections, turns short and products in one thread; nothing the second time."""
    sys.setswitchinterval(TURN)
    one_thread_from_now_on()
    settle()


def settle() -> None:
    """Collect once, then keep what is there out of later collections: after imports, and after a library compiled."""
    gc.collect()
    gc.freeze()
