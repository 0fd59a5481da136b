import base64
import csv
import io
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

from lib.views.colouring import by_class
from lib.views.export import csv_bytes, embedded_json, figure_html, matrix_csv, npz_bytes
from lib.views.head_grid import head_grid_figure
from lib.views.head_view import head_view_figure
from lib.views.heatmap import heatmap_figure
from lib.views.matrix_scatter import matrix_scatter_figure
from lib.views.packet import unpack
from lib.views.patch_attention import patch_attention_figure
from lib.views.scatter import scatter_figure

EVIL = "</script><script>alert(1)</script><!--"
FIGURES = {
    "head_grid": lambda: head_grid_figure(np.eye(3), title=EVIL),
    "heatmap": lambda: heatmap_figure(np.eye(2), row_labels=[EVIL, "b"], column_labels=[EVIL, "b"], title=EVIL),
    "head_view": lambda: head_view_figure(np.eye(2), [EVIL, "b"], title=EVIL),
    "patch_attention": lambda: patch_attention_figure(np.zeros((4, 4, 3), np.uint8), (2, 2), np.eye(4), title=EVIL),
    "scatter": lambda: scatter_figure(np.eye(2), labels=[EVIL, "b"], title=EVIL),
    "matrix_scatter": lambda: matrix_scatter_figure(
        np.zeros((1, 1, 2, 2), np.uint16), by_class([0, 0], [EVIL]), title=EVIL
    ),
}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.loads = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loads += [value for name, value in attributes if name in {"src", "href"}]
        self.loads += [name for name, _ in attributes if name.startswith("on")]
        if tag == "script":
            self.scripts.append("")

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1] += data

    def handle_endtag(self, tag):
        self.tags.append("/" + tag)


@pytest.mark.parametrize("view", FIGURES)
def test_a_page_holds_its_three_scripts_and_loads_nothing(view):
    figure = FIGURES[view]()
    text = figure_html(figure, {"model": EVIL, EVIL: 1}, title=EVIL, text=EVIL).decode()
    page = Page(text)
    assert page.tags.count("script") == 3 and page.loads == []
    metadata, packet, code = page.scripts
    assert json.loads(metadata) == {"model": EVIL, EVIL: 1}
    assert base64.b64decode(packet) == figure.packet and "draw(component)" in code
    assert not re.search(r"https?://(?!www\.w3\.org)", text)


def test_embedded_json_reads_back_and_cannot_close_its_element():
    value = {"a": [EVIL, "&amp;", "\u2028"], "b": None}
    text = embedded_json(value)
    assert "<" not in text and ">" not in text and "\u2028" not in text and json.loads(text) == value


def test_a_matrix_keeps_repeated_labels_and_its_origin():
    words = ["the", "cat", "the"]
    data = matrix_csv(np.arange(9).reshape(3, 3) / 8, words, words, {"model": "m\nx"}).decode("utf-8-sig")
    lines = list(csv.reader(io.StringIO(data)))
    assert lines[0] == ["# model: m x"] and lines[1] == ["", *words]
    assert [line[0] for line in lines[2:]] == words and float(lines[4][3]) == 1.0


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@x", "\tx"])
def test_text_never_becomes_a_formula(text):
    lines = list(csv.reader(io.StringIO(csv_bytes(["token", "n"], [[text, -1]]).decode("utf-8-sig"))))
    assert lines[1] == ["'" + text, "-1"]


def test_quotes_commas_and_broken_characters_survive():
    cells = ['say "hi", now', "line\nbreak", "東京"]
    lines = list(csv.reader(io.StringIO(csv_bytes(list("abc"), [cells]).decode("utf-8-sig"), newline="")))
    assert lines[1] == cells
    assert csv_bytes(["a"], [["\ud800"]]).decode("utf-8-sig").endswith("?\n")


def test_npz_loads_without_pickle():
    arrays = {"pattern": np.eye(3, dtype=np.float32), "tokens": np.array(["a", EVIL], object)}
    with np.load(io.BytesIO(npz_bytes(arrays, {"seed": 1})), allow_pickle=False) as loaded:
        np.testing.assert_array_equal(loaded["pattern"], np.eye(3))
        assert loaded["tokens"].tolist() == ["a", EVIL] and json.loads(str(loaded["metadata"])) == {"seed": 1}


def test_the_packet_on_the_page_is_the_figure():
    text = figure_html(FIGURES["heatmap"](), {}).decode()
    packet = re.search(r'id="packet">([^<]*)<', text).group(1)
    assert unpack(base64.b64decode(packet))[0]["rows"][0] == EVIL
