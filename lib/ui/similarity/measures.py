"""What the page measures, each once: captures lie in the store, statistics are kept by model, texts and settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import pandas as pd
import streamlit as st

from lib import models
from lib.capture import Capture
from lib.corpora import Document
from lib.models import Engine
from lib.similarity import ColumnMass, Evidence, Measured, column_mass, measure, summary
from lib.similarity.matrix import Kind
from lib.ui import cached
from lib.ui.captured import captured, corpus_key, encodings
from lib.ui.downloads import provenance
from lib.ui.progress import progress_line
from lib.ui.scene import Scene, corpora_for

OF_ONE = ("document", "document hash", "tokens", "tokens cut off", "special tokens", "layer", "head")  # of provenance


@dataclass(frozen=True)
class Ask:
    """What the controls ask for: how many documents, which pairs, of what, and of which stream (None: the main)."""

    documents: int
    top: float
    kind: Kind
    words: bool
    stream: str | None
    special: bool


def kept_here(what: str, key: str, build: Callable[[], Any]) -> Any:
    """``cached.kept``, with one place on the page for the progress of the making, taken also where nothing is made.

    Without it all that follows would stand one place further down while something is made, and the browser, which
    knows a picture by its place, would build every one anew at the next redraw, its selection lost.
    """
    with st.empty():
        return cached.kept(what, key, build)


def documents(scene: Scene, ask: Ask) -> tuple[Document, ...]:
    """The first documents of the chosen corpus, as many as asked for."""
    return scene.documents[: ask.documents]


def corpus_name(scene: Scene) -> str:
    """The chosen corpus as the sidebar calls it; of the user's own text its name, not its id."""
    return corpora_for("image" if scene.engine.kind == "vision" else "text")[scene.choice.corpus]


def corpus_facts(scene: Scene, ask: Ask) -> dict[str, object]:
    """What a file about all the documents says of itself: of them and of the settings, not of the chosen document."""
    settings = {name: value for name, value in vars(ask).items() if name != "documents"}
    facts = provenance(
        scene,
        corpus=corpus_name(scene),
        corpus_documents=len(documents(scene, ask)),
        most_tokens=scene.choice.tokens,
        **settings,
    )
    return {name: value for name, value in facts.items() if name not in OF_ONE}


def outputs(scene: Scene, chosen: tuple[Document, ...], stream: str | None, engine: Engine | None = None) -> Capture:
    """Head outputs z of documents, from the store where they are known."""
    with st.empty():  # as in ``kept_here``
        taken = captured(scene, chosen, ("z",), engine)
    return taken.streams[stream] if stream else taken


def measured(scene: Scene, ask: Ask, engine: Engine | None = None) -> Measured:
    """Every statistic of every head over the asked documents."""
    engine = engine or scene.engine
    chosen = documents(scene, ask)

    def build() -> Measured:
        taken = outputs(scene, chosen, ask.stream, engine)
        with progress_line() as progress:
            return measure(taken, ask.top, ask.kind, ask.special, ask.words, progress)

    return kept_here("measured", measured_key(scene, ask, engine), build)


def measured_key(scene: Scene, ask: Ask, engine: Engine | None = None) -> str:
    """Names what ``measured`` gives, and all that follows from it alone."""
    return f"{corpus_key(scene, documents(scene, ask), engine or scene.engine)} {ask}"


def head_table(scene: Scene, ask: Ask) -> pd.DataFrame:
    """One row per head: every statistic, its chance and lift, with intervals simultaneous over all heads."""
    key = measured_key(scene, ask)
    return kept_here("head table", key, lambda: summary(measured(scene, ask), simultaneous=True))


def mass(scene: Scene, ask: Ask, engine: Engine | None = None) -> ColumnMass:
    """Where the attention maps themselves put their weight, over the asked documents; rows of ordinary tokens."""
    engine = engine or scene.engine
    chosen = documents(scene, ask)

    def build() -> ColumnMass:
        read = encodings(scene, chosen, engine)
        with progress_line() as progress:
            return column_mass(engine, read, stream=ask.stream, progress=progress)

    return kept_here("column mass", f"{corpus_key(scene, chosen, engine)} {ask.stream}", build)


def evidence(scene: Scene, ask: Ask, engine: Engine | None = None) -> Evidence:
    """What the claims are decided from: tokens without special ones, both similarities, attention mass."""
    plain = replace(ask, words=False, special=False)
    dot, cosine = (measured(scene, replace(plain, kind=kind), engine) for kind in ("dot", "cosine"))
    return Evidence(dot, cosine, mass(scene, plain, engine))


def twin_evidence(scene: Scene, ask: Ask) -> Evidence:
    """The same of the untrained twin, which is built, measured and released."""

    def build() -> Evidence:
        with st.spinner("Drawing the weights of the untrained twin", show_time=True):
            twin = models.untrained_twin(scene.engine)
        try:
            return evidence(scene, ask, twin)
        finally:
            twin.release()

    key = f"{corpus_key(scene, documents(scene, ask), scene.engine)} {ask.top} {ask.stream}"
    return kept_here("twin evidence", key, build)


@dataclass(frozen=True)
class Second:
    """What a second model showed on the same documents."""

    outputs: Capture
    measured: Measured


def second_model(scene: Scene, ask: Ask, name: str) -> Second:
    """Load another model, measure it on the same documents, release it. Raises as loading and capturing do."""

    def build() -> Second:
        with st.spinner(f"Loading {name}", show_time=True):
            engine = models.load(name, device=scene.choice.device, dtype=scene.choice.dtype)
        try:
            return Second(outputs(scene, documents(scene, ask), ask.stream, engine), measured(scene, ask, engine))
        finally:
            engine.release()

    key = f"{name} {scene.choice.device} {scene.choice.dtype} {corpus_key(scene, documents(scene, ask), scene.engine)}"
    return kept_here("second model", f"{key} {ask}", build)
