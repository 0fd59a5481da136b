import pytest
from transformers import AutoTokenizer

from lib.models.char_gpt.tokenizer import UNKNOWN, character_tokenizer

TEXT = "First Citizen:\nBefore we proceed, any  further!"


@pytest.fixture
def tokenizer():
    return character_tokenizer(TEXT, context=32)


def test_every_character_is_a_token_numbered_in_sorted_order(tokenizer):
    assert len(tokenizer) == len(set(TEXT)) + 1
    assert tokenizer("\n e!")["input_ids"] == [0, 1, sorted(set(TEXT)).index("e"), 2]


def test_offsets_count_characters_and_decoding_returns_the_text(tokenizer):
    encoded = tokenizer(TEXT, return_offsets_mapping=True)
    assert encoded["offset_mapping"] == [(i, i + 1) for i in range(len(TEXT))]
    assert tokenizer.decode(encoded["input_ids"]) == TEXT


def test_each_unknown_character_becomes_one_unk_in_its_place(tokenizer):
    encoded = tokenizer("ré→é\U0001f600d", return_offsets_mapping=True)
    assert encoded["input_ids"][1:5] == [tokenizer.unk_token_id] * 4
    assert tokenizer.convert_ids_to_tokens(encoded["input_ids"])[1] == UNKNOWN
    assert encoded["offset_mapping"] == [(i, i + 1) for i in range(6)]


def test_the_saved_tokenizer_is_the_same(tokenizer, tmp_path):
    tokenizer.save_pretrained(tmp_path)
    loaded = AutoTokenizer.from_pretrained(tmp_path)
    assert loaded.is_fast
    assert loaded.model_max_length == 32
    assert loaded(TEXT + "é")["input_ids"] == tokenizer(TEXT + "é")["input_ids"]
    assert loaded.decode(loaded(TEXT)["input_ids"]) == TEXT
