"""Finding tokens: exactly, by pattern, nothing, everything, and patterns that would never end."""

import numpy as np
import pytest

from lib.embeddings import EmbeddingError, search

TOKENS = ["The", "cat", "sat", "on", "the", "cat", "##s", "."]


def test_worked_example():
    found = search(TOKENS, "the", doc=np.array([0, 0, 0, 0, 1, 1, 1, 1]))
    np.testing.assert_array_equal(np.flatnonzero(found.hits), [0, 4])
    assert (found.count, found.documents) == (2, 2)
    assert found.forms == (("The", 1), ("the", 1))
    assert found.note == "2 of 8 tokens in 2 documents, 2 distinct."


@pytest.mark.parametrize(
    ("wanted", "kind", "ignore_case", "hits"),
    [
        ("the", "exact", False, [4]),
        (" cat ", "exact", True, [1, 5]),
        ("ca", "exact", True, []),
        ("ca", "regex", True, [1, 5]),
        ("^[cs]at$", "regex", True, [1, 2, 5]),
        ("T", "regex", False, [0]),
        (r"\p{P}", "regex", True, [6, 7]),
        (".", "exact", True, [7]),
        ("", "regex", True, []),
        ("", "exact", True, []),
        ("zebra", "regex", True, []),
        (".", "regex", True, list(range(8))),
    ],
)
def test_what_is_found(wanted, kind, ignore_case, hits):
    found = search(TOKENS, wanted, kind, ignore_case=ignore_case)
    np.testing.assert_array_equal(np.flatnonzero(found.hits), hits)
    assert found.count == len(hits)
    assert not found.hits.flags.writeable


def test_nothing_and_everything_are_said():
    assert "No token is “zebra”" in search(TOKENS, "zebra").note
    assert "“^q” is found in no token" in search(TOKENS, "^q", "regex").note
    assert search(TOKENS, ".", "regex").note == "All 8 tokens match."
    assert search(TOKENS, "").note == ""
    assert search([], "cat").count == 0


def test_text_is_never_taken_for_a_pattern_or_markup():
    odd = ["a<b", "</script>", "(", "東京", "💩", "[SEP]", "ʼ"]
    for index, token in enumerate(odd):
        np.testing.assert_array_equal(np.flatnonzero(search(odd, token).hits), [index])


@pytest.mark.parametrize("pattern", ["[", "(?P<x", "\\", "(a", "*", r"(a)\2", r"\p{Nope}", "a{0,99999999999999999999}"])
def test_an_invalid_pattern_is_an_error_in_words(pattern):
    with pytest.raises(EmbeddingError, match=r"regular expression|repeats"):
        search(TOKENS, pattern, "regex")


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        ("(a|aa)+$", "ends within"),
        ("((a{1,20}){1,20}){1,20}$", "ends within"),
        ("(?R)", "ends within"),
        ("a{100000000}", "repeats"),
        ("((a{100}){100}){100}", "repeats"),
        ("a" * 201, "at most 200"),
    ],
)
def test_a_pattern_that_would_not_end_is_stopped(pattern, says):
    with pytest.raises(EmbeddingError, match=says):  # without the limit this would not come back at all
        search(["a" * 60 + "!"] * 50, pattern, "regex")


def test_distinct_tokens_are_searched_once():
    import regex

    from lib.embeddings.search import _matches

    texts = np.array(["a", "b"], dtype=object)
    np.testing.assert_array_equal(_matches(texts, regex.compile("b"), "b"), [False, True])
    many = search(["cat", "dog"] * 5000, "c.t", "regex")
    assert many.forms == (("cat", 5000),)


@pytest.mark.parametrize(("wanted", "kind"), [("a", "glob"), (None, "exact"), (3, "regex"), ("a", None)])
def test_another_kind_of_search_is_refused(wanted, kind):
    with pytest.raises(EmbeddingError, match="Expected a text and a kind"):
        search(TOKENS, wanted, kind)


def test_a_pattern_is_told_as_it_was_typed():
    with pytest.raises(EmbeddingError, match=r"“\[\\\]”"):
        search(TOKENS, "[\\]", "regex")
    assert "“\\d{9}” is found" in search(TOKENS, "\\d{9}", "regex").note
