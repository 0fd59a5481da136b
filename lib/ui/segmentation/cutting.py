"""The cut itself: made once per model, text and settings; a long text beside the page, with progress and a stop."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import streamlit as st

from lib.models.engine import EngineReleased
from lib.numerals import plural
from lib.segmentation import (
    STRENGTHS,
    Segmentation,
    TextSignals,
    averaged_signals,
    read_tokens,
    recognise,
    segment,
    segment_by_signal,
)
from lib.ui import cached
from lib.ui.job import JOBS, worked
from lib.ui.progress import Progress, progress_line
from lib.ui.scene import Scene
from lib.ui.segmentation.controls import Ask
from lib.ui.segmentation.source import Source

LONG = 6_000  # words from which cutting is started by hand


@dataclass(frozen=True)
class Made:
    """A cut with its length in tokens, the seconds it took, the condition recognised in the text, and its key."""

    cut: Segmentation
    tokens: int
    seconds: float
    condition: str
    key: str


def spoken_note(found: Made | None, ask: Ask) -> None:
    """Where a text was recognised as bare and surface cues read it too: what may do better on talk."""
    if found is None or not found.cut.score.any():
        return
    if ask.strength == "surface" and ask.condition is None and found.condition == "bare":
        st.caption(
            f"If this is talk, “{STRENGTHS['heads']}” may serve better: on the built-in conversations without any "
            "marks it finds more of the true boundaries than together with surface cues, which were learnt on web text."
        )


def made(now: Scene, source: Source, ask: Ask) -> Made | None:
    """The cut that was asked for; None while a long text waits or is being cut."""
    key = f"{now.engine.key} {source.digest} {source.gold is not None} {ask}"
    store = cached.store()  # asked for here: the work may run in another thread

    def build(progress: Progress) -> Made:
        start = time.perf_counter()
        cut = _cut(now, source, ask, store, progress)
        seconds = time.perf_counter() - start
        return Made(cut, len(read_tokens(source.text, now.engine)), seconds, recognise(source.text), key)

    words = len(source.text.split())
    if words > LONG:
        _told_where_given_way(f"segmentation {key}")
        return worked("segmentation", key, f"Cut {plural(words, 'word')}", build)

    def at_once() -> Made:
        with progress_line() as progress:
            return build(progress)

    return cached.kept("segmentation", key, at_once)


def _told_where_given_way(name: str) -> None:
    """Where a cut was left because another model took this one's place: say so, and let it be started again."""
    job = st.session_state.get(JOBS, {}).get(name)
    if job is not None and isinstance(job.error, EngineReleased):
        del st.session_state[JOBS][name]
        st.caption("This cut was left unfinished when another model took the place of its own.")


def _cut(now: Scene, source: Source, ask: Ask, store: object, progress: Progress) -> Segmentation:
    if ask.strength == "one" and source.text.strip():
        signals = _one_signal(now, source, ask.signal, store, progress)
        return segment_by_signal(
            source.text, now.engine, ask.signal, ask.layer, ask.head, ask.segments, progress, signals
        )
    topics = ask.granularity == "topic"
    return segment(
        source.text,
        now.engine,
        ask.granularity,
        ask.segments,
        ask.strength != "heads",
        sentences=source.document.sentences if topics and source.gold else None,
        features=ask.features or "z+hidden",
        progress=progress,
        condition=ask.condition,
    )


def _one_signal(now: Scene, source: Source, signal: str, store: object, progress: Progress) -> TextSignals:
    """One signal of all heads, kept on disk: another head is another row of it."""
    found: list[TextSignals] = []

    def build() -> dict[str, np.ndarray]:
        found.append(averaged_signals(now.engine, read_tokens(source.text, now.engine), [signal], progress=progress))
        return {"values": found[0].values, "gaps": found[0].gaps, "layers": np.array(found[0].layers)}

    held = store.arrays(f"signal {signal} {now.engine.key} {source.digest}", build)
    return TextSignals(held["values"], (signal,), tuple(map(int, held["layers"])), held["gaps"])
