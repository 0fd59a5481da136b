"""One thread for linear algebra: thousands of small products lose more to a second thread than they gain by it.

Between the layers of a model it is worse: NumPy's threads keep a core busy waiting for their next product, which the
model's own threads then lack.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_setter = ThreadPoolExecutor(max_workers=1, thread_name_prefix="blas")  # OpenBLAS heeds only the thread that set first
_lock = threading.Lock()
_inside = 0
_limited: list = []  # (library, its number of threads before), while somebody is inside


def _limit() -> list:
    """Set every library that uses more than one thread to one; returns what to give back."""
    libraries = ThreadpoolController().select(user_api="blas").lib_controllers
    limited = [(library, count) for library in libraries if (count := library.get_num_threads()) > 1]
    for library, _ in limited:
        library.set_num_threads(1)
    return limited


def _restore(limited: list) -> None:
    for library, count in limited:
        library.set_num_threads(count)


@contextmanager
def one_thread() -> Iterator[None]:
    """Let NumPy and SciPy multiply with one thread; layers are then worked on side by side instead.

    The limit is the process's: it holds from the first who enters to the last who leaves, in whatever threads they are.
    """
    global _inside
    one_thread_from_now_on()
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _setter.submit(_restore, _limited).result()


def one_thread_from_now_on() -> None:
    """The same until the process ends, for a server: libraries that were loaded before multiply with one thread."""
    global _inside, _limited
    with _lock:
        _inside += 1
        if _inside == 1:
            _limited = _setter.submit(_limit).result()
