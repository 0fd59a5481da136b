"""The report: one page with the rooms' own numbers, nothing from outside, every text escaped."""

import re
from html.parser import HTMLParser

import numpy as np
import pytest

from lib.claims import CLAIMS
from lib.corpora import Document, builtin, encode
from lib.heads import score_heads
from lib.models import load
from lib.report import __main__ as command
from lib.report import page
from lib.report.sections import report

WICKED = "<script>alert(1)</script> & <img src=x onerror=alert(2)> 'and' \"more\". "


class Reading(HTMLParser):
    """Tags, attributes and the text of a page; tables as lists of cells."""

    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


@pytest.fixture(scope="module")
def engine():
    return load("all-MiniLM-L6-v2", device="cpu")


@pytest.fixture(scope="module")
def documents():
    wicked = Document("<b>wicked</b>", WICKED * 8, tuple((i * len(WICKED), (i + 1) * len(WICKED)) for i in range(8)))
    return [*builtin("conversation")[:4], wicked]


@pytest.fixture(scope="module")
def written(engine, documents):
    return report(engine, documents, "<i>talk</i>", max_length=40, twin=False)


@pytest.fixture(scope="module")
def read(written):
    reading = Reading()
    reading.feed(written)
    return reading


def test_the_page_needs_nothing_and_runs_nothing(written, read):
    assert not {"script", "link", "img", "iframe", "object", "form", "base", "b>wicked"} & set(read.tags)
    assert not re.search(r"https?://|url\(|@import|javascript:", written)
    assert not {"src", "href", "srcset", "action"} & {name for name, _ in read.attributes}
    assert not any(name.startswith("on") for name, _ in read.attributes)
    assert "default-src 'none'" in written


def test_texts_are_escaped(written, read):
    assert "<i>talk</i>" in read.text
    assert "<i>talk" not in written
    for token in ("<", "&"):
        assert page.cell(token) in ("&lt;", "&amp;")
    assert page.head_map(np.ones((1, 1)), [0], "<script>", "<u>").html.count("<script>") == 0


def test_every_room_and_every_claim_is_there(read):
    for room in ("Heads", "Similarity", "Embeddings", "Spectral"):
        assert room in read.text
    assert "Not measured." not in read.text
    assert all(claim.claim in read.text for claim in CLAIMS)
    assert "revision 53aa51172d14" in read.text
    assert "not measured: some claims stay undecided" in read.text


def test_numbers_are_the_rooms_own(engine, documents, read):
    table = score_heads(engine, [encode(document, engine, 40) for document in documents])
    row = table.loc[table["previous_token"].idxmax()]
    assert f"L{row['layer']} H{row['head']}: {row['previous_token']:.4g}" in [value for _, value in read.attributes]
    low, high = row["previous_token_low"], row["previous_token_high"]
    assert page.interval(low, high) in read.text
    assert f"chance {table['previous_token_chance'].mean():.3g}" in read.text


def test_what_a_room_cannot_measure_is_said(engine):
    told = report(engine, builtin("probes")[:1], "probes", max_length=12, twin=False)
    assert "Not measured." in told
    assert "Roles" in told, "the other rooms go on"


def test_the_command_writes_the_page_or_says_what_is_wrong(tmp_path, capsys, monkeypatch):
    asked = []
    monkeypatch.setattr("lib.report.sections.report", lambda *given: asked.append(given) or "<p>page</p>")
    out = tmp_path / "deep" / "page.html"
    command.main(["all-MiniLM-L6-v2", "conversation", "--out", str(out), "--documents", "2", "--no-twin"])
    assert out.read_text() == "<p>page</p>"
    assert (asked[0][0].name, len(asked[0][1]), asked[0][2:5]) == ("all-MiniLM-L6-v2", 2, ("conversation", 256, False))
    with pytest.raises(SystemExit):
        command.main(["all-MiniLM-L6-v2", "nonsense", "--out", str(out)])
    assert "the name of a built-in corpus" in capsys.readouterr().err


def test_curves_and_maps_survive_what_is_undefined():
    nan = float("nan")
    assert page.trend([0, 1], {"a": [nan, nan]}, "t").html == ""
    drawn = page.trend([0, 1, 2], {"a": [1.0, nan, 3.0], "chance": [0.0, 0.0, 0.0]}, "t", ([0.5, nan, 2], [2, nan, 4]))
    assert "nan" not in drawn.html
    cells = page.head_map(np.array([[nan, 1.0], [nan, nan]]), [0, 3], "t", "n").html
    assert cells.count("<td></td>") == 3
    assert "L0 H1: 1" in cells
    assert "nan" not in page.head_map(np.full((1, 2), nan), [0], "t", "n").html
    assert page.cell(nan) == "–"
