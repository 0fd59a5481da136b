"""What the panels of this page measure, each once: kept by model, documents, stream and special tokens."""

from __future__ import annotations

import numpy as np
import pandas as pd

from lib.corpora import Document
from lib.heads import all_heads, examples, likeness, profile, score_heads, tally_heads
from lib.heads.likeness import pattern_likeness
from lib.heads.outcome import Head
from lib.heads.profile import Profile
from lib.heads.roles import with_roles
from lib.heads.tally import Tally, frame
from lib.ui import cached
from lib.ui.captured import corpus_key, encodings
from lib.ui.progress import progress_line
from lib.ui.scene import Scene

ROWS = 96  # of the document's patterns, evenly spaced, for "heads like this one"


def key_of(scene: Scene, documents: tuple[Document, ...], stream: str) -> str:
    """Names a model with documents, cut as the sidebar says, a stream, and whether special tokens count."""
    return f"{corpus_key(scene, documents, scene.engine)} {stream} {scene.choice.special}"


def stream_of(stream: str) -> str | None:
    """A stream as the measures name it: None for the only one."""
    return None if stream == "self" else stream


def every_head(scene: Scene, stream: str) -> list[Head]:
    """Every (layer, head) of a stream; kept, since asking a model that is at work would wait for it."""
    name = f"{scene.engine.key} {stream}"
    return cached.kept("heads: every", name, lambda: all_heads(scene.engine, stream_of(stream)))


def tally(scene: Scene, documents: tuple[Document, ...], stream: str) -> Tally:
    """The scores of every head in each of some documents."""

    def build() -> Tally:
        read = encodings(scene, documents, scene.engine)
        with progress_line() as progress:
            return tally_heads(scene.engine, read, stream_of(stream), scene.choice.special, progress)

    return cached.kept("heads: tally", key_of(scene, documents, stream), build)


def document_table(scene: Scene, stream: str) -> pd.DataFrame:
    """Scores, chance and roles of every head in the chosen document alone: no intervals, so roles end in "?"."""
    documents = (scene.document,)
    return cached.kept(
        "heads: document",
        key_of(scene, documents, stream),
        lambda: with_roles(frame(tally(scene, documents, stream)), 1),
    )


def known_document_table(scene: Scene, stream: str) -> pd.DataFrame | None:
    """The same where it has been measured already."""
    return cached.known("heads: document", key_of(scene, (scene.document,), stream))


def catalogue(scene: Scene, documents: tuple[Document, ...], stream: str) -> pd.DataFrame:
    """Every score of every head over documents, with chance, intervals and roles."""

    def build() -> pd.DataFrame:
        read = encodings(scene, documents, scene.engine)
        with progress_line() as progress:
            return score_heads(scene.engine, read, stream_of(stream), scene.choice.special, progress)

    return cached.kept("heads: catalogue", key_of(scene, documents, stream), build)


def known_catalogue(scene: Scene, documents: tuple[Document, ...], stream: str) -> pd.DataFrame | None:
    """The same where it has been measured already."""
    return cached.known("heads: catalogue", key_of(scene, documents, stream))


def document_likeness(scene: Scene, pattern: np.ndarray, stream: str) -> np.ndarray:
    """Mean squared Hellinger distances (head, head) over evenly spaced rows of the chosen document.

    pattern: (layer, head, query_pos, key_pos).
    """
    rows = np.unique(np.linspace(0, pattern.shape[2] - 1, min(ROWS, pattern.shape[2])).astype(int))
    return cached.kept(
        "heads: likeness here",
        key_of(scene, (scene.document,), stream),
        lambda: pattern_likeness(pattern[:, :, rows].reshape(-1, len(rows), pattern.shape[3]), "hellinger"),
    )


def corpus_likeness(scene: Scene, documents: tuple[Document, ...], stream: str, kind: str) -> np.ndarray:
    """Distances (head, head) over documents; kind "js" or "hellinger"."""

    def build() -> np.ndarray:
        read = encodings(scene, documents, scene.engine)
        with progress_line() as progress:
            return likeness(scene.engine, read, kind, stream_of(stream), progress)

    return cached.kept("heads: likeness", f"{key_of(scene, documents, stream)} {kind}", build)


def head_profile(scene: Scene, documents: tuple[Document, ...], stream: str, layer: int, head: int) -> Profile:
    """Lags and tokens of one head over documents."""

    def build() -> Profile:
        read = encodings(scene, documents, scene.engine)
        with progress_line() as progress:
            return profile(scene.engine, read, layer, head, stream_of(stream), progress=progress)

    return cached.kept("heads: profile", f"{key_of(scene, documents, stream)} {layer} {head}", build)


def head_examples(
    scene: Scene, documents: tuple[Document, ...], stream: str, layer: int, head: int, score: str
) -> pd.DataFrame:
    """Sequences from the head's strongest to its weakest by a score."""

    def build() -> pd.DataFrame:
        with progress_line() as progress:
            return examples(
                scene.engine, documents, layer, head, score,
                stream=stream_of(stream), progress=progress, max_length=scene.choice.tokens,
            )  # fmt: skip

    return cached.kept("heads: examples", f"{key_of(scene, documents, stream)} {layer} {head} {score}", build)
