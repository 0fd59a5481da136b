"""One head on one text: lines, heatmap and flowing text, one component whose parts light up together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from lib.errors import HeadlightError
from lib.views import palette
from lib.views.component import Figure, show
from lib.views.heatmap import heatmap_figure, left_out
from lib.views.packet import amend

MOST = 512  # tokens on each side
CROWDED = 64  # tokens above which a linear scale leaves a heatmap dark but for a few cells
MODES = ("lines", "heatmap", "text")
Flow = tuple[Sequence[str], Sequence[str]]


def flow(text: str, start: Sequence[int], end: Sequence[int], shown: Sequence[str]) -> tuple[list[str], list[str]]:
    """Tokens as pieces of the running text, and what stands before each piece.

    Args:
        text: the document.
        start: character offset of each token, −1 for special tokens.
        end: the offset after its last character.
        shown: the token's own label, used for special tokens.

    Returns:
        (pieces, gaps), as many of each as there are tokens. A token that shares its characters with the one
        before (bytes of one character) becomes "◦". White space in a gap is one space or one line break.

    >>> flow("the birds\\nsang", [-1, 0, 4, 7, 10], [-1, 3, 7, 9, 14], ["[CLS]", "the", "bir", "##ds", "sang"])
    (['[CLS]', 'the', 'bir', 'ds', 'sang'], ['', '', ' ', '', '\\n'])
    """
    pieces, gaps, at = [], [], 0
    for begin, stop, label in zip(start, end, shown, strict=True):
        if begin < 0:
            pieces.append(str(label))
            gaps.append("")
            continue
        between = text[at:begin]
        words = " ".join(between.split())
        gaps.append("\n" if "\n" in between else f" {words} " if words else " " if between else "")
        pieces.append(text[max(begin, at) : stop] or "◦")
        at = max(at, stop)
    return pieces, gaps


def head_view_figure(
    pattern: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    query_flow: Flow | None = None,
    key_flow: Flow | None = None,
    query_special: Sequence[bool] | None = None,
    key_special: Sequence[bool] | None = None,
    key_rests: Sequence[bool] | None = None,
    rests_on: str = "",
    mask: np.ndarray | None = None,
    boundaries: Sequence[int] = (),
    key_boundaries: Sequence[int] | None = None,
    value_range: tuple[float, float] | None = None,
    value_name: str = "attention",
    unit: str = "",
    title: str = "",
    note: str = "",
    chosen: tuple[int, int] | None = None,
    mode: str = "lines",
    modes: Sequence[str] = MODES,
    symmetric: bool = False,
) -> Figure:
    """One head's pattern over one text, or from one text to another.

    Args:
        pattern: (query_pos, key_pos) weights ≥ 0; at most 512 of each are shown and the rest is announced.
        query_tokens: one label per query, in order.
        key_tokens: one label per key; the queries' if None.
        query_flow: (pieces, gaps) from `flow`, how the queries run as text; labels with spaces if None.
        key_flow: the same for the keys.
        query_special: which queries are special tokens, drawn as chips.
        key_special: which keys are.
        key_rests: keys on which many rows rest, shaded on a scale of their own so that the others show; the special
            ones if None.
        rests_on: what they are called, e.g. "[CLS] and [SEP]".
        mask: (query_pos, key_pos) bool, pairs that cannot attend: hatched, without line, never zero.
        boundaries: queries at which a sentence begins.
        key_boundaries: keys at which one begins.
        value_range: what the two ends of the colours mean; zero to the largest weight if None.
        value_name: what the weights are, e.g. "attention" or "‖weight · value‖".
        unit: their unit.
        title: a line above the picture.
        note: a line beneath it, e.g. that special tokens are hidden and rows renormalised.
        chosen: the (query, key) pair looked at in detail.
        mode: what is shown first, one of `modes`.
        modes: which of "lines", "heatmap" and "text" can be switched to.
        symmetric: the weights have no direction, as similarities have none: nothing is said to attend.

    Raises:
        HeadlightError: labels, masks and pattern do not fit one another.
    """
    pattern = np.asarray(pattern)
    same = key_tokens is None
    keys = _key_labels(pattern, query_tokens, key_tokens)
    cut = tuple(slice(0, MOST) for _ in range(2))
    shape = tuple(min(size, MOST) for size in pattern.shape)
    figure = heatmap_figure(
        pattern[cut],
        row_labels=query_tokens[:MOST],
        column_labels=keys[:MOST],
        mask=None if mask is None else np.asarray(mask)[cut],
        boundaries=boundaries,
        column_boundaries=boundaries if same else key_boundaries or (),
        value_range=value_range,
        value_name=value_name,
        unit=unit,
        title=title,
        note=" ".join(filter(None, [note, left_out(pattern.shape, shape)])),
        chosen=chosen,
        scale="log" if max(shape) > CROWDED else "linear",
    )
    queries_run = running(query_flow, query_tokens, query_special)
    keys_run = queries_run if same else running(key_flow, keys, key_special)
    packet = amend(
        figure.packet,
        same=same,
        query=queries_run,
        key=None if same else keys_run,
        rests=_resting(key_rests, keys_run["special"], shape[1]),
        rests_on=rests_on,
        mode=mode if mode in modes else modes[0],
        modes=list(modes),
        symmetric=symmetric,
        query_colour=palette.QUERY,
        key_colour=palette.KEY,
    )
    return replace(figure, view="head_view", packet=packet, label=_label(title or value_name, shape, symmetric))


def _label(name: str, shape: tuple[int, ...], symmetric: bool) -> str:
    """The picture in words, for those who cannot see it."""
    if symmetric:
        return f"{name}: {shape[0]} tokens in pairs."
    return f"{name}: {shape[0]} query tokens attending to {shape[1]} key tokens."


def _key_labels(pattern: np.ndarray, query_tokens: Sequence[str], key_tokens: Sequence[str] | None) -> Sequence[str]:
    """Labels of the keys; refuses a pattern without one label for each query and each key."""
    if key_tokens is None and pattern.ndim == 2 and pattern.shape[0] != pattern.shape[1]:
        raise HeadlightError("a square pattern or key tokens", f"shape {pattern.shape}", "Pass `key_tokens`.")
    keys = query_tokens if key_tokens is None else key_tokens
    for name, labels, axis in (("query", query_tokens, 0), ("key", keys, 1)):
        if pattern.ndim != 2 or len(labels) != pattern.shape[axis]:
            raise HeadlightError(
                f"one label per {name}", f"{len(labels)} labels for {pattern.shape}", "Cut both alike."
            )
    return keys


def _resting(key_rests: Sequence[bool] | None, special: list[bool], shown: int) -> list[bool]:
    """Whether rows rest on each of the keys that are shown; on the special ones if nothing is said."""
    rests = special if key_rests is None else [bool(mark) for mark in key_rests][:MOST]
    if len(rests) != shown:
        raise HeadlightError(f"one mark per key, {shown}", f"{len(rests)} of `key_rests`", "Mark every key.")
    return rests


def head_view(
    pattern: np.ndarray,
    query_tokens: Sequence[str],
    key_tokens: Sequence[str] | None = None,
    *,
    key: str,
    on_choose: Callable[[int, int], None] | None = None,
    **options: object,
) -> None:
    """Show one head: hovering lights a token's lines, row and words; a click holds it, several add up.

    Args:
        pattern: see `head_view_figure`, as are the tokens and `options`.
        query_tokens: one label per query.
        key_tokens: one label per key, the queries' if None.
        key: unique on the page; held tokens, mode and direction are kept under it.
        on_choose: called with (query, key) when a token is held (its strongest partner) or a cell chosen.
    """
    show(head_view_figure(pattern, query_tokens, key_tokens, **options), key, on_choose)


def running(pieces_and_gaps: Flow | None, tokens: Sequence[str], special: Sequence[bool] | None) -> dict[str, list]:
    """Pieces, gaps and special marks of at most 512 tokens, ready for the browser."""
    pieces, gaps = pieces_and_gaps or (tokens, [""] + [" "] * (len(tokens) - 1))
    if not len(pieces) == len(gaps) == len(tokens) == len(tokens if special is None else special):
        raise HeadlightError(
            f"{len(tokens)} pieces, gaps and special marks", f"{len(pieces)}, {len(gaps)}", "One per token."
        )
    marks = [False] * len(tokens) if special is None else [bool(mark) for mark in special]
    return {
        "pieces": [str(piece)[:200] for piece in pieces[:MOST]],
        "gaps": [str(gap)[:200] for gap in gaps[:MOST]],
        "special": marks[:MOST],
    }
