"""A cut text: coloured segments, the confidence of every gap as a curve, and a threshold dragged in the browser."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence

import numpy as np

from lib.views import palette
from lib.views.component import Figure, show
from lib.views.packet import pack

STEPS = 1000  # of the threshold from 0 to 1
AS_FOUND = STEPS + 1  # sent by the browser where the threshold is given up
BYTES = 1_400_000  # of text and gaps that are sent
PER_GAP = 10  # bytes at most: step 4, score 4, found 1, gold 1
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
        text: what was cut; what exceeds 1.4 MB with its gaps is left out and announced.
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
    gaps, score = np.asarray(gaps, np.int64), np.asarray(score, np.float32)
    found, true = np.isin(gaps, boundaries), np.isin(gaps, [] if gold is None else gold)
    kept = (score > 0) | found | true
    end = shown_end(text, gaps[kept])
    if end < len(text):
        note = f"{note} Shown: the first {end:,} of {len(text):,} characters; downloads hold everything.".strip()
    kept &= gaps < end
    shown = text[:end]
    steps = np.diff(utf16_offsets(shown)[gaps[kept]], prepend=0)
    data = {
        "text": np.frombuffer(shown.encode("utf-8", "replace"), np.uint8),
        "steps": steps.astype(np.uint16 if steps.max(initial=0) < 2**16 else np.uint32),
        "score": score[kept],
        "found": found[kept].astype(np.uint8),
    }
    if gold is not None:
        data["gold"] = true[kept].astype(np.uint8)
    digest = hashlib.sha256(b"".join(array.tobytes() for array in data.values())).hexdigest()[:16]
    label = f"a text in {unit}s"
    meta = {
        "id": digest,
        "unit": unit,
        "threshold": None if threshold is None else float(threshold),
        "start": start,
        "names": [str(name)[:80] for name in names],
        "unreachable": 0 if gold is None or end < len(text) else len(set(map(int, gold)) - set(gaps.tolist())),
        "colours": list(TOPIC_COLOURS) if coloured else [],
        "gold_colour": palette.OUTPUT,
        "note": note,
        "label": label,
    }
    return Figure("segments", pack(meta, data), (AS_FOUND + 1,), label)


def shown_end(text: str, gaps: np.ndarray) -> int:
    """How many characters of a text are sent: all, or up to the last gap (gap,) that the payload has room for."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    size = np.r_[0, np.cumsum(1 + (points > 0x7F) + (points > 0x7FF) + (points > 0xFFFF))]  # bytes of UTF-8
    if size[-1] + PER_GAP * len(gaps) <= BYTES:
        return len(text)
    fits = gaps[size[gaps] + PER_GAP * np.arange(1, len(gaps) + 1) <= BYTES]
    return int(fits[-1]) if len(fits) else int(np.searchsorted(size, BYTES, side="right")) - 1


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
