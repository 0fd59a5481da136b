"""Document: what it refuses, and that its hash is a digest of everything it holds."""

from dataclasses import replace

import numpy as np
import pytest

from lib.corpora import Document
from lib.errors import HeadlightError

WHOLE = Document(
    "name",
    "One. Two.",
    sentences=((0, 4), (5, 9)),
    topics=((0, 9),),
    second=5,
    target="three",
    words=((0, 3), (3, 4)),
    tags=("NUM", "PUNCT"),
    gold=True,
    subject="numbers",
)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"text": "One. Six."},
        {"sentences": ((0, 9),)},
        {"topics": ()},
        {"second": 4},
        {"target": None},
        {"words": ((0, 4),), "tags": ("X",)},
        {"tags": ("NUM", "SYM")},
        {"gold": False},
        {"subject": ""},
        {"image": np.zeros((20, 20, 3), np.uint8)},
    ],
)
def test_hash_and_equality_see_every_field(change):
    other = replace(WHOLE, **change)
    assert other.hash != WHOLE.hash and other != WHOLE
    assert replace(other).hash == other.hash and len({other, replace(other)}) == 1


def test_hash_does_not_run_fields_together():
    assert Document("ab", "c").hash != Document("a", "bc").hash


def test_image_is_a_read_only_copy():
    pixels = np.zeros((20, 30, 3), np.uint8)
    document = Document("image", image=pixels)
    pixels[0] = 9
    assert document.image.max() == 0 and document.kind == "image" and WHOLE.kind == "text"
    with pytest.raises(ValueError, match="read-only"):
        document.image[0] = 1


@pytest.mark.parametrize(
    ("shape", "dtype"), [((4, 4), np.uint8), ((4, 4, 4), np.uint8), ((4, 4, 3), float), ((0, 4, 3), np.uint8)]
)
def test_other_images_are_refused(shape, dtype):
    with pytest.raises(HeadlightError, match=r"uint8 \(height, width, 3\)"):
        Document("image", image=np.zeros(shape, dtype))


@pytest.mark.parametrize("spans", [((0, 10),), ((3, 3),), ((4, 6), (2, 3)), ((0, 5), (4, 6)), ((-1, 2),)])
@pytest.mark.parametrize("axis", ["sentences", "topics", "words"])
def test_spans_outside_the_text_are_refused(axis, spans):
    with pytest.raises(HeadlightError, match=f"{axis} as ascending, disjoint"):
        Document("text", "One. Two.", **{axis: spans})


@pytest.mark.parametrize("fields", [{"second": 0}, {"second": 9}, {"words": ((0, 3),), "tags": ("A", "B")}])
def test_a_pair_without_second_text_and_tags_without_words_are_refused(fields):
    with pytest.raises(HeadlightError):
        Document("text", "One. Two.", **fields)
