"""Inputs other than one text: pairs, targets and ids; and what is refused."""

from types import SimpleNamespace

import numpy as np
import pytest

from lib.corpora import Document, builtin, encode, encode_ids, from_text, tokenise
from lib.errors import HeadlightError
from tests.corpora.conftest import engine_of
from tests.corpora.test_tokens import content, reassembled, visible


def test_600_tokens_into_a_512_token_model(minilm):
    encoding = encode(Document("long", "cat " * 600), minilm)
    assert len(encoding.token_ids) == 512 and encoding.lost == 600 - 510
    assert encoding.table.text[-1] == "[SEP]"


def test_window_without_room_is_refused(minilm):
    with pytest.raises(HeadlightError, match="more than 2 tokens"):
        encode(Document("short", "cat"), minilm, max_length=2)
    assert len(encode(Document("short", "cat sat"), minilm, max_length=3).token_ids) == 3


def test_pair_offsets_and_segments(engine):
    document = Document("pair", "One cat sat. Two dogs 東 ran.", second=13)
    encoding = encode(document, engine)
    table = content(encoding.table)
    assert reassembled(table, document.text) == visible(document.text)
    assert (table.segment == (table.start >= 13)).all() or engine.kind == "decoder"
    first = {i for i, word in enumerate(table.word) if word >= 0 and table.start[i] < 13}
    assert all(table.segment[i] == 0 for i in first)
    assert table.segment.max() == 1


def test_pair_of_bert_has_types_and_of_roberta_none(engines, minilm):
    document = builtin("probes")[8]
    assert document.second is not None
    bert = encode(document, minilm)
    assert bert.table.text.count("[SEP]") == 2
    assert (bert.type_ids == bert.table.segment).all()
    roberta = encode(document, engines("byte-level pair"))
    assert roberta.type_ids is None
    assert roberta.table.text.count("</s>") == 3


def test_pair_too_long_is_cut_in_both_texts(minilm):
    text = "cat " * 50 + "dog " * 50
    encoding = encode(Document("pair", text, second=200), minilm, max_length=43)
    assert len(encoding.token_ids) == 43 and encoding.lost == 60
    assert {"cat", "dog"} <= set(encoding.table.text)


def test_encoder_decoder_reads_a_target_behind_its_start_token(engines):
    engine = engines("unigram")
    plain = encode(Document("same", "The star is cold."), engine)
    start = engine.tokenizer.pad_token_id
    assert plain.target_ids.tolist() == [start, *plain.token_ids]
    assert plain.target_table.is_special[0] and plain.target_table.start[1] == 0
    other = encode(Document("other", "The star is cold.", target="Cold!"), engine)
    assert "".join(content(other.target_table).text).strip("␣") == "Cold!"
    assert other.target_table.text != plain.target_table.text


def test_ids_are_fed_as_they_are(minilm):
    encoding = encode_ids(np.array([101, 7592, 7592, 102, 100]), minilm)
    assert encoding.table.text == ("[CLS]", "hello", "hello", "[SEP]", "[UNK]")
    assert encoding.table.is_special.tolist() == [True, False, False, True, False]
    assert encoding.table.word.tolist() == [-1, 0, 1, -1, 2]
    assert (encoding.table.start == -1).all() and encoding.lost == 0


@pytest.mark.parametrize("ids", [[], [[1, 2]], list(range(600))])
def test_ids_that_are_no_sequence_are_refused(minilm, ids):
    with pytest.raises(HeadlightError, match="token"):
        encode_ids(np.array(ids), minilm)


@pytest.mark.parametrize("text", ["", "\n \t", "\x07"])
def test_a_text_without_tokens_is_refused(minilm, text):
    with pytest.raises(HeadlightError, match="at least one token"):
        encode(Document("nothing", text), minilm)


def test_kinds_that_do_not_fit_are_named(minilm):
    image = Document("flower", image=np.zeros((20, 20, 3), np.uint8))
    with pytest.raises(HeadlightError, match="DINOv2"):
        encode(image, minilm)
    vision = engine_of(minilm.tokenizer, kind="vision")
    with pytest.raises(HeadlightError, match="all-MiniLM-L6-v2"):
        encode(Document("text", "words"), vision)
    vision.kind, vision.tokenizer = "encoder", None
    with pytest.raises(HeadlightError, match="tokenizer"):
        encode(Document("text", "words"), vision)


def test_a_slow_tokenizer_whose_pieces_are_not_in_the_text_is_refused():
    class Numbering:
        is_fast, model_input_names = False, ("input_ids",)

        def num_special_tokens_to_add(self, pair):
            return 0

        def __call__(self, text, **options):
            return {"input_ids": list(range(len(text.split()))), "special_tokens_mask": [0] * len(text.split())}

        def convert_ids_to_tokens(self, ids):
            return [f"#{token_id}" for token_id in ids]

    engine = SimpleNamespace(
        tokenizer=Numbering(), kind="encoder", max_length=None, name="slow", special_ids=frozenset()
    )
    with pytest.raises(HeadlightError, match="Numbering, with 3 of 3"):
        encode(Document("text", "three short words"), engine)


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([5, 30522], "from 0 to 30521"),
        ([-1, 5], "-1 … 5"),
        ([0.5], "whole numbers"),
        (["a"], "whole numbers"),
        ([[5, 6]], "whole numbers"),
        ([], "whole numbers"),
        ([float("nan")], "whole numbers"),
    ],
)
def test_ids_that_the_model_does_not_know_are_refused(minilm, ids, said):
    with pytest.raises(HeadlightError, match=said):
        encode_ids(np.array(ids), minilm)


def test_tokenise_gives_ids_and_offsets_of_a_text(minilm):
    pieces = tokenise("The cat [SEP] sat.", minilm)
    assert pieces.ids.tolist() == encode(from_text("The cat [SEP] sat.")[0], minilm).token_ids.tolist()
    assert pieces.special.nonzero()[0].tolist() == [0, len(pieces.ids) - 1]
    assert len(tokenise("one two three four", minilm, max_length=4).ids) == 4
