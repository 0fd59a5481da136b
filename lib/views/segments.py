"""A cut text: coloured segments, the confidence of every gap as a curve, and a threshold dragged in the browser.

A threshold is a whole number of thousandths, and a gap is sent as the number of thousandths that its score reaches: so
the browser decides about every gap exactly as `Segmentation.at` does.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Sequence
from itertools import accumulate, takewhile

import numpy as np

from lib.views import palette
from lib.views.component import Figure, show
from lib.views.packet import pack

STEPS = 1000  # of the threshold from 0 to 1
AS_FOUND = STEPS + 1  # sent by the browser where the threshold is given up
BYTES = 1_200_000  # of text and gaps that are sent, deflated
NAMED = 40_000  # characters of names that are sent
UNPACKED = 2**27  # bytes of text and gaps before they are deflated
GRID = np.arange(1, STEPS + 1) / STEPS
TOPIC_COLOURS = tuple(colour for colour in palette.CATEGORICAL if colour != palette.NEUTRAL)


def segments_figure(
    text: str,
    gaps: Sequence[int],
    score: Sequence[float],
    boundaries: Sequence[int],
    threshold: float | None,
    *,
    unit: str = "sentence",
    names: Sequence[str] = (),
    gold: Sequence[int] | None = None,
    start: int | None = None,
    coloured: bool = False,
    note: str = "",
) -> Figure:
    """A text in segments, with a slider that decides in the browser which gaps are boundaries.

    Args:
        text: what was cut; what exceeds 1.2 MB with its gaps, deflated, is counted, but not shown, and announced.
        gaps: (gap,) character offsets at which the text can be cut, ascending.
        score: (gap,) confidence 0 … 1; a gap of 0 is never a boundary.
        boundaries: offsets among the gaps that were found.
        threshold: of the score that gives them; None where they were found as a whole.
        unit: what a segment is, singular.
        names: of the segments as they are at ``start``.
        gold: offsets of the true boundaries among the gaps, None where they are not known.
        start: threshold to begin with, in thousandths; None: as found.
        coloured: a colour for each segment in place of two alternating tints.
        note: a line beneath.
    """
    gaps, score = np.asarray(gaps, np.int64), np.asarray(score, np.float64)
    found, true = np.isin(gaps, boundaries), np.isin(gaps, [] if gold is None else gold)
    kept = (score > 0) | found | true
    gaps, found, true, reached = gaps[kept], found[kept], true[kept], thousandths(score[kept])
    end, packed = _deflated(text, gaps, reached, found, true if gold is not None else None)
    behind = gaps >= end
    if end < len(text):
        note = f"{note} Shown: the first {end:,} of {len(text):,} characters; downloads hold everything.".strip()
    names = [str(name)[:80] for name in names]
    label = f"a text in {unit}s"
    meta = {
        "id": hashlib.sha256(packed).hexdigest()[:16],
        "unit": unit,
        "threshold": None if threshold is None else float(threshold),
        "start": start,
        "names": names[: sum(1 for _ in takewhile(NAMED.__ge__, accumulate(map(len, names))))],
        "true": None if gold is None else len(set(map(int, gold))),
        "colours": list(TOPIC_COLOURS) if coloured else [],
        "gold_colour": palette.OUTPUT,
        "note": note,
        "label": label,
    }
    data = {"packed": np.frombuffer(packed, np.uint8)}
    if behind.any():
        data["behind"] = np.stack([cut_at_each(reached[b], found[b]) for b in (behind, behind & true)])
    return Figure("segments", pack(meta, data), (AS_FOUND + 1,), label)


def thousandths(score: np.ndarray) -> np.ndarray:
    """1 + how many of the thresholds 0.001 … 1 each score reaches, 0 for a score of 0: uint16 (gap,).

    >>> thousandths(np.array([0.0, 1e-9, 0.5, 1.0])).tolist()
    [0, 1, 501, 1001]
    """
    return np.where(score > 0, 1 + np.searchsorted(GRID, score, side="right"), 0).astype(np.uint16)


def cut_at_each(reached: np.ndarray, found: np.ndarray) -> np.ndarray:
    """How many gaps are boundaries at the thresholds 0, 1 … 1000, and last as found: uint32 (1002,).

    reached: (gap,), see `thousandths`; found: (gap,) whether it was found to be a boundary.
    """
    above = np.cumsum(np.bincount(reached, minlength=STEPS + 2)[:0:-1])[::-1]
    return np.append(above, found.sum()).astype(np.uint32)


def _deflated(
    text: str, gaps: np.ndarray, reached: np.ndarray, found: np.ndarray, true: np.ndarray | None
) -> tuple[int, bytes]:
    """How many characters of a text are sent, all or up to a gap, and those with their gaps, deflated."""
    offsets, end = utf16_offsets(text), len(text)
    while True:
        inside = gaps < end
        steps = np.diff(offsets[gaps[inside]], prepend=0)
        kind = next(kind for kind in (np.uint8, np.uint16, np.uint32) if steps.max(initial=0) <= np.iinfo(kind).max)
        data = {
            "text": np.frombuffer(text[:end].encode("utf-8", "replace"), np.uint8),
            "steps": steps.astype(kind),
            "score": reached[inside],
            "found": found[inside].astype(np.uint8),
        }
        if true is not None:
            data["gold"] = true[inside].astype(np.uint8)
        packed = zlib.compress(pack({}, data, limit=UNPACKED))
        if len(packed) <= BYTES:
            return end, packed
        most = int(0.95 * end * BYTES / len(packed))
        end = int(gaps[gaps <= most].max(initial=0)) or most


def utf16_offsets(text: str) -> np.ndarray:
    """Offset in UTF-16 units, in which a browser counts, of every character and of the end: int64 (character + 1,).

    >>> utf16_offsets("a🦊b").tolist()
    [0, 1, 3, 4]
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    return np.r_[0, np.cumsum(1 + (points > 0xFFFF).astype(np.int64))]


def segments(figure: Figure, key: str, on_threshold: Callable[[int | None], None]) -> None:
    """Mount a cut text.

    Args:
        figure: from `segments_figure`.
        key: unique on the page.
        on_threshold: called with the threshold in thousandths when the slider is let go, None for "as found".
    """
    show(figure, key, lambda step: on_threshold(None if step == AS_FOUND else step))
