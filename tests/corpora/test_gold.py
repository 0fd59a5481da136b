"""Treebanks, Choi's sets, one sentence a line: gold boundaries exactly where the source has them."""

import os
from pathlib import Path

import pytest

from lib.corpora import choi, conllu, encode, lines, read_file
from lib.errors import HeadlightError

needs_data = pytest.mark.skipif(not os.environ.get("HEADLIGHT_DATA"), reason="HEADLIGHT_DATA names no data folder")
DATA = Path(os.environ.get("HEADLIGHT_DATA", "."))


def row(number, form, tag="X", misc="_"):
    return "\t".join([number, form, "_", tag, "_", "_", "_", "_", "_", misc])


def parsed(*blocks):
    return read_file("\n\n".join("\n".join(block) for block in blocks).encode(), "bank.conllu").documents


FIRST = ["# newdoc id = one", "# newpar", "# text = It's cold.", row("1-2", "It's"), row("1", "It", "PRON")]
FIRST += [row("2", "'s", "AUX"), row("3", "cold", "ADJ", "SpaceAfter=No"), row("3.1", "ghost"), row("4", ".", "PUNCT")]
SECOND = ["# text = Very.", row("1", "Very", "ADV", "SpaceAfter=No"), row("2", ".", "PUNCT")]
THIRD = [
    "# newpar id = p2",
    row("1-2", "au", misc="SpaceAfter=No"),
    row("1", "à", "ADP"),
    row("2", "le", "DET"),
    row("3", "fin"),
]


def test_worked_example():
    one, two = parsed(FIRST, SECOND, THIRD, ["# newdoc", *SECOND])
    assert one.name == "one" and two.name == "bank 2" and one.gold
    assert one.text == "It's cold. Very.\naufin"
    assert [one.text[a:b] for a, b in one.sentences] == ["It's cold.", "Very.", "aufin"]
    words = [one.text[a:b] for a, b in one.words]
    assert words == ["It", "'s", "cold", ".", "Very", ".", "au", "fin"]
    assert one.tags == ("PRON", "AUX", "ADJ", "PUNCT", "ADV", "PUNCT", "ADP", "X")
    assert one.topics == ((0, len(one.text)),)


def test_documents_by_sentence_number_where_parallel_treebanks_have_no_newdoc():
    ids = ["n01001011", "n01001013", "n01002017"]
    documents = parsed(*(["# sent_id = " + entry, *SECOND] for entry in ids))
    assert [(d.name, len(d.sentences)) for d in documents] == [("n01001", 2), ("n01002", 1)]
    (whole,) = parsed(*(["# sent_id = s" + entry, *SECOND] for entry in ids))
    assert whole.name == "bank" and len(whole.sentences) == 3


@pytest.mark.parametrize(
    ("block", "line", "problem"),
    [
        ([*SECOND[:2], "2\t.\t_"], 7, "3 columns"),
        ([*SECOND[:2], row("two", ".")], 7, "'two' is no token number"),
        ([row("0", ".")], 5, "'0' is no token number"),
        ([row("9" * 5000, ".")], 5, "is no token number"),
        ([*SECOND[:2], row("2", "!")], 7, "word '!' is not where the text has '.'"),
        ([SECOND[0], row("1-2", "Very")], 6, "without words"),
        (["This is no treebank."], 5, "1 column separated by tabs, not 10"),
        ([SECOND[0], row("2-1", "Very"), *SECOND[1:]], 6, "token range 2-1 ends before it begins"),
        ([row("1", "So"), row("2-1", "du"), row("2", "de")], 6, "token range 2-1 ends before it begins"),
        ([row("1-3", "du"), row("1", "de"), row("2", "le")], 5, "multiword token 'du' without word 3"),
        ([row("1-4", "du"), row("1", "de"), row("2", "le")], 5, "multiword token 'du' without words 3 to 4"),
        ([row("1-3", "du"), row("1", "de"), row("2-3", "le")], 7, "token range 2-3 overlaps 1-3"),
        ([row("1", "So"), row("1", "so")], 6, "token number 1 where 2 follows; is an empty line missing before it"),
        ([row("1", "So"), row("3", "so")], 6, "token number 3 where 2 follows[.]"),
        ([row("2", "So")], 5, "token number 2 where 1 follows[.]"),
        ([row("1", "So"), row("2", "")], 6, "token 2 without a form"),
        ([SECOND[0], SECOND[1]], 6, "the text goes on with '.' after the last word"),
    ],
)
def test_malformed_lines_are_named(block, line, problem):
    with pytest.raises(HeadlightError, match=f"line {line} of 'bank[.]conllu': .*{problem}"):
        parsed(SECOND, block)


def test_sentences_that_run_together_are_not_taken_for_one():
    """Without the empty line between them, two sentences would be one: a boundary less than the source has."""
    with pytest.raises(HeadlightError, match=r"line 3 of 'bank\.conllu': token number 1 where 3 follows; .*empty line"):
        parsed([row("1", "We"), row("2", "left"), row("1", "It"), row("2", "rained")])


@pytest.mark.parametrize("suffix", [".conllu", ".ref", ".txt"])
def test_a_file_is_told_by_its_whole_name(tmp_path, suffix):
    path = tmp_path / f"gold.v2{suffix}"
    path.write_text(" \n")
    with pytest.raises(HeadlightError, match=rf"'gold\.v2\{suffix}'"):
        {".conllu": conllu, ".ref": choi, ".txt": lines}[suffix](path)
    path.write_text("# text = Hi\n" + row("1", "Hi") + "\n")
    if suffix == ".conllu":
        assert [document.name for document in conllu(path)] == ["gold.v2"]


@pytest.mark.parametrize("text", ["# only = comments\n", "# text = No words.\n\n# text = here\n"])
def test_a_treebank_without_sentences_is_refused(text):
    with pytest.raises(HeadlightError, match="no sentence"):
        read_file(text.encode(), "bank.conllu")


def test_choi_and_lines(tmp_path):
    path = tmp_path / "3-5" / "0.ref"
    path.parent.mkdir()
    path.write_text("==========\nOne . \nTwo .\n==========\nThree .\n==========\n")
    document = choi(path)
    assert document.name == "3-5/0" and document.text == "One .\nTwo .\nThree ." and document.gold
    assert [document.text[a:b] for a, b in document.topics] == ["One .\nTwo .", "Three ."]
    assert len(document.sentences) == 3
    path.write_text("One.\n\nTwo.\r\n")
    plain = lines(path)
    assert plain.text == "One.\nTwo." and plain.topics == ((0, 9),) and len(plain.sentences) == 2
    path.write_text(" \n")
    for reader in (choi, lines):
        with pytest.raises(HeadlightError, match="one sentence a line"):
            reader(path)


@needs_data
def test_english_web_treebank_numbers():
    documents = conllu(DATA / "en_ewt-ud-dev.conllu")
    assert len(documents) == 318
    assert sum(len(d.sentences) for d in documents) == 2001
    assert sum(len(d.words) for d in documents) == 25_147
    raw = (DATA / "en_ewt-ud-dev.conllu").read_text(encoding="utf-8")
    texts = [line.removeprefix("# text = ") for line in raw.split("\n") if line.startswith("# text = ")]
    rebuilt = [d.text[a:b] for d in documents for a, b in d.sentences]
    assert rebuilt == texts
    assert all("".join(d.text.split()) == "".join("".join(d.text[a:b] for a, b in d.words).split()) for d in documents)


@needs_data
def test_korean_treebank_numbers(minilm):
    documents = conllu(DATA / "ko_pud-ud-test.conllu")
    assert sum(len(d.sentences) for d in documents) == 1000
    assert sum(len(d.words) for d in documents) == 16_584
    assert all(len({d.name for d in documents}) == len(documents) and len(d.name) == 6 for d in documents)
    table = encode(documents[0], minilm).table
    assert table.sentence.max() == len(documents[0].sentences) - 1
    unknown = [span for span in zip(table.start, table.end, table.text, strict=True) if span[2] == "[UNK]"]
    for word, (start, end) in enumerate(documents[0].words):
        assert word in table.word or any(a <= start and end <= b for a, b, _ in unknown)


@needs_data
def test_choi_numbers():
    documents = [choi(path) for path in sorted((DATA / "choi" / "3-11").glob("*.ref"))]
    assert len(documents) == 50 and all(len(d.topics) == 10 for d in documents)
    for document in documents:
        starts, ends = {a for a, _ in document.sentences}, {b for _, b in document.sentences}
        assert all(a in starts and b in ends for a, b in document.topics)
