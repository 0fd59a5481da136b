"""What the model gave over texts, for every page: one name for each capture, so that none is computed twice."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from lib.capture import Capture, stored
from lib.corpora import Document, Encoding, encode
from lib.errors import HeadlightError
from lib.models import Engine
from lib.ui import cached
from lib.ui.progress import progress_line
from lib.ui.scene import Scene


def corpus_key(scene: Scene, chosen: Sequence[Document], engine: Engine) -> str:
    """Names what is measured of a model over these documents, cut as the sidebar says; kept in memory alone."""
    digest = hashlib.sha256("".join(document.hash for document in chosen).encode()).hexdigest()[:24]
    return f"{engine.key} {digest} {scene.choice.tokens}"


def encodings(scene: Scene, chosen: Sequence[Document], engine: Engine) -> list[Encoding]:
    """Documents as a model reads them, cut as the sidebar says."""
    return cached.kept(
        "encodings",
        corpus_key(scene, chosen, engine),
        lambda: [encode(document, engine, max_length=scene.choice.tokens) for document in chosen],
    )


def captured(scene: Scene, chosen: Sequence[Document], keep: Sequence[str], engine: Engine | None = None) -> Capture:
    """Arrays of all heads over documents: from the store where they, or the whole corpus, were captured before.

    chosen: documents of the scene in their order; keep: as for ``capture``; engine: the scene's own if None.
    """
    engine = engine or scene.engine

    def build() -> Capture:
        read = encodings(scene, chosen, engine)
        with progress_line() as progress:
            return stored(cached.store(), engine, read, keep, _corpus(scene, chosen, engine), progress)

    return cached.kept("captured", f"{corpus_key(scene, chosen, engine)} {'+'.join(keep)}", build)


def _corpus(scene: Scene, chosen: Sequence[Document], engine: Engine) -> Iterator[tuple[list[Encoding], int]]:
    """The whole corpus as the model reads it and where the chosen documents begin, if they are a part of it."""
    every, count = scene.documents, len(chosen)
    first = next((i for i in range(len(every) - count + 1) if every[i : i + count] == tuple(chosen)), None)
    if first is None or count == len(every):
        return
    try:
        yield encodings(scene, every, engine), first
    except HeadlightError:  # another document of the corpus cannot be read, which is not this question's business
        return
