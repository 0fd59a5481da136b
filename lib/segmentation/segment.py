"""segment: the one door of this room."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from operator import index
from typing import Any

from lib.corpora.document import Document, Span
from lib.corpora.pos import closed_class_tags
from lib.errors import HeadlightError

from .conditions import CONDITIONS
from .errors import SegmentationError
from .passes import Progress
from .segmentation import GRANULARITIES, Segmentation
from .sentences import cut_sentences
from .topics import FEATURES, cut_topics
from .windows import without_halves

FEW_LATIN, FEW_OTHER = 40, 4  # letters from which a language is judged: by its small words, or by its script


def segment(
    text: str,
    engine: Any | None,
    granularity: str = "sentence",
    segments: int | None = None,
    surface: bool = True,
    *,
    sentences: Sequence[Span] | None = None,
    features: str = "z+hidden",
    progress: Progress | None = None,
    condition: str | None = None,
) -> Segmentation:
    """Cut a text of any length into sentences or topics by what a model's heads do.

    text         of any length: it is read in overlapping windows (sentences) or sentence by sentence (topics)
    engine       a loaded text model; None reads surface cues alone, for sentences only
    granularity  "sentence" | "topic"
    segments     how many there are, None where that is not known
    surface      sentences: also read punctuation, capitals, line ends and small words
    sentences    topics: spans of the sentences where they are known; found first where they are not
    features     topics: "z+hidden" | "z" | "hidden", what a sentence's vector is made of
    progress     progress(done, total, stage); may raise to cancel
    condition    sentences: a name of CONDITIONS, the calibration to read the text with; recognised by default

    Text without punctuation or capitals is recognised and read with the calibration made for it. Halves of characters
    (lone surrogates) are read, and handed back, as U+FFFD. Raises SegmentationError where the arguments do not fit
    each other or the model cannot read text.

    **Source** Halevi et al., arXiv 2512.21956, for the idea; calibration, surface cues and change points are this
    product's.
    """
    if not isinstance(text, str):
        raise SegmentationError("a text", type(text).__name__, "Give a str; decode bytes first.")
    if granularity not in GRANULARITIES or features not in FEATURES:
        raise SegmentationError(
            f"granularity {' | '.join(GRANULARITIES)} and features {' | '.join(FEATURES)}",
            f"{granularity!r} and {features!r}",
            "Choose one of these.",
        )
    if condition is not None and condition not in list(CONDITIONS):
        raise SegmentationError("a condition among " + ", ".join(CONDITIONS), repr(condition), "Choose one of these.")
    if segments is not None and (not isinstance(segments, Integral) or segments < 1):
        raise SegmentationError(
            "a whole number of segments, at least one segment", repr(segments), "Leave it out where it is not known."
        )
    text = without_halves(text)
    if not text.strip():
        return Segmentation(text, granularity, [], [], [], 0.5, "nothing to cut", notes=("There is no text.",))
    if granularity == "topic":
        if engine is None:
            raise SegmentationError("a model that reads the sentences", "none", "Load one, such as all-MiniLM-L6-v2.")
        sentences = None if sentences is None else _checked(sentences, text)
        cut = cut_topics(text, engine, segments, sentences, features, progress)
    else:
        cut = cut_sentences(text, engine, segments, surface, progress, condition)
    return cut if engine is None else _with_warning(cut, engine)


def _checked(sentences: Sequence[Span], text: str) -> tuple[Span, ...]:
    """Spans as they are, refused where a document could not have them."""
    try:
        spans = tuple((index(start), index(end)) for start, end in sentences)
    except (TypeError, ValueError) as error:
        raise SegmentationError(
            "sentences as pairs of whole numbers", repr(sentences)[:80], "Give [start, end) character offsets."
        ) from error
    try:
        return Document("", text, spans).sentences
    except HeadlightError as error:
        raise SegmentationError(error.expected, error.got, error.remedy) from error


def _with_warning(cut: Segmentation, engine: Any) -> Segmentation:
    """A note where the text has no words, or does not look like the English that calibrations were made on."""
    if not any(c.isalnum() for c in cut.text):
        return replace(
            cut, notes=(*cut.notes, "There are no words in this text: what tells segments apart is missing.")
        )
    words = cut.text[:20_000].split()
    letters = [c for c in cut.text[:20_000] if c.isalpha()]
    latin = sum(c < "ɐ" for c in letters)
    enough = FEW_LATIN if latin > 0.7 * len(letters) else FEW_OTHER
    tags = closed_class_tags([word.strip(".,;:!?\"'") for word in words])
    tagged = sum(tag not in ("", "NUM", "PUNCT", "SYM") for tag in tags)
    if len(letters) < enough or (latin > 0.7 * len(letters) and tagged >= 0.1 * len(words)):
        return cut
    note = (
        "This does not look like English. Calibrations were made on English text: expect little from attention where "
        f"{engine.name} has hardly seen the language, and check the cut."
    )
    return replace(cut, notes=(*cut.notes, note))
