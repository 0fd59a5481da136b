from dataclasses import replace

import pytest

from lib.capture import self_check
from lib.models import load
from lib.ui.badge import badge_label, badge_rows, worst_deviation


@pytest.fixture(scope="module")
def engine():
    return load("all-MiniLM-L6-v2")


@pytest.fixture(scope="module")
def check(engine):
    return self_check(engine)


def test_the_badge_tells_the_largest_deviation(check):
    worst = worst_deviation(check)
    assert 0 < worst <= 1e-5  # rows do not sum to exactly 1 in float32
    assert badge_label(check) == f"exact ✓ {worst:.0e}".replace("e-0", "e-")


@pytest.mark.parametrize("name", ["pattern_deviation", "output_deviation", "row_sum_deviation", "result_deviation"])
def test_whichever_comparison_fails_is_the_one_that_is_told(check, name):
    failing = replace(check, **{name: 0.25})
    assert badge_label(failing) == "not exact: off by 2e-1"


def test_numbers_that_are_not_finite_are_not_exact(check):
    assert badge_label(replace(check, output_deviation=float("nan"))) == "not exact: off by nan"


def test_half_precision_is_never_called_exact(check):
    assert (
        badge_label(replace(check, pattern_deviation=3e-3, tolerance=1e-2, dtype="bfloat16"))
        == "within 3e-3 in bfloat16"
    )


def test_what_was_not_measured_says_so(check, engine):
    rows = dict(badge_rows(replace(check, result_deviation=None), engine))
    assert rows["All heads added up, against the layer's output"].startswith("not possible")
    assert rows["This precision, against float32 on the CPU"] == "the same thing"
