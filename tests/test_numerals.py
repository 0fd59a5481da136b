"""Numbers are written with a true minus, and none before zero."""

import pytest

from lib.numerals import per_cent, plural, with_interval, written


@pytest.mark.parametrize(
    ("value", "form", "expected"),
    [(-0.48, ".2f", "−0.48"), (-0.001, ".2f", "0.00"), (-0.001, "+.2f", "+0.00"), (-3.6e-5, ".2g", "−3.6e−05")],
)
def test_written(value, form, expected):
    assert written(value, form) == expected


def test_a_share_is_a_percentage():
    assert (per_cent(0.385), per_cent(-0.0123, ".1f")) == ("38 %", "−1.2 %")


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ((3.21, 2.9, 3.5), "3.21 [2.9, 3.5]"),
        ((-3.21, -3.5, 0.2), "−3.21 [−3.5, 0.2]"),
        ((float("nan"), 0.0, 1.0), "n/a"),
        ((2.0, float("nan"), 3.0), "2"),
    ],
)
def test_an_estimate_stands_with_its_interval(found, expected):
    assert with_interval(*found) == expected


def test_one_is_singular():
    assert (plural(1, "document"), plural(0, "document"), plural(1200, "document")) == (
        "1 document",
        "0 documents",
        "1,200 documents",
    )
    assert (plural(1, "boundary", "boundaries"), plural(2, "boundary", "boundaries")) == ("1 boundary", "2 boundaries")
