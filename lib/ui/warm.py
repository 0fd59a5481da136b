"""What is done once per server: the heavy imports, and their objects taken out of the garbage collector's rounds.

Streamlit collects garbage after every run. With torch and transformers loaded one round looks at some 10⁶ objects that
live as long as the server does, which takes longer than everything else a click does; frozen, they are skipped.
"""

from __future__ import annotations

import gc
from functools import cache

import lib.capture
import lib.ui.sidebar  # noqa: F401 - brings everything that draws


@cache
def freeze_imports() -> None:
    """Collect once, then keep what is there out of later collections; does nothing the second time."""
    gc.collect()
    gc.freeze()
