import pytest

from lib.ui.progress import reached


@pytest.mark.parametrize(
    ("at", "shown"),
    [
        ((0, 68, "reading"), (0.0, "Reading: 0 of 68")),
        ((17, 68, "reading"), (0.25, "Reading: 17 of 68")),
        ((70, 68, "reading"), (1.0, "Reading: 68 of 68")),
        ((0, 1, "starting"), (0.0, "Starting")),
        ((1, 0, "nothing to do"), (1.0, "Nothing to do")),
    ],
)
def test_the_bar_and_its_words_say_the_same(at, shown):
    assert reached(*at) == shown
