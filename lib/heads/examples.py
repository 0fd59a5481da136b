"""Examples of a head from its strongest sequences to its typical ones: the best alone would mislead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from lib.capture import Block, observe
from lib.capture.batching import encoded
from lib.capture.check import trusted
from lib.corpora import Document, Encoding, TokenTable, encode
from lib.errors import HeadlightError
from lib.heads.outcome import Progress
from lib.heads.scene import scene
from lib.heads.scores import row_scores, scores_of

BUCKETS = {"strongest": 0.0, "top tenth": 0.1, "upper quarter": 0.25, "typical": 0.5, "weakest": 1.0}
WINDOW = 32  # tokens of a sequence where a document has no sentences to cut it by
LEAST = 3  # rows that must define the score


def examples(
    engine: Any,
    documents: Sequence[Document | Encoding],
    layer: int,
    head: int,
    score: str = "confidence",
    per_bucket: int = 3,
    stream: str | None = None,
    progress: Progress | None = None,
    max_length: int | None = None,
) -> pd.DataFrame:
    """Sequences of a corpus on which a head scores highest, and others down to the median and the lowest.

    A sequence is a sentence, 32 tokens of a document of one sentence, or one image; its score is the mean over its
    rows. Buckets sit at fixed places of the ranking: the strongest, at a tenth, at a quarter, at half (typical), the
    weakest. Columns: bucket, rank (1 is the strongest), of (how many there are), score, document (index), first, last
    (positions of its tokens), text. Sequences in which fewer than three rows define the score do not take part.

    max_length: tokens of a document at most; the model's own window applies as well.

    Raises HeadlightError for an unknown score or where no sequence defines it.
    """
    encodings = encoded(
        engine, [encode(one, engine, max_length) if isinstance(one, Document) else one for one in documents]
    )
    stream = trusted(engine).stream(stream)
    ranker = _Ranker(engine, encodings, layer, head, score)
    observe(engine, encodings, ranker, layers=[layer], stream=stream, progress=progress)
    found = sorted(ranker.found, key=lambda entry: (-entry[0], entry[1:]))
    if not found:
        raise HeadlightError(
            f"a sentence, or image, in which at least {LEAST} tokens have the score “{score.replace('_', ' ')}”",
            "none in these documents",
            "Choose another score, or a longer text.",
        )
    rows = []
    for bucket, rank in _ranks(len(found), per_bucket):
        value, document, first, last = found[rank]
        source = documents[document]
        table = scene(engine, encodings[document], stream, layer).queries
        text = _text(source if isinstance(source, Document) else None, table, first, last, stream)
        rows.append((bucket, rank + 1, len(found), value, document, first, last, text))
    return pd.DataFrame(rows, columns=["bucket", "rank", "of", "score", "document", "first", "last", "text"])


class _Ranker:
    """Observer: the mean score of every sequence."""

    needs = frozenset({"pattern"})

    def __init__(self, engine: Any, encodings: Sequence[Encoding], layer: int, head: int, score: str) -> None:
        self.engine, self.encodings, self.layer, self.head, self.score = engine, encodings, layer, head, score
        self.found: list[tuple[float, int, int, int]] = []  # score, document, first and last position

    def see(self, block: Block) -> None:
        place = scene(self.engine, self.encodings[block.document], block.stream, self.layer)
        names = [score.name for score in scores_of(place)]
        if self.score not in names:
            raise HeadlightError(f"one of the scores {', '.join(names)}", repr(self.score), "Choose one of these.")
        rows = row_scores(block.pattern[[self.head]], place)[names.index(self.score), 0]
        for first, last in sequences(place.queries):
            own = rows[first : last + 1]
            own = own[~np.isnan(own)]
            if len(own) >= LEAST:
                self.found.append((float(own.mean()), block.document, first, last))


def sequences(table: TokenTable) -> list[tuple[int, int]]:
    """First and last position of each sequence of a document."""
    ordinary = np.flatnonzero(~table.is_special)
    if not len(ordinary):
        return []
    if (table.row >= 0).any():
        return [(int(ordinary[0]), int(ordinary[-1]))]
    sentence = table.sentence[ordinary]
    if len(np.unique(sentence)) == 1:
        sentence = np.arange(len(ordinary)) // WINDOW
    starts = np.flatnonzero(np.r_[True, np.diff(sentence) != 0])
    ends = np.r_[starts[1:], len(ordinary)] - 1
    return [(int(ordinary[a]), int(ordinary[b])) for a, b in zip(starts, ends, strict=True)]


def _ranks(count: int, per_bucket: int) -> list[tuple[str, int]]:
    """Which ranks (from 0) stand for each bucket; none stands for two."""
    taken, chosen = set(), []
    for bucket, place in BUCKETS.items():
        first = round(place * (count - 1)) - (0 if place == 0 else per_bucket - 1 if place == 1 else per_bucket // 2)
        for rank in range(max(0, first), min(count, first + per_bucket)):
            if rank not in taken:
                taken.add(rank)
                chosen.append((bucket, rank))
    return chosen


def _text(document: Document | None, table: TokenTable, first: int, last: int, stream: str) -> str:
    """The characters of a sequence; its tokens where there is no text; an image's name."""
    if document is not None and document.kind == "image":
        return document.name
    text = "" if document is None else document.text
    if document is not None and stream in ("decoder", "cross") and document.target is not None:
        text = document.target
    start, end = int(table.start[first]), int(table.end[last])
    if text and 0 <= start < end <= len(text):
        return text[start:end]
    return " ".join(table.text[first : last + 1])
