"""The Embeddings page on models of every shape, on very much text, and what its downloads hold."""

import csv
import io
import json
from collections import Counter

import numpy as np
import pytest
from PIL import Image

from lib.corpora import Document
from lib.ui.embeddings import taken_away
from lib.ui.texts import OwnText
from lib.views.packet import unpack
from tests.pages.test_embeddings import drawn, said
from tests.pages.test_heads_models import t5_folder  # noqa: F401  (a fixture)
from tests.pages.test_models_on_pages import opened, own_folder  # noqa: F401  (a fixture)


def on_embeddings(model, **choice):
    return opened(str(model), **choice).switch_page("pages/embeddings.py").run()


@pytest.mark.parametrize("stream", ["encoder", "decoder", "cross"])
def test_an_encoder_decoder_shows_each_of_its_attentions(fresh, t5_folder, stream):  # noqa: F811
    app = on_embeddings(t5_folder, tokens=24, **{"embeddings-read": 200, "embeddings-stream": stream})
    assert not app.exception and "cannot be shown" not in said(app)
    assert "near here, near in full" in drawn(app)
    told = {True: "of two texts here", False: "what tells a token from its neighbours"}[stream == "cross"]
    assert told in said(app)


def test_fifty_thousand_tokens_are_sampled_by_document_and_one_head_is_a_matrix(fresh, own_folder):  # noqa: F811
    rng = np.random.default_rng(0)
    words = np.array(["the", "cat", "sat", "on", "mat", "a", "b", "."])
    documents = tuple(Document(name=f"d{i}", text=" ".join(rng.choice(words, 500))) for i in range(100))
    choice = {"embeddings-read": 50_000, "own_texts": {"own-long": OwnText("long", documents, ())}}
    app = on_embeddings(own_folder, corpus="own-long", tokens=512, **choice)
    assert not app.exception and "cannot be shown" not in said(app)
    sent = [unpack(part.proto.bytes) for part in app.get("bidi_component")]
    whole = next(meta for meta, _ in sent if meta.get("title") == "All heads by PCA")
    one = next(unpack(arrays["points"].tobytes())[0] for meta, arrays in sent if "source" in meta)
    assert "5,000 of 50,000 tokens, drawn from every document in proportion to its length" in one["note"]
    assert "2,000 of 50,000 tokens" in whole["note"]


@pytest.fixture
def files(monkeypatch):
    """The files behind the row of downloads, by label."""
    made = {}
    row = taken_away.download_row
    monkeypatch.setattr(taken_away, "download_row", lambda files, key: (made.update(files), row(files, key)))
    return made


def test_every_download_holds_what_is_on_the_page_and_where_it_came_from(fresh, files):
    choice = {"embeddings-read": 300, "embeddings-search": "the", "embeddings-colour": "position"}
    app = on_embeddings("all-MiniLM-L6-v2", corpus="probes", tokens=16, layer=4, head=5, **choice)
    assert not app.exception
    held = {label: make() for label, (_, _, make) in files.items()}
    assert len(held) == 5

    image = Image.open(io.BytesIO(held["All heads as PNG"]))
    assert image.size == (12 * 166 - 6, 6 * 166 - 6)
    assert image.text["model"] == "all-MiniLM-L6-v2" and image.text["search"] == "the"

    arrays = np.load(io.BytesIO(held["as npz"]))
    facts = json.loads(str(arrays["metadata"]))
    assert facts["projection"] == "pca" and facts["seed"] == 0 and len(facts["revision"]) > 6
    count = arrays["points"].shape[2]
    assert arrays["points"].shape == (6, 12, count, 2) and arrays["ready"].all()
    assert {len(arrays[name]) for name in ("role", "token", "document", "position")} == {count}

    rows = list(csv.reader(io.StringIO(held["This head as CSV"].decode("utf-8-sig"))))
    head = rows.index(["token", "document", "position", "role", "length", "x", "y", "found"])
    assert all(row[0].startswith("# ") for row in rows[:head]) and ["# seed: 0"] in rows[:head]
    table = [dict(zip(rows[head], row, strict=True)) for row in rows[head + 1 :]]
    assert len(table) == count
    assert [row["token"].lower() == "the" for row in table] == [row["found"] == "True" for row in table]
    assert Counter(row["role"] for row in table) == {"query": count // 2, "key": count // 2}

    for label, title in (("as a page", "All heads"), ("This head as a page", "L4 H5")):
        page = held[label].decode()
        assert title in page and "all-MiniLM-L6-v2" in page and "<dt>seed</dt>" in page
        assert "http://" not in page and "https://" not in page, "complete without a network"
