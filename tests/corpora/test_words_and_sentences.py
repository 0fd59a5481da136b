"""Words and sentences by rule."""

import os
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lib.corpora import builtin, conllu, sentence_spans
from lib.corpora.pos import closed_class_tags
from lib.corpora.words import word_spans


def cut(text, spans):
    return [text[start:end] for start, end in spans]


@given(st.text(max_size=200))
def test_words_cover_everything_but_white_space(text):
    spans = word_spans(text)
    assert "".join("".join(cut(text, spans)).split()) == "".join(text.split())
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@given(st.text(alphabet=st.sampled_from('aB .!?\n"”。…1)東'), max_size=120))
def test_sentences_cover_everything_but_white_space(text):
    spans = sentence_spans(text)
    assert "".join("".join(cut(text, spans)).split()) == "".join(text.split())
    assert all(piece == piece.strip() and piece for piece in cut(text, spans))
    assert all(a[1] <= b[0] for a, b in pairwise(spans))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Don’t pay 1,000.50!", ["Don’t", "pay", "1,000.50", "!"]),
        ("3rd of 10:30, x86_64", ["3rd", "of", "10:30", ",", "x86_64"]),
        ("e\u0301te\u0301 नमस्ते", ["e\u0301te\u0301", "नमस्ते"]),
        ("東京タワー 한국어를", ["東", "京", "タワー", "한국어를"]),
        ("👩\u200d👩\u200d👧💩", ["👩\u200d👩\u200d👧", "💩"]),
        ("“quoted” (שלום)", ["“", "quoted", "”", "(", "שלום", ")"]),
    ],
)
def test_words(text, words):
    assert cut(text, word_spans(text)) == words


def test_words_until_an_offset_are_whole():
    assert cut("one thereof two", word_spans("one thereof two", until=7)) == ["one", "thereof"]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Dr. Oh left at 5 p.m. sharp. Why?", ["Dr. Oh left at 5 p.m. sharp.", "Why?"]),
        ('He said "Stop!" and left. "Go." She did.', ['He said "Stop!" and left.', '"Go."', "She did."]),
        ("J. P. Vogel of the U.S. army came. Good.", ["J. P. Vogel of the U.S. army came.", "Good."]),
        ("See Fig. 3 (approx. 40%). It works... Maybe.", ["See Fig. 3 (approx. 40%).", "It works...", "Maybe."]),
        ("Two steps: 1. Stir. 2. Pour.", ["Two steps: 1. Stir.", "2. Pour."]),
        ("1. Stir\n2. Pour", ["1. Stir", "2. Pour"]),
        ("Title\n\nA text. And\nmore", ["Title", "A text.", "And", "more"]),
        ("안녕하세요. 저는 학생입니다. 네?", ["안녕하세요.", "저는 학생입니다.", "네?"]),
        ("東京。「はい。」そう!", ["東京。", "「はい。」", "そう!"]),
        ("هل تعرف؟ نعم. لا", ["هل تعرف؟", "نعم.", "لا"]),
        ("यह घर है। वह नहीं।", ["यह घर है।", "वह नहीं।"]),
        ("no stop at all", ["no stop at all"]),
        ("...", ["..."]),
        ("", []),
        (" \n\t", []),
    ],
)
def test_sentences(text, sentences):
    assert cut(text, sentence_spans(text)) == sentences


def test_a_hard_wrapped_paragraph_is_not_cut_at_its_lines():
    wrapped = (
        "The mail program of old times broke every line at about\n"
        "Seventy characters or a little less, whatever stood at\n"
        "Monday or any other name at the beginning of the line.\n"
        "So this is the second sentence of it."
    )
    assert len(sentence_spans(wrapped)) == 2
    poem = "Roses grow slowly in the rain\nViolets hide\nUnder the lane"
    assert len(sentence_spans(poem)) == 3


def f1(documents):
    gold = {(d.name, end) for d in documents for _, end in d.sentences[:-1]}
    found = {(d.name, end) for d in documents for _, end in sentence_spans(d.text)[:-1]}
    return 2 * len(gold & found) / (len(gold) + len(found))


@pytest.mark.parametrize(("name", "least"), [("encyclopedia", 0.97), ("encyclopedia-ko", 0.97), ("conversation", 0.85)])
def test_rule_against_the_gold_sentences(name, least):
    assert f1(builtin(name)) >= least


@pytest.mark.skipif(not os.environ.get("HEADLIGHT_DATA"), reason="HEADLIGHT_DATA names no data folder")
def test_rule_against_english_web_text():
    assert f1(conllu(Path(os.environ["HEADLIGHT_DATA"]) / "en_ewt-ud-dev.conllu")) >= 0.86


def test_closed_class_tags():
    words = ["The", "cat", "didn’t", "sit", "on", "3", "mats", ",", "and", "she", "paid", "€", "1,000", "."]
    tags = ["DET", "", "AUX", "", "ADP", "NUM", "", "PUNCT", "CCONJ", "PRON", "", "SYM", "NUM", "PUNCT"]
    assert list(closed_class_tags(words)) == tags


def test_other_languages_are_not_tagged_with_english_words():
    words = ["Die", "Mühle", "stand", "in", "einem", "Tal", "und", "was", "man", "dort", "mahlte", "war", "gut", "."]
    tags = closed_class_tags(words)
    assert set(tags) == {"", "PUNCT"}
    assert closed_class_tags([]) == ()


def test_closed_class_tags_agree_with_the_treebank():
    if not os.environ.get("HEADLIGHT_DATA"):
        pytest.skip("HEADLIGHT_DATA names no data folder")
    right = total = 0
    for document in conllu(Path(os.environ["HEADLIGHT_DATA"]) / "en_ewt-ud-dev.conllu"):
        guessed = closed_class_tags(cut(document.text, document.words))
        pairs = [(mine, gold) for mine, gold in zip(guessed, document.tags, strict=True) if mine]
        right += sum(mine == gold for mine, gold in pairs)
        total += len(pairs)
    assert right / total > 0.85, right / total
