"""The main picture with its numbers and downloads: the text in segments at the threshold that was dragged."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import streamlit as st

from lib.numerals import plural, written
from lib.segmentation import (
    CONDITIONS,
    Segmentation,
    as_blocks,
    as_csv,
    as_json,
    as_text,
    boundary_scores,
    calibration_for,
    pk,
    window_diff,
)
from lib.segmentation.positions import boundaries_of, gaps_at
from lib.segmentation.topics import topic_names
from lib.ui.downloads import download_row, provenance
from lib.ui.scene import Scene
from lib.ui.segmentation.controls import Ask
from lib.ui.segmentation.cutting import Made
from lib.ui.segmentation.source import MARKUP, Source
from lib.ui.segmentation.tables import facts_table
from lib.ui.segmentation.wording import SIGNAL_NAMES, condition_name, share
from lib.views import Figure, figure_html
from lib.views.segments import STEPS, segments, segments_figure

WHOLE = "found as a whole"  # in place of a threshold
DRAGGED = "segmentation-threshold"  # session state: (key of the cut, threshold in thousandths)


def dragged(found: Made) -> int | None:
    """The threshold that was set by hand for this very cut, in thousandths."""
    key, step = st.session_state.get(DRAGGED, ("", None))
    return step if key == found.key else None


def at_threshold(found: Made) -> Segmentation:
    """The cut as it is shown: as found, or at the dragged threshold; topics keep their names."""
    step = dragged(found)
    if step is None:
        return found.cut
    cut = found.cut.at(step / STEPS)
    if cut.granularity != "topic":
        return cut
    return replace(cut, names=topic_names(cut.text, cut.boundaries.tolist()))


def gold_offsets(source: Source, cut: Segmentation) -> np.ndarray | None:
    """True boundaries of the cut's granularity as offsets among its gaps, None where they are not known."""
    if source.gold is None:
        return None
    spans = source.document.topics if cut.granularity == "topic" else source.document.sentences
    if cut.granularity == "topic" and len(spans) < 2:
        return None  # a document of one topic says nothing of topics
    return cut.gaps[gaps_at(boundaries_of(spans), np.r_[cut.gaps, len(cut.text)])]


def picture(found: Made, cut: Segmentation, source: Source) -> Figure:
    """Draw the text; returns its figure."""
    threshold = found.cut.threshold
    gold = gold_offsets(source, cut)
    lined = threshold == threshold or dragged(found) is not None
    drag = "drag the dashed line or the slider" if lined else "drag the slider to cut at a threshold instead"
    note = f"At the right: confidence that the {cut.granularity} ends there. "
    note += f"Hover the curve for a place, click it to go there, {drag}." + " ▲ true boundaries." * (gold is not None)
    figure = segments_figure(
        source.text,
        found.cut.gaps,
        found.cut.score,
        found.cut.boundaries,
        None if threshold != threshold else threshold,  # NaN: found as a whole
        unit=cut.granularity,
        names=cut.names,
        gold=gold,
        start=dragged(found),
        coloured=cut.granularity == "topic",
        note=note if found.cut.score.any() else "",
    )

    def choose(step: int | None) -> None:
        st.session_state[DRAGGED] = (found.key, step)

    segments(figure, "segmentation-picture", choose)
    return figure


def words_each(sizes: Sequence[int]) -> str:
    """How long the segments are: the mean with its range, or the one length there is.

    >>> words_each([3, 4]), words_each([248]), words_each([1, 1])
    ('3.5 words each, 3 – 4', '248 words', '1 word each')
    """
    if min(sizes) < max(sizes):
        return f"{written(float(np.mean(sizes)), '.1f')} words each, {min(sizes):,} – {max(sizes):,}"
    return plural(sizes[0], "word") + (" each" if len(sizes) > 1 else "")


def numbers(now: Scene, found: Made, cut: Segmentation, source: Source, ask: Ask) -> None:
    """What is known of the cut, in a quiet table, and what to know before trusting it."""
    sizes = [len(cut.text[a:b].split()) for a, b in cut.segments] or [0]
    rows = [(plural(len(cut.segments), cut.granularity), words_each(sizes))]
    if found.cut.score.any():
        rows.append(("Threshold", WHOLE if cut.threshold != cut.threshold else share(cut.threshold)))
    if len(cut.confidence):
        rows.append(
            ("Confidence", f"median {share(float(np.median(cut.confidence)))}, weakest {share(min(cut.confidence))}")
        )
    rows += _gold_rows(cut, source)
    if ask.strength in ("surface", "heads") and found.cut.score.any():  # else no calibration was asked
        rows += _calibration_rows(now, found, ask)
    rate = f", {found.tokens / found.seconds:,.0f} a second" if found.tokens > 2000 else ""
    rows.append(("Length", f"{plural(found.tokens, 'token')}{rate}"))
    facts_table("This cut", rows)
    told = ask.strength in ("surface", "heads")  # the table says which condition was recognised
    notes = [note for note in cut.notes if not (told and note.startswith("Read as text"))]
    method = cut.method.replace(ask.signal, SIGNAL_NAMES[ask.signal], 1) if ask.signal else cut.method
    for line in (f"{method[:1].upper()}{method[1:]}.", *notes):
        st.caption(line.translate(MARKUP))


def _gold_rows(cut: Segmentation, source: Source) -> list[tuple[str, str]]:
    gold = gold_offsets(source, cut)
    if gold is None:
        return []
    length = len(cut.gaps) + 1
    ours, theirs = (np.searchsorted(cut.gaps, offsets) + 1 for offsets in (gold, cut.boundaries))
    found = boundary_scores(ours, theirs)
    return [
        ("F1", f"{share(found.f1)} over {len(gold):,} true boundaries"),
        ("Pk, WindowDiff", f"{share(pk(ours, theirs, length))}, {share(window_diff(ours, theirs, length))}"),
    ]


def _calibration_rows(now: Scene, found: Made, ask: Ask) -> list[tuple[str, str]]:
    condition = ask.condition or found.condition
    how = "chosen" if ask.condition else "recognised"
    rows = [("Text", f"{condition_name(condition)} ({how})")]
    calibration = calibration_for(now.engine, condition) if condition in CONDITIONS else None
    if calibration is not None:
        kind = "both" if ask.strength == "surface" else "attention"
        measured = calibration.measured
        told = f"F1 {share(float(measured['f1'][kind]))} on {measured['documents']} documents of {measured['corpus']}"
        rows.append(("Cross-validated", told))
    return rows


def downloads(now: Scene, found: Made, cut: Segmentation, source: Source, ask: Ask, figure: Figure) -> None:
    """The cut text to take away, as it is shown."""
    threshold = WHOLE if cut.threshold != cut.threshold else cut.threshold
    about = provenance(now, threshold=threshold, segments=len(cut.segments), seed=0)
    about |= {"document": source.name, "document hash": source.digest[:16], "tokens": found.tokens}
    about |= {"method": cut.method, "tokens cut off": 0}
    if ask.signal == "":
        about = {name: value for name, value in about.items() if name not in ("layer", "head")}
    stem = f"headlight-{cut.granularity}s"
    download_row(
        {
            "Text": (f"{stem}.txt", "text/plain", lambda: _bytes(as_text(cut))),
            "JSON": (
                f"{stem}.json",
                "application/json",
                lambda: _bytes(as_json(cut, json.loads(json.dumps(about, default=str)))),
            ),
            "CSV": (f"{stem}.csv", "text/csv", lambda: _bytes("\ufeff" + as_csv(cut, about))),
            "Subtitles": (f"{stem}.srt", "application/x-subrip", lambda: _bytes(as_blocks(cut))),
            "Page": (f"{stem}.html", "text/html", lambda: figure_html(figure, about)),
        },
        "segmentation",
    )


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")
