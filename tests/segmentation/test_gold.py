"""Gold files of every format, and what is wrong with bad ones."""

import json

import numpy as np
import pytest

from lib.errors import HeadlightError
from lib.segmentation.errors import SegmentationError
from lib.segmentation.gold import folds_of, gold_documents


def test_one_sentence_a_line_is_joined_by_spaces(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("We left.\nIt rained.\n")
    (document,) = gold_documents(str(path))
    assert document.text == "We left. It rained."
    assert document.sentences == ((0, 8), (9, 19))


def test_choi_format_keeps_topics_and_for_topics_its_lines(tmp_path):
    path = tmp_path / "0.ref"
    path.write_text("==========\na b .\nc d .\n==========\ne f .\n==========\n")
    (document,) = gold_documents(str(path), "topic")
    assert [document.text[a:b] for a, b in document.topics] == ["a b .\nc d .", "e f ."]
    (document,) = gold_documents(str(tmp_path))
    assert document.text == "a b . c d . e f ."


def test_jsonl_holds_sentences_or_topics(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(
        json.dumps({"sentences": ["One.", "Two."]}) + "\n\n" + json.dumps({"topics": [["A."], ["B.", "C."]]})
    )
    first, second = gold_documents(str(path))
    assert len(first.sentences) == 2
    assert [second.text[a:b] for a, b in second.topics] == ["A.", "B. C."]


@pytest.mark.parametrize("line", ["{", '{"text": "no"}', '{"sentences": [1]}', "[1]"])
def test_a_bad_line_is_told_by_its_number(tmp_path, line):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"sentences": ["One.", "Two."]}\n' + line)
    with pytest.raises(SegmentationError, match=r"line 2 of 'gold\.jsonl'"):
        gold_documents(str(path))


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('{"sentences" ["One."]}', r"line 2 of 'gold\.jsonl', column 14: Expecting ':' delimiter\."),
        ('{"text": "no"}', r"line 2 of 'gold\.jsonl': no 'sentences'\."),
        ('{"sentences": [1]}', r"line 2 of 'gold\.jsonl': not texts in a list\."),
    ],
)
def test_a_bad_line_is_counted_once(tmp_path, line, told):
    path = tmp_path / "gold.jsonl"
    path.write_text('{"sentences": ["One.", "Two."]}\n' + line)
    with pytest.raises(SegmentationError, match=told) as raised:
        gold_documents(str(path))
    assert "line 1" not in str(raised.value)


def test_malformed_conllu_is_told_by_its_line(tmp_path):
    path = tmp_path / "gold.conllu"
    path.write_text("# text = Hi there\n1\tHi\t_\tINTJ\t_\t_\t_\t_\t_\t_\n2\tthere\tADV\n\n")
    with pytest.raises(HeadlightError, match="line 3"):
        gold_documents(str(path))


def test_gold_without_a_boundary_is_refused(tmp_path):
    path = tmp_path / "gold.txt"
    path.write_text("Only one sentence.\n")
    with pytest.raises(SegmentationError, match="at least one sentence boundary"):
        gold_documents(str(path))
    with pytest.raises(SegmentationError, match="at least one topic boundary"):
        gold_documents("conversation", "topic")


@pytest.mark.parametrize("source", ["nowhere.conllu", "no corpus", "."])
def test_what_is_no_source_is_told_with_the_corpora_that_are(source):
    with pytest.raises(SegmentationError, match="encyclopedia"):
        gold_documents(source)


def test_folds_are_even_and_every_document_has_one():
    folds = folds_of(23, 5)
    assert np.bincount(folds).tolist() == [5, 5, 5, 4, 4]
    assert (folds == folds_of(23, 5)).all()
    assert (folds != folds_of(23, 5, seed=1)).any()


@pytest.mark.parametrize("line", ['{"sentences": "One. Two."}', '{"sentences": {"One.": 1}}', '{"topics": ["a", "b"]}'])
def test_a_text_where_a_list_belongs_is_not_read_letter_by_letter(tmp_path, line):
    path = tmp_path / "gold.jsonl"
    path.write_text(line)
    with pytest.raises(SegmentationError, match=r"line 1 of 'gold\.jsonl': not texts in a list\."):
        gold_documents(str(path))
