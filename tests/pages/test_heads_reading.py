"""Reading one head: words keep totals, downloads hold what is shown, numbers are told plainly."""

import io
from dataclasses import replace

import numpy as np
import pytest

from lib.capture import Store, WindowPattern
from lib.corpora import Document
from lib.errors import HeadlightError
from lib.heads import results
from lib.ui import cached, downloads
from lib.ui.heads import reading
from lib.ui.heads.windows import placed
from lib.ui.heads.wording import interval, number, signed
from lib.ui.pictures import layer_masks, scene_patterns
from lib.ui.scene import Scene
from lib.ui.state import DEFAULTS, Choice

PAIR = "The bank raised unforgettable fees. The river rose."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(autouse=True)
def own_store(folder, monkeypatch):
    monkeypatch.setattr(cached, "STORE_FOLDER", folder)
    monkeypatch.setattr(cached, "store", lambda: Store(folder))


def scene_of(document, **choice):
    engine = cached.engine("all-MiniLM-L6-v2", "cpu", "float32")
    return Scene(Choice(**(DEFAULTS | {"tokens": 64, "layer": 2, "head": 4} | choice)), engine, (document,))


@pytest.fixture
def now():
    return scene_of(Document("pair", PAIR, second=36))


def weights_of(now):
    return scene_patterns(now)[now.choice.layer, now.choice.head]


def test_words_keep_the_totals(now):
    weights = weights_of(now)
    words = reading.read(now, weights, reading.Ask(words=True))
    assert "unforgettable" in words.column_labels
    assert len(words.row_labels) < len(weights)
    np.testing.assert_allclose(words.matrix.sum(axis=1), 1, atol=1e-5)
    column = words.column_labels.index("unforgettable")
    assert len(words.column_of[column]) > 1
    row = words.row_labels.index("bank")
    expected = weights[words.row_of[row]][:, words.column_of[column]].sum()
    assert words.matrix[row, column] == pytest.approx(expected, abs=1e-6)


def test_hiding_special_tokens_says_what_it_does(now):
    now = replace(now, choice=replace(now.choice, special=False))
    raw = reading.read(now, weights_of(now), reading.Ask())
    assert raw.matrix.sum(axis=1).max() < 1
    assert "not renormalised" in raw.note
    whole = reading.read(now, weights_of(now), reading.Ask(renormalised=True))
    np.testing.assert_allclose(whole.matrix.sum(axis=1), 1, atol=1e-5)
    assert "divided by what they kept" in whole.note


def test_one_direction_of_a_pair(now):
    across = reading.read(now, weights_of(now), reading.Ask(pair="A→B"))
    assert set(across.rows.segment) == {0}
    assert set(across.columns.segment) == {1}
    assert across.matrix.shape != weights_of(now).shape
    reading.figure(now, across, reading.Ask(pair="A→B"), None)


def test_nothing_left_to_show_is_told():
    now = scene_of(Document("nothing", "…"), special=False)
    only = replace(now, choice=replace(now.choice, tokens=8))
    found = reading.read(only, weights_of(only), reading.Ask())
    assert len(found.rows) >= 1
    with pytest.raises(HeadlightError, match="hidden"):
        reading.read(now, weights_of(now), reading.Ask(sink=False, pair="B→B"))


def test_a_cell_of_words_leads_to_its_strongest_pair_of_tokens(now):
    weights = weights_of(now)
    words = reading.read(now, weights, reading.Ask(words=True))
    row, column = 3, words.column_labels.index("unforgettable")
    query, key = words.pair(weights, row, column)
    assert words.cell(query, key) == (row, column)
    assert weights[query, key] == weights[np.ix_(words.row_of[row], words.column_of[column])].max()


def test_the_value_weighted_view_is_the_length_of_what_arrives(now):
    found, about = reading.weighted(now, scene_patterns(now), "self")
    layer, head = now.choice.layer, now.choice.head
    value = reading.vectors(now, "self").value[layer, head]
    out = now.engine.weights(layer).W_O[head]
    alone = np.zeros((1, 1, len(value)), np.float32)
    alone[0, 0, 2] = weights_of(now)[5, 2]
    assert found[5, 2] == pytest.approx(np.linalg.norm(results(alone, value[None], out[None])), rel=1e-4)
    assert "‖A · v W_O‖" in about


def test_every_layer_has_the_mask_of_its_own_window(now, monkeypatch):
    monkeypatch.setattr("lib.ui.pictures.attention_window", lambda engine, layer: 2 if layer == 0 else None)
    masks = layer_masks(now, "self")
    assert masks[0, 0, 3] and not masks[0, 0, 2]
    assert not masks[1:].any()


@pytest.mark.parametrize("special", [True, False])
def test_downloads_hold_the_tokens_that_are_shown(now, monkeypatch, special):
    now = replace(now, choice=replace(now.choice, special=special))
    files = {}
    monkeypatch.setattr(downloads, "download_row", lambda row, key: files.update(row))
    weights = reading.read(now, weights_of(now), reading.Ask())
    figure = reading.figure(now, weights, reading.Ask(), None)
    downloads.pattern_downloads(now, scene_patterns(now), figure)
    kept = np.load(io.BytesIO(files["All heads of the layer"][2]()))
    np.testing.assert_allclose(kept["pattern"][now.choice.head], weights.matrix, rtol=1e-6)
    text = files["CSV"][2]().decode("utf-8-sig")
    assert ("[CLS]" in text) is special
    assert "transformers" in text


def test_masked_pairs_are_downloaded_as_nan(now, monkeypatch):
    files = {}
    monkeypatch.setattr(downloads, "download_row", lambda row, key: files.update(row))
    closed = np.triu(np.ones((len(now.encoding.table),) * 2, bool), 1)
    monkeypatch.setattr(downloads, "masked", lambda scene, stream, layer: closed)
    figure = reading.figure(now, reading.read(now, weights_of(now), reading.Ask()), reading.Ask(), None)
    downloads.pattern_downloads(now, scene_patterns(now), figure)
    kept = np.load(io.BytesIO(files["All heads of the layer"][2]()))["pattern"]
    np.testing.assert_array_equal(np.isnan(kept[0]), closed)


def test_windows_lie_where_they_were_cut():
    side, shift = 2, 1
    pattern = np.arange(4 * 4 * 4, dtype=np.float32).reshape(4, 1, 4, 4)
    full, window = placed(WindowPattern(0, pattern, 2, 2, side, shift), 0)
    # rolled up and left by one: the window in the corner holds the tokens (1, 1) … (2, 2)
    assert window[1, 1] == window[2, 2] == 0
    assert window[0, 0] == 3
    first, second = 1 * 4 + 1, 1 * 4 + 2
    assert full[first, second] == pattern[0, 0, 0, 1]
    assert np.isnan(full[0, first])
    assert np.isfinite(full).sum() == pattern.size


def test_numbers_are_written_with_two_to_three_digits():
    written = [number(value) for value in (0.8134, 0.0039, 12.34, 1234.5, float("nan"), 0.0)]
    assert written == ["0.81", "0.0039", "12.3", "1,234", "–", "0.00"]
    assert [number(value) for value in (0.0104, 0.021, 5e-5)] == ["0.010", "0.021", "5.0×10⁻⁵"]
    assert interval(float("nan"), 1.0) == ""


def test_changes_keep_their_sign_and_small_ones_a_raised_power():
    assert [signed(v) for v in (0.1512, -0.0021, 3.61e-5, float("nan"))] == ["+0.15", "−0.0021", "+3.6×10⁻⁵", "–"]
    assert signed(0.000418, 3) == "+0.000418"
    assert number(-2.964) == "−2.96" and number(-4.2e-5) == "−4.2×10⁻⁵"
