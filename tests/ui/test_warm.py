"""What is settled is skipped by later collections; what comes after it is not."""

import gc
import sys
import weakref

import pytest
from threadpoolctl import threadpool_info

from lib.ui.warm import TURN, make_ready, settle


class Circle:
    def __init__(self):
        self.own = self


@pytest.fixture(autouse=True)
def as_before():
    turn = sys.getswitchinterval()
    yield
    sys.setswitchinterval(turn)
    gc.unfreeze()


def test_garbage_of_before_and_after_is_collected_and_what_lives_is_skipped():
    before = weakref.ref(Circle())
    kept = [Circle() for _ in range(1_000)]
    settle()
    assert before() is None
    assert gc.get_freeze_count() > len(kept)
    skipped = gc.get_objects()
    assert not any(one is kept[0] for one in skipped)
    after = weakref.ref(Circle())
    gc.collect()
    assert after() is None


def test_a_visit_makes_turns_short_once():
    make_ready.cache_clear()
    make_ready()
    assert sys.getswitchinterval() == pytest.approx(TURN)
    frozen = gc.get_freeze_count()
    make_ready()
    assert gc.get_freeze_count() <= frozen


def test_products_keep_no_second_thread_waiting():
    make_ready()
    counts = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    assert len(counts) >= 2 and set(counts) == {1}  # NumPy's and SciPy's
