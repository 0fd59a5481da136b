"""Which documents are read for the maps, and how much of each."""

import numpy as np

from lib.corpora import builtin
from lib.embeddings.reading import read_documents, share, spread


def test_a_share_uses_what_it_may_and_no_more():
    lengths = np.array([4, 10, 30])
    for most in range(3, 50):
        cut = share(lengths, most)
        assert np.minimum(lengths, cut).sum() <= most
        assert cut == 30 or np.minimum(lengths, cut + 1).sum() > most
    assert spread(5, 3) == (0, 2, 4) and spread(2, 9) == (0, 1)


def test_texts_are_cut_alike_and_short_ones_left_whole(minilm):
    articles = builtin("encyclopedia")
    read = read_documents(articles[:4], minilm, most=100, max_length=60)
    assert [len(one.table) for one in read.encodings] == [25] * 4
    assert read.cut == 25 and read.places == (0, 1, 2, 3)
    assert "4 documents, 100 tokens, at most the first 25 of each" in read.note
    few = read_documents(articles[:4], minilm, most=20, max_length=60)
    assert len(few.documents) == 1, "documents are left out rather than cut below 16 tokens"
    assert "1 document of 4" in few.note
