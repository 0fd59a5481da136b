"""The benchmark: all methods on gold corpora that are here, or on a gold file of the visitor's own."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from functools import partial
from pathlib import Path
from shlex import quote
from tempfile import TemporaryDirectory

import streamlit as st

from lib.corpora import Document, external_names
from lib.numerals import plural
from lib.segmentation import CONDITIONS
from lib.segmentation.benchmark import SOURCES, table
from lib.segmentation.gold import gold_documents
from lib.segmentation.judging import Result
from lib.segmentation.sentence_benchmark import sentence_results_on
from lib.segmentation.topic_benchmark import topic_results_on
from lib.ui import cached
from lib.ui.downloads import download_row, provenance
from lib.ui.job import worked
from lib.ui.progress import Progress
from lib.ui.scene import Scene
from lib.ui.segmentation.controls import Ask
from lib.ui.segmentation.tables import failure_list, result_table
from lib.ui.segmentation.wording import condition_name
from lib.ui.tables import csv_table

OWN = "a file of your own"
FEW = 12  # documents at first
NO_SENTENCES = ("tinyshakespeare",)  # corpora from outside whose sentences are a rule's


def offered(topics: bool) -> list[str]:
    """Gold corpora by name: built in, then those of the data folder, then the visitor's own file."""
    outside = [name for name in external_names() if name not in NO_SENTENCES and name.startswith("choi") == topics]
    return [*SOURCES["topic" if topics else "sentence"], *outside, OWN]


def uploaded_gold(content: bytes, name: str, granularity: str) -> list[Document]:
    """Gold documents of an uploaded file; raises as `gold_documents` does, with the line number where there is one."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / (Path(name).name or "gold.txt")
        path.write_bytes(content)
        documents = gold_documents(str(path), granularity)
        mine = f"{Path(folder).name}/"  # Choi's documents are named by their folder
        return [replace(document, name=document.name.removeprefix(mine)) for document in documents]


def benchmark_panel(now: Scene, ask: Ask) -> None:
    """Draw controls, progress, tables, failures."""
    topics = ask.granularity == "topic"
    with st.container(horizontal=True, vertical_alignment="bottom"):
        source = st.selectbox(
            "Gold", offered(topics), key=f"segmentation-gold-{ask.granularity}", persist_state="session", width=190
        )
        count = st.number_input(
            "Documents at most", 1, 10_000, FEW, key="segmentation-most", persist_state="session", width=140
        )
        conditions = ["written"]
        if not topics:
            conditions = st.pills(
                "Conditions",
                list(CONDITIONS),
                selection_mode="multi",
                default=["written", "lowered-unstopped", "bare"],
                format_func=condition_name,
                key="segmentation-conditions",
                persist_state="session",
                wrap=True,
            )
            conditions = [name for name in CONDITIONS if name in conditions]  # in their own order
    documents, digest = _documents(source, ask.granularity)
    if documents is None:
        return
    if not conditions:
        st.caption("Choose a condition.")
        return
    chosen = documents[: int(count)]
    key = f"{now.engine.key} {source} {digest} {len(chosen)} {ask.granularity} {conditions}"
    work = partial(_run, now.engine, chosen, topics, source, conditions)
    label = f"Judge all methods on {plural(len(chosen), 'document')}"
    results: list[Result] | None = worked("segmentation-benchmark", key, label, work)
    if results is None:
        st.caption("Documents that a calibration was made from are left out. Nothing is fitted to what is judged here.")
        return
    result_table(results)
    failure_list(results, "segmentation-benchmark-fails")
    facts = provenance(now, corpus=source, corpus_documents=len(chosen), seed=0)
    files = {"Benchmark as CSV": ("headlight-benchmark.csv", "text/csv", lambda: csv_table(table(results), facts))}
    download_row(files, "benchmark")
    st.caption("The same on the command line:")
    st.code(_command(now, source, ask, conditions, len(chosen)), language="bash", wrap_lines=True)


def _documents(source: str, granularity: str) -> tuple[list[Document] | None, str]:
    """Gold documents and a digest of an own file; None while none was given."""
    if source != OWN:
        return cached.kept("gold", f"{source} {granularity}", lambda: gold_documents(source, granularity)), ""
    upload = st.file_uploader(
        "Gold file",
        type=["conllu", "ref", "txt", "jsonl"],
        key="segmentation-upload",
        max_upload_size=5,
        help="CoNLL-U; Choi's format (.ref); one sentence a line (.txt); JSON lines with “sentences” or “topics”.",
    )
    if upload is None:
        return None, ""
    content = upload.getvalue()
    digest = hashlib.sha256(content).hexdigest()[:24]
    key = f"{digest} {upload.name} {granularity}"
    return cached.kept("gold", key, lambda: uploaded_gold(content, upload.name, granularity)), digest


def _run(
    engine: object,
    documents: list[Document],
    topics: bool,
    source: str,
    conditions: list[str],
    progress: Progress,
) -> list[Result]:
    if topics:
        return topic_results_on(documents, source, engine, progress)
    return sentence_results_on(documents, source, engine, conditions, progress)


def _command(now: Scene, source: str, ask: Ask, conditions: list[str], documents: int) -> str:
    """The same on the command line."""
    name = "YOUR-FILE" if source == OWN else quote(source)
    asked = "" if ask.granularity == "topic" else f" --conditions {' '.join(conditions)}"
    return (
        f"python -m lib.segmentation.benchmark {name} --granularity {ask.granularity} --model {quote(now.engine.name)} "
        f"--documents {documents}{asked}"
    )
