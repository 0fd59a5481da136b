"""Vocabulary entries as readable text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from lib.corpora.pieces import bare, shown


@given(st.text(max_size=20))
def test_byte_alphabet_is_the_one_of_byte_level_tokenizers(text):
    pieces = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(text)
    assert b"".join(bare(piece, "bytes") for piece, _ in pieces) == text.encode()


@given(st.binary(min_size=1, max_size=12))
def test_any_bytes_are_shown_as_valid_text(data):
    label = shown(data)
    assert label and label.encode() and label.strip() == label


@pytest.mark.parametrize(
    ("content", "label"),
    [
        (" cat", "cat"),
        (b" caf\xc3\xa9", "café"),
        (b"\xed\x95", "‹ed 95›"),
        (b"\x95\x9c", "‹95 9c›"),
        (b"a\xf0\x9f", "a‹f0 9f›"),
        (b"\x9c\xed\x95\x9c", "‹9c›한"),
        ("\n\n", "⏎⏎"),
        (" ", "␣"),
        ("\t", "⇥"),
        ("\u200d", "‹U+200D›"),
        ("\x07", "‹U+0007›"),
        ("<b>", "<b>"),
        ("", "∅"),
    ],
)
def test_shown(content, label):
    assert shown(content) == label


@pytest.mark.parametrize(
    ("piece", "kind", "content"),
    [
        ("##ing", "wordpiece", "ing"),
        ("##", "wordpiece", "##"),
        ("##ing", "plain", "##ing"),
        ("Ġthe", "bytes", b" the"),
        ("<|added|> 東", "bytes", "<|added|> 東"),
        ("▁the", "plain", " the"),
        ("<0x0A>", "plain", b"\n"),
        ("\x95", "raw", b"\x95"),
        ("<pad>", "raw", "<pad>"),
    ],
)
def test_bare(piece, kind, content):
    assert bare(piece, kind) == content
