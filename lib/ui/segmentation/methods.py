"""Methods on this text or on its corpus: the product's own ways beside every baseline."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import streamlit as st

from lib.corpora import Document, sentence_spans
from lib.segmentation import Segmentation, Timed, boundary_scores, every_cut, under
from lib.segmentation.benchmark import table
from lib.segmentation.judging import Result
from lib.segmentation.sentence_benchmark import sentence_results_on
from lib.segmentation.topic_benchmark import topic_results_on
from lib.ui import cached
from lib.ui.downloads import download_row, provenance
from lib.ui.job import worked
from lib.ui.progress import Progress, progress_line
from lib.ui.scene import Scene
from lib.ui.segmentation.controls import Ask
from lib.ui.segmentation.cutting import LONG
from lib.ui.segmentation.source import Source
from lib.ui.segmentation.tables import failure_list, result_table, score_table
from lib.ui.segmentation.wording import share
from lib.ui.tables import csv_table

AT_ONCE = 400  # words up to which nobody has to press a button


def methods_panel(now: Scene, source: Source, ask: Ask, shown: str, cut: Segmentation | None) -> None:
    """Draw the table: scores where the truth is known, else how far the methods agree with the cut above."""
    topics = ask.granularity == "topic"
    if source.gold is None or (topics and len(source.document.topics) < 2):
        _without_truth(now, source, topics, cut)
        return
    gold = [d for d in now.documents if d.gold and (not topics or len(d.topics) > 1)]
    st.session_state["segmentation-documents"] = min(st.session_state.get("segmentation-documents", 1), len(gold))
    count = st.number_input(
        f"Documents of {len(gold)}",
        1,
        max(1, len(gold)),
        key="segmentation-documents",
        persist_state="session",
        width=160,
        help="1: the document above. More: the first of the corpus, with intervals over documents.",
    )
    documents = [source.document] if count == 1 else [under(d, shown) for d in gold[: int(count)]]
    if count > 1 and shown != "written":
        st.caption("All of them without what was taken from the document above.")
    key = f"{now.engine.key} {topics} {' '.join(d.hash[:12] for d in documents)}"
    work = partial(_judged, now.engine, documents, topics, source.name if count == 1 else now.choice.corpus)
    results = _result("segmentation-methods", key, "Judge all methods", work, documents)
    if results is None:
        return
    result_table(results)
    failure_list(results, "segmentation-fails")
    facts = provenance(now, corpus_documents=len(documents), condition=shown)
    files = {"Scores as CSV": ("headlight-methods.csv", "text/csv", lambda: csv_table(table(results), facts))}
    download_row(files, "methods")


def _judged(engine: object, documents: list[Document], topics: bool, corpus: str, progress: Progress) -> list[Result]:
    if topics:
        return topic_results_on(documents, corpus, engine, progress)
    return sentence_results_on(documents, corpus, engine, ["written"], progress)


def _result(what: str, key: str, label: str, work: Callable[..., object], documents: list[Document]) -> object | None:
    """At once where the texts are short, else when asked for, beside the page."""
    if sum(len(d.text.split()) for d in documents) > AT_ONCE:
        return worked(what, key, label, work)

    def build() -> object:
        with progress_line() as progress:
            return work(progress)

    return cached.kept(what, key, build)


def _without_truth(now: Scene, source: Source, topics: bool, cut: Segmentation | None) -> None:
    """Where every method cuts, told by how far it agrees with the cut above."""
    if cut is None or len(source.text.split()) > 4 * LONG:
        st.caption("Methods are compared on texts that have been cut, of at most 24,000 words.")
        return
    sentences = sentence_spans(source.text) if topics else None
    if topics and len(sentences) < 2:
        st.caption("One sentence has no topics to compare.")
        return
    work = partial(every_cut, source.text, now.engine, sentences)
    key = f"{now.engine.key} {source.digest} {topics}"
    found: list[Timed] | None = _result("segmentation-compare", key, "Compare all methods", work, [source.document])
    if found is None:
        return
    words = len(source.text.split())
    rows = []
    for one in found:
        count = len(one.boundaries) + 1
        agree = boundary_scores(cut.boundaries.tolist(), np.unique(one.boundaries).tolist())
        cells = one.method, f"{count:,}", f"{words / count:.1f}", share(agree.f1), f"{1000 * one.seconds:,.0f}"
        rows.append([(cell, "") for cell in cells])
    unit = "topics" if topics else "sentences"
    score_table(("method", unit, "words each", "F1 against the cut above", "ms per 1,000 tokens"), rows)
    st.caption("The true boundaries of this text are not known: nothing here says who is right.")
