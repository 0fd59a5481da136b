import numpy as np
import pytest

from lib.corpora import Document, encode
from lib.errors import HeadlightError
from lib.spectral import windows
from lib.spectral.windows import cut, kept_length
from tests.spectral.conftest import SENTENCES


def test_windows_hold_the_documents_tokens_between_special_tokens(minilm, documents):
    whole = encode(documents[0], minilm)
    found = windows(documents[:1], minilm, 20, 4)
    assert len(found) == 4 and found.overlap == 0
    body = whole.token_ids[1:-1]
    for window, start in zip(found, found.starts, strict=True):
        np.testing.assert_array_equal(window.token_ids[1:-1], body[start : start + 20])
        assert window.table.is_special[[0, -1]].all() and kept_length(window) == 20
        np.testing.assert_array_equal(window.table.pos, np.arange(22))
        assert window.token_ids[0] == whole.token_ids[0] and window.token_ids[-1] == whole.token_ids[-1]


def test_windows_say_what_they_cover(minilm, documents):
    found = windows(documents[:1], minilm, 12, 3)
    assert found.texts[0].startswith("A river carries sand")
    assert all(text in documents[0].text for text in found.texts)


def test_windows_without_overlap_are_disjoint_and_spread_over_the_documents(minilm, documents):
    found = windows(documents[:4], minilm, 32, 8)
    assert found.overlap == 0 and set(found.documents) == {0, 1, 2, 3}
    starts = [s for d, s in zip(found.documents, found.starts, strict=True) if d == 0]
    assert (np.diff(starts) >= 32).all()


def test_short_text_overlaps_by_half_and_says_so(minilm, documents):
    found = windows(documents[:4], minilm, 64, 150)
    assert found.overlap == 0.5 and "overlap by half" in found.summary
    starts = [s for d, s in zip(found.documents, found.starts, strict=True) if d == 0]
    assert set(np.diff(starts)) == {32}
    apart = windows(documents[:4], minilm, 64, 150, overlap=False)
    assert apart.overlap == 0 and len(apart) < len(found)


def test_short_documents_are_skipped_and_counted(minilm, documents):
    found = windows([*documents, Document("empty", "  ")], minilm, 32, 4)
    assert found.skipped == 2 and "2 documents shorter than 32 tokens were skipped" in found.summary


def test_no_document_long_enough_is_an_error_with_a_way_out(minilm, documents):
    with pytest.raises(HeadlightError, match=r"1 document, the longest of 11 tokens.*shorter windows"):
        windows(documents[4:], minilm, 32, 4)


def test_short_text_is_cut_into_shorter_windows_when_no_length_is_asked_for(minilm, documents):
    found = windows([Document("pasted", "".join(SENTENCES))], minilm)
    assert (found.wanted, found.length, found.overlap) == (64, 18, 0.5) and 3 <= len(found) < 12
    assert found.summary.startswith(f"{len(found)} windows of 18 tokens from 1 document; neighbours")
    assert found.special == 2
    assert windows(documents, minilm, count=3).length == 64
    with pytest.raises(HeadlightError, match=r"36 tokens in a row.*1 document, the longest of 11 tokens"):
        windows(documents[4:], minilm)


def test_enough_text_leaves_the_rest_unread(char_gpt, documents):
    long = Document("long", documents[0].text * 60)
    found = windows([long, *documents], char_gpt, 16, 4)
    assert found.unread == 5 and "5 documents were not needed" in found.summary


@pytest.mark.parametrize("length", [511, 3, 0, -5])
def test_a_length_that_the_model_cannot_read_is_refused(minilm, documents, length):
    with pytest.raises(HeadlightError, match=r"4 to 510 tokens.*512 less 2 special"):
        windows(documents, minilm, length, 4)


def test_the_longest_window_that_fits_is_taken(char_gpt, documents):
    assert windows(documents, char_gpt, 48, 3).length == 48
    with pytest.raises(HeadlightError, match="4 to 48 tokens"):
        windows(documents, char_gpt, 49, 3)


def test_default_lengths(minilm, char_gpt, documents):
    assert windows(documents, minilm, count=3).length == 64
    assert windows(documents, char_gpt, count=3).length == 48  # 256 would not fit


def test_a_document_longer_than_the_model_reads_is_cut_from_all_over(minilm, documents):
    long = Document("long", documents[0].text * 8)
    found = windows([long], minilm, 32, 40)
    assert found.starts[-1] > minilm.max_length


def test_cutting_nothing_returns_the_encoding_itself(minilm, documents):
    whole = encode(documents[4], minilm)
    assert cut(whole, 0, kept_length(whole)) is whole
    assert cut(whole, 0, 3).token_ids.tolist() == [*whole.token_ids[:4], whole.token_ids[-1]]


@pytest.mark.parametrize("length", [None, 32])
def test_blank_documents_are_counted_though_nothing_is_read(minilm, length):
    blank = [Document("blank", "  \n "), Document("empty", "")]
    with pytest.raises(HeadlightError, match="2 documents, the longest of 0 tokens"):
        windows(blank, minilm, length)


@pytest.mark.parametrize("count", [0, -3])
def test_no_window_is_nothing_to_cut(minilm, documents, count):
    with pytest.raises(HeadlightError, match="at least 1 window"):
        windows(documents, minilm, 20, count)
