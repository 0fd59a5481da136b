import threading

import numpy as np
import pytest
import scipy.linalg
from threadpoolctl import threadpool_info

from lib.threads import one_thread


def counts():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def in_threads(*works):
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_inside_there_is_one_thread_and_afterwards_what_was_before():
    scipy.linalg.eigh(np.eye(2))
    before, seen = counts(), []

    def work():
        with one_thread():
            with one_thread():
                seen.append(set(counts()))
            seen.append(set(counts()))
        with pytest.raises(KeyError), one_thread():
            raise KeyError

    in_threads(work)
    assert seen == [{1}, {1}]
    assert counts() == before


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_whatever_order_two_sessions_leave_in_nothing_is_left_behind(first_leaves_first):
    before = counts()
    entered, second_in, first_out, second_out = (threading.Event() for _ in range(4))

    def first():
        with one_thread():
            entered.set()
            second_in.wait(60)
            if not first_leaves_first:
                second_out.wait(60)
        first_out.set()

    def second():
        entered.wait(60)
        with one_thread():
            second_in.set()
            if first_leaves_first:
                first_out.wait(60)
        second_out.set()

    in_threads(first, second)
    assert counts() == before


def test_a_function_may_be_wrapped_many_times():
    @one_thread()
    def inside():
        return set(counts())

    seen = []
    in_threads(lambda: seen.extend([inside(), inside()]))
    assert seen == [{1}, {1}]


def test_the_limit_holds_in_every_thread_whoever_set_it_first():
    scipy.linalg.eigh(np.eye(2))
    before, seen = counts(), []
    with one_thread():
        seen.append(set(counts()))
        in_threads(lambda: seen.append(set(counts())))
    assert counts() == before

    def elsewhere():
        with one_thread():
            seen.append(set(counts()))

    in_threads(elsewhere)
    assert seen == [{1}] * 3
    assert counts() == before
