"""Encodings: offsets, words, sentences, special tokens, pairs, truncation, for every kind of tokenizer."""

import threading
import unicodedata

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from lib.corpora import Document, TokenTable, builtin, encode, from_text
from lib.errors import HeadlightError
from tests.corpora.conftest import engine_of

MIXED = (
    "Seán ate 東京 ramen, 한국어 수업 뒤에 💩 👩\u200d👩\u200d👧; don’t “quote” [SEP] </s> <s> <|im_end|>"
    "\n\nשלום عالم! Naïve cafe\u0301."
)

ANY = st.characters(exclude_categories=["Cs"], exclude_characters="\0\r")

# SmolLM2's vocabulary lacks some control bytes and the first byte of the planes without assigned characters
PRINTED = st.characters(max_codepoint=0x323AF, exclude_categories=["Cs", "Cc"])


def content(table):
    return table.at(~table.is_special)


def visible(text):
    return "".join(text.split())


def letters(text):
    """Without combining marks and joiners, which WordPiece and SentencePiece normalise away."""
    return "".join(character for character in text if unicodedata.category(character) not in ("Mn", "Cf"))


def reassembled(table, text):
    """Visible characters of the spans in order, each offset once."""
    covered = sorted({i for start, end in zip(table.start, table.end, strict=True) for i in range(start, end)})
    return visible("".join(text[i] for i in covered))


def test_spans_reassemble_the_text(engine):
    for text in (MIXED, builtin("encyclopedia")[3].text[:400], builtin("encyclopedia-ko")[0].text[:200]):
        table = content(encode(from_text(text)[0], engine).table)
        assert letters(reassembled(table, text)) == letters(visible(text))
        assert (np.diff(table.start) >= 0).all()
        assert (table.end > table.start).all()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(ANY, max_size=80))
def test_any_unicode_keeps_rows_consistent(engine, text):
    document = Document("any", text)
    try:
        encoding = encode(document, engine)
    except HeadlightError:
        assert not engine.tokenizer(text, add_special_tokens=False)["input_ids"]
        return
    table = content(encoding.table)
    assert len(encoding.token_ids) == len(encoding.table)
    assert (table.start >= 0).all() and (table.end <= len(text)).all() and (table.end >= table.start).all()
    assert (table.sentence >= 0).all()
    assert all(encoding.table.text)
    words = table.word[table.word >= 0]
    assert (np.diff(words) >= 0).all()


@pytest.mark.parametrize("kind", ["SmolLM2", "byte-level pair", "characters", "raw bytes"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(PRINTED, min_size=1, max_size=60))
def test_lossless_tokenizers_cover_every_character(engines, kind, text):
    if not text.strip():
        text = "a" + text
    table = content(encode(Document("any", text), engines(kind)).table)
    assert reassembled(table, text) == visible(text)


def test_special_tokens_are_those_that_were_added(engine):
    encoding = encode(from_text("A plain sentence.")[0], engine)
    added = engine.tokenizer.num_special_tokens_to_add(pair=False)
    special = encoding.table.at(encoding.table.is_special)
    assert len(special) == added
    for column in ("start", "end", "word", "sentence"):
        assert (getattr(special, column) == -1).all()


def test_typed_special_tokens_stay_text(engine):
    typed = " ".join(["mind", *engine.tokenizer.all_special_tokens, "[SEP]", "</s>", "<|im_end|>", "gap"])
    encoding = encode(Document("typed", typed), engine)
    assert not set(encoding.token_ids[~encoding.table.is_special].tolist()) & engine.special_ids
    assert reassembled(content(encoding.table), typed) == visible(typed)


@pytest.mark.parametrize("kind", ["MiniLM", "SmolLM2"])
def test_typed_separator_of_the_real_models(engines, kind):
    engine = engines(kind)
    separator = "[SEP]" if kind == "MiniLM" else "<|im_end|>"
    table = encode(Document("typed", f"before {separator} after"), engine).table
    assert engine.tokenizer.convert_tokens_to_ids(separator) not in table.token_id[~table.is_special]
    assert sum(len(text) for text in content(table).text) == len(f"before{separator}after")


def test_labels_are_readable_in_every_vocabulary(engine):
    table = content(encode(Document("mixed", MIXED), engine).table)
    private = set("ĠĊâĢĻìíêðŁ▁")
    assert not private & set("".join(table.text))
    assert all(label.strip() == label and label for label in table.text)


def test_labels_byte_level(engines):
    table = encode(Document("bytes", "Seán 東京 don’t\n"), engines("SmolLM2")).table
    assert table.text == ("Se", "án", "‹e6›", "‹9d›", "‹b1›", "‹e4 ba›", "‹ac›", "don", "’", "t", "⏎")
    assert [table.word[i] for i in (0, 1)] == [0, 0]
    assert table.start[2] == table.start[4] == 5, "the bytes of one character share its place"


def test_labels_wordpiece(minilm):
    table = encode(Document("pieces", "Unbelievability, 한 💩"), minilm).table
    assert table.text == ("[CLS]", "Un", "bel", "ie", "va", "bility", ",", "ᄒ", "ᅡ", "ᆫ", "[UNK]", "[SEP]")
    assert table.word.tolist() == [-1, 0, 0, 0, 0, 0, 1, 2, 2, 2, 3, -1]
    assert [(table.start[i], table.end[i]) for i in (7, 10)] == [(17, 18), (19, 20)]
    assert not table.is_special[10], "an unknown word is the user's, not the tokenizer's"


def test_words_are_the_same_for_every_tokenizer(engine):
    text = "The well-known cat, Mr. O’Neill , cost 1,000.50!"
    table = content(encode(Document("words", text), engine).table)
    merged = {}
    for word, start, end in zip(table.word, table.start, table.end, strict=True):
        if word >= 0:
            low, high = merged.get(word, (start, end))
            merged[word] = min(low, start), max(high, end)
    spoken = ["The", "well", "-", "known", "cat", ",", "Mr", ".", "O’Neill", ",", "cost", "1,000.50", "!"]
    pieces = [text[start:end] for start, end in merged.values()]
    assert "".join(pieces) == "".join(spoken)
    assert max(merged) == len(spoken) - 1
    single = {entry for entry in spoken if len(entry) > 3}
    assert single <= set(pieces)


def test_gold_words_and_tags_reach_the_tokens(minilm):
    text = "Can't stop"
    document = Document("gold", text, words=((0, 2), (2, 5), (6, 10)), tags=("AUX", "PART", "VERB"), gold=True)
    table = content(encode(document, minilm).table)
    assert table.text == ("Can", "'", "t", "stop")
    assert table.word.tolist() == [0, 1, 1, 2]
    assert table.part_of_speech == ("AUX", "PART", "PART", "VERB")


def test_sentence_of_each_token_is_the_gold_one(engine):
    document = builtin("encyclopedia")[0]
    table = content(encode(document, engine).table)
    for start, sentence, word in zip(table.start, table.sentence, table.word, strict=True):
        if word >= 0:
            low, high = document.sentences[sentence]
            assert low <= start < high


def test_truncation_counts_what_is_lost(engine):
    text = "word " * 700
    whole = encode(Document("long", text), engine_of(engine.tokenizer, engine.kind, None))
    cut = encode(Document("long", text), engine, max_length=50)
    assert whole.lost == 0 and len(cut.token_ids) == 50
    assert cut.lost == (~whole.table.is_special).sum() - (~cut.table.is_special).sum()
    assert (cut.table.is_special == encode(Document("one", "word"), engine).table.is_special.any()).any()
    exact = encode(Document("long", text), engine, max_length=len(whole.token_ids))
    assert exact.lost == 0 or engine.max_length is not None


def test_one_token(engine):
    encoding = encode(Document("one", "a"), engine)
    assert (~encoding.table.is_special).sum() >= 1


def test_two_threads_may_tokenise_with_one_tokenizer(minilm):
    documents, found = builtin("encyclopedia")[:12], {}

    def work(length):
        found[length] = [len(encode(document, minilm, max_length=length).token_ids) for document in documents]

    threads = [threading.Thread(target=work, args=(length,)) for length in (16, 32, 64, 128)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {length: [length] * 12 for length in (16, 32, 64, 128)}


def test_table_slices_joins_and_frames(minilm):
    one, two = (encode(Document(name, name), minilm).table for name in ("one cat", "two"))
    table = TokenTable.join([one, two])
    assert table.doc.tolist() == [0] * 4 + [1] * 3
    assert table.of(1).text == two.text
    assert table.frame().shape == (7, 13)
    assert list(table.frame()["text"]) == [*one.text, *two.text]
    assert len(TokenTable.join([])) == 0


def test_table_arrays_are_read_only_and_equally_long(minilm):
    table = encode(Document("one", "cat"), minilm).table
    with pytest.raises(ValueError, match="read-only"):
        table.start[0] = 3
    columns = {name: getattr(table, name) for name in table.frame().columns}
    with pytest.raises(HeadlightError, match=r"axis token of 'word' to be \(3,\).*\(2,\)"):
        TokenTable(**{**columns, "word": [0, 1]})
