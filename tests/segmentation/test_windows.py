"""Windows cover every gap, fade at cut edges only, and what they say does not hang on where they lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lib.corpora import builtin
from lib.segmentation.features import averaged_signals
from lib.segmentation.windows import SIZE, STRIDE, fade, read_tokens, windows_over

sizes = st.integers(2, 80).flatmap(lambda size: st.tuples(st.just(size), st.integers(1, size - 1)))


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 500), sizes)
def test_every_gap_lies_inside_a_window_with_weight(tokens, size_and_stride):
    size, stride = size_and_stride
    plan = windows_over(tokens, size, stride)
    weight = np.zeros(max(0, tokens - 1))
    for a, b in plan:
        assert b - a == min(size, tokens)
        weight[a : b - 1] += fade((a, b), tokens, size - stride)
    assert (weight > 0).all()
    assert not plan or (plan[0][0], plan[-1][1]) == (0, tokens)


@settings(deadline=None, max_examples=50)
@given(st.integers(SIZE + 1, 1000))
def test_neighbouring_windows_share_enough_tokens(tokens):
    starts = np.array([a for a, _ in windows_over(tokens)])
    assert (np.diff(starts) <= STRIDE).all()
    assert (np.diff(starts) > 0).all()


def test_the_ends_of_a_text_do_not_fade():
    assert fade((0, 10), 10).tolist() == [1.0] * 9
    assert fade((0, 30), 50)[0] == 1.0
    assert fade((20, 50), 50)[-1] == 1.0
    assert fade((0, 30), 50)[-1] == pytest.approx(1 / (SIZE - STRIDE))


def test_offsets_of_a_long_text_are_those_of_its_words(engine):
    text = "The lake froze early. " * 200
    tokens = read_tokens(text, engine)
    assert len(tokens) == 1000
    assert (len(tokens.prefix), len(tokens.suffix)) == (1, 1)
    assert [text[a:b] for a, b in zip(tokens.start[5:10], tokens.end[5:10], strict=True)] == [
        "The",
        "lake",
        "froze",
        "early",
        ".",
    ]


def test_signals_hardly_change_where_windows_lie_elsewhere(engine):
    tokens = read_tokens(" ".join(document.text for document in builtin("encyclopedia")[:3]), engine)
    usual = averaged_signals(engine, tokens)
    other = averaged_signals(engine, tokens, size=SIZE, stride=37)
    assert len(windows_over(len(tokens), SIZE, 37)) > len(windows_over(len(tokens)))
    for name in ("back_near", "z_cosine_1", "entropy"):
        a, b = usual.of(name), other.of(name)
        correlation = [
            np.corrcoef(x, y)[0, 1] for x, y in zip(a.reshape(-1, a.shape[-1]), b.reshape(-1, b.shape[-1]), strict=True)
        ]
        assert np.median(correlation) > 0.9, name
