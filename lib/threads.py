"""One thread for linear algebra: thousands of small products lose more to a second thread than they gain by it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController


def _controller() -> ThreadpoolController:
    """Looked up anew each time: a library that brings its own BLAS may have been loaded since."""
    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_thread() -> Iterator[None]:
    """Let NumPy and SciPy multiply with one thread; layers are then worked on side by side instead.

    The limit is the process's. Only who set it gives it back, from the same thread, because OpenBLAS ignores others;
    whoever is still inside then is slower, nothing else.
    """
    limited = [
        (library, count) for library in _controller().lib_controllers if (count := library.get_num_threads()) > 1
    ]
    for library, _ in limited:
        library.set_num_threads(1)
    try:
        yield
    finally:
        for library, count in limited:
            library.set_num_threads(count)
