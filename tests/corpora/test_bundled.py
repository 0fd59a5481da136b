"""The corpora that come with the product: sizes, gold boundaries, determinism."""

import colorsys
import re
from itertools import pairwise

import numpy as np
import pytest
from sklearn.datasets import load_sample_images

from lib.corpora import builtin, builtin_names, encode, from_text
from lib.corpora.articles import articles, passages
from lib.corpora.bundled import _TEXTS
from lib.corpora.gratings import SIDE, grating
from lib.errors import HeadlightError

WRITTEN = ("encyclopedia", "encyclopedia-ko", "conversation", "probes")


def test_names_describe_what_is_there():
    corpora = {corpus.name: corpus for corpus in builtin_names()}
    assert {*WRITTEN, "sampled-from-base", "topics", "gratings", "photographs"} == set(corpora)
    for name, corpus in corpora.items():
        documents = builtin(name)
        assert corpus.documents == len(documents) and corpus.kind == documents[0].kind
        assert corpus.sentences == sum(len(d.sentences) for d in documents)
        assert corpus.description and "\n" not in corpus.description
        assert len({d.name for d in documents}) == len(documents), f"two documents of {name} share a name"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(HeadlightError, match=r"'nonsense'.*encyclopedia, conversation, encyclopedia-ko, probes"):
        builtin("nonsense")


def test_a_list_handed_out_is_the_callers_own():
    builtin("probes").clear()
    assert builtin("probes")


@pytest.mark.parametrize("name", WRITTEN)
def test_documents_rebuild_the_file(name):
    raw = (_TEXTS / f"{name}.txt").read_text(encoding="utf-8")
    expected = []
    for block in re.split(r"^#.*\n", raw, flags=re.M)[1:]:
        paragraphs = [" ".join(p.strip().split("\n")) for p in re.split(r"\n\s*\n", block.strip())]
        expected.append("\n".join(paragraphs))
    documents = builtin(name)
    assert [d.text for d in documents] == expected
    lines = [line for line in raw.split("\n") if line.strip() and not line.startswith("#")]
    assert [d.text[a:b] for d in documents for a, b in d.sentences] == lines
    assert all(d.gold and d.topics == ((0, len(d.text)),) and d.subject for d in documents)


def test_encyclopedia_is_large_and_varied(minilm):
    documents = builtin("encyclopedia")
    assert len(documents) >= 60
    assert len({d.subject for d in documents}) >= 12
    assert min(len(d.sentences) for d in documents) >= 10
    encodings = [encode(d, minilm) for d in documents]
    assert sum((~e.table.is_special).sum() for e in encodings) >= 16_000
    assert sum(e.lost for e in encodings) == 0
    lengths = [len(d.text[a:b].split()) for d in documents for a, b in d.sentences]
    assert np.std(lengths) > 5 and min(lengths) <= 5 and max(lengths) >= 35
    text = " ".join(d.text for d in documents)
    for kind in (r"\b(?:Dr|St|approx|e\.g|i\.e)\.", r"\d", r"[\"“]", r";", r"\(", r"\?"):
        assert re.search(kind, text)


def test_sampled_passages_are_a_models_and_say_so():
    documents = builtin("sampled-from-base")
    raw = (_TEXTS / "sampled-from-base.txt").read_text(encoding="utf-8")
    assert 12 <= len(documents) <= 20
    assert [d.text for d in documents] == [part.strip("\n") for part in re.split(r"^#.*\n", raw, flags=re.M)[1:]]
    assert min(len(d.text) for d in documents) >= 4 * 256, "windows of 256 characters fit several times"
    assert all("\n" in d.text and not d.gold and d.sentences and d.subject == "sampled" for d in documents)
    (corpus,) = (corpus for corpus in builtin_names() if corpus.name == "sampled-from-base")
    assert "model" in corpus.description and "not Shakespeare's" in corpus.description
    label = (_TEXTS / "sampled-from-base.md").read_text(encoding="utf-8")
    assert f"{len(documents)} passages" in label
    assert "Not by Shakespeare" in label and "--seed 0" in label
    assert len({d.text for d in documents}) == len(documents)


def test_a_passage_needs_a_title_and_text():
    with pytest.raises(HeadlightError, match="line 1 of 'x': text before"):
        passages("words\n# One | sampled\nmore", "x")
    with pytest.raises(HeadlightError, match=r"line 4 of 'x'.*'Two' has no text"):
        passages("# One | sampled\nA line.\n\n# Two | sampled\n\n", "x")


def test_conversations_are_transcripts():
    documents = builtin("conversation")
    assert len(documents) >= 8
    for document in documents:
        assert "\n" not in document.text
        starts = [document.text[a:b] for a, b in document.sentences]
        turns = [s.split(":")[0] for s in starts if re.match(r"(?:Mrs\. )?[A-Z]\w+: ", s)]
        assert len(turns) >= 12 and 2 <= len(set(turns)) <= 4
        assert all(a != b for a, b in pairwise(turns)), "a speaker follows himself"
        assert re.search(r"\b(?:um|uh|hmm|mm)\b", document.text, re.I)


def test_korean_articles(minilm):
    documents = builtin("encyclopedia-ko")
    assert len(documents) >= 12 and min(len(d.sentences) for d in documents) >= 8
    for document in documents:
        letters = [c for c in document.text if c.isalpha()]
        assert encode(document, minilm).lost == 0
        assert sum("가" <= c <= "힣" for c in letters) > 0.9 * len(letters)


def test_probes_cover_their_kinds():
    documents = builtin("probes")
    kinds = {d.subject for d in documents}
    assert {"repetition", "sentence pair", "coreference", "garden path", "names", "numbers"} <= kinds
    for document in documents:
        assert (document.second is not None) == (document.subject == "sentence pair")
        if document.second is not None:
            assert document.second == document.sentences[1][0] and len(document.sentences) == 2


def test_topic_mosaics():
    known = {d.text[a:b]: d.subject for d in builtin("encyclopedia") for a, b in d.sentences}
    documents = builtin("topics")
    assert len(documents) == 20
    for document in documents:
        assert 5 <= len(document.topics) <= 9 and document.gold
        assert document.text.split("\n") == [document.text[a:b] for a, b in document.sentences]
        subjects = []
        for start, end in document.topics:
            inside = [document.text[a:b] for a, b in document.sentences if start <= a and b <= end]
            assert 4 <= len(inside) <= 11
            (subject,) = {known[sentence] for sentence in inside}
            subjects.append(subject)
        assert all(a != b for a, b in pairwise(subjects))
        assert document.topics[0][0] == 0 and document.topics[-1][1] == len(document.text)


def test_gratings_have_the_frequency_and_angle_they_say():
    for cycles in (4, 8, 16):
        for angle, (rows, columns) in {0: (0, 1), 90: (1, 0)}.items():
            spectrum = np.abs(np.fft.fft2(grating(cycles, angle)[:, :, 0].astype(float)))
            spectrum[0, 0] = 0
            peak = np.unravel_index(spectrum.argmax(), spectrum.shape)
            folded = [min(k, SIDE - k) for k in peak]
            assert folded == [rows * cycles, columns * cycles]
    diagonal = grating(8, 45)[:, :, 0]
    assert (diagonal == diagonal.T).all() and (grating(8, 45) == grating(8, 45)).all()


def test_generated_images_are_what_their_names_say():
    images = {d.name: d.image for d in builtin("gratings")}
    assert (np.diff(images["brightness from left to right"][0, :, 0].astype(int)) >= 0).all()
    assert (np.ptp(images["hue from top to bottom"], axis=1) == 0).all()
    assert len(np.unique(images["plain grey"])) == 1
    hues = images["hue from left to right"][5] / 255
    oracle = [colorsys.hsv_to_rgb(x / (SIDE - 1) * 5 / 6, 1, 1) for x in range(SIDE)]
    assert np.abs(hues - oracle).max() < 0.003
    board = images["checkerboard of 4 × 4"][:, :, 0]
    assert board[10, 10] == 0 and board[10, 70] == 255 and board[70, 70] == 0 and abs(board.mean() - 127.5) < 3
    assert all(image.shape == (SIDE, SIDE, 3) for image in images.values())


def test_photographs():
    temple, flower = builtin("photographs")
    oracle = load_sample_images().images
    assert (temple.image == oracle[0]).all() and (flower.image == oracle[1]).all()
    assert (temple.name, flower.name) == ("china", "flower")
    assert temple.image.shape == flower.image.shape == (427, 640, 3)


@pytest.mark.parametrize(
    ("text", "line"), [("A sentence.\n# Title | s\nOne.", 1), ("# One | s\nOne.\n\n# Two | s\n\n", 4)]
)
def test_a_malformed_text_file_names_the_line(text, line):
    with pytest.raises(HeadlightError, match=f"line {line} of 'own.txt'"):
        articles(text, "own.txt")


def test_korean_reaches_the_default_model_readably(minilm):
    table = encode(builtin("encyclopedia-ko")[0], minilm).table
    assert table.text[1] == "ᄃ" and table.start[1] == 0
    assert from_text(builtin("encyclopedia-ko")[0].text)[0].text.startswith("달은")
