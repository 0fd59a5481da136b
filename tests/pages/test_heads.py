"""The Heads page: readings keep totals, downloads hold what is shown, a click runs no forward pass, panels open."""

import io
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from lib.capture import Store, WindowPattern
from lib.corpora import Document
from lib.errors import HeadlightError
from lib.heads import results
from lib.ui import cached, downloads, pruning_orders
from lib.ui.heads import reading
from lib.ui.heads.job import Job
from lib.ui.heads.numbers import chosen_scores
from lib.ui.heads.windows import placed
from lib.ui.heads.wording import interval, number
from lib.ui.pictures import layer_masks, scene_patterns
from lib.ui.scene import Scene
from lib.ui.state import DEFAULTS, Choice
from tests.pages.test_pages import pictures

DOOR = Path(__file__).resolve().parents[2] / "app.py"
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
    assert interval(float("nan"), 1.0) == ""


def test_a_job_can_be_stopped_and_tells_what_went_wrong():
    def endless(progress):
        while True:
            progress(1, 2, "waiting")
            time.sleep(0.01)

    def wrong(progress):
        raise HeadlightError("a", "b", "c")

    job, failing, good = Job(endless).start(), Job(wrong).start(), Job(lambda progress: 7).start()
    job.stop.set()
    for _ in range(500):
        if "running" not in (job.state, failing.state, good.state):
            break
        time.sleep(0.01)
    assert (job.state, failing.state, good.state, good.result) == ("stopped", "failed", "done", 7)
    assert isinstance(failing.error, HeadlightError)


@pytest.fixture
def app():
    app = AppTest.from_file(DOOR, default_timeout=120)
    app.session_state["tokens"] = 64
    app.session_state["heads-documents"] = 5
    return app.run()


def shown(app):
    kinds = ("markdown", "text", "caption")
    return " ".join(element.value for kind in kinds for element in getattr(app, kind))


def finished(app):
    """Wait for the work behind the page, then draw what it found."""
    for _ in range(600):
        if all(job.state != "running" for job in app.session_state["heads-jobs"].values()):
            break
        time.sleep(0.2)
    app.run()
    assert not app.exception
    assert "Expected" not in shown(app)


def test_numbers_scores_and_controls(app):
    assert "Measured on this document" in shown(app)
    app.selectbox(key="heads-shown").set_value("same_sentence").run()
    assert not app.exception
    app.selectbox(key="heads-shown").set_value("semicolon").run()
    assert not app.exception
    app.session_state["heads-weight"] = "both"
    app.session_state["heads-unit"] = "words"
    app.session_state["heads-cell"] = (5, 9)
    app.run()
    assert not app.exception
    assert "q · k" in shown(app)


def test_a_click_on_a_head_runs_no_forward_pass(app):
    app.session_state["heads-cell"] = (5, 9)
    app.run()
    counted = []
    engine = cached.engine("all-MiniLM-L6-v2", "auto", "float32")
    handle = engine.model.register_forward_pre_hook(lambda *_: counted.append(1))
    app.number_input(key="layer").set_value(3).run()
    handle.remove()
    assert not app.exception
    assert "L3 H9" in shown(app)
    assert counted == []


@pytest.mark.parametrize(
    ("section", "words"),
    [
        ("Catalogue", "simultaneous over all heads"),
        ("This head over the corpus", "Reads from"),
        ("Similar heads", "in which every two heads"),
        ("Switch off", "How many heads can go"),
        ("Whole model", "Norm gap"),
    ],
)
def test_every_panel_opens(app, section, words):
    app.session_state["heads-section"] = section
    app.session_state["heads-off-on"] = True
    app.run()
    assert not app.exception
    assert words in shown(app)
    assert "Expected" not in shown(app)


def test_long_work_is_followed_and_kept(app):
    app.session_state["heads-section"] = "Switch off"
    app.session_state["heads-documents"] = 1
    app.session_state["heads-budget"] = 0.002
    app.run()
    assert "come from the Similarity page" in shown(app)
    app.button(key="heads-pruning-start").click().run()
    finished(app)
    assert "of 72 heads** can go in the greedy order; random 1" in shown(app)
    app.button(key="heads-sweep-start").click().run()
    finished(app)
    assert "Each role's claim beside its effect" in shown(app)
    assert "heads-sweep-map" in pictures(app)


def test_orders_from_similarity_stand_beside_the_greedy_one(app):
    engine = cached.engine("all-MiniLM-L6-v2", "auto", "float32")
    heads = tuple((layer, head) for layer in range(6) for head in range(12))
    found = pruning_orders.Orders("found on 12 documents of encyclopedia", {"by similarity": heads})
    app.session_state["pruning_orders"] = {(engine.key, "self"): found, ("another model", "self"): found}
    app.session_state["heads-section"] = "Switch off"
    app.session_state["heads-documents"] = 1
    app.session_state["heads-budget"] = 0.001
    app.run()
    assert "by similarity: from the Similarity page, found on 12 documents" in shown(app)
    pills = next(group for group in app.button_group if group.key == "heads-orders-3")
    assert pills.value == ["random", "attention alike", "by similarity"]
    pills.set_value(["by similarity"]).run()
    app.button(key="heads-pruning-start").click().run()
    finished(app)
    assert "by similarity" in next(m.value for m in app.markdown if m.value.startswith("Within"))


def test_orders_belong_to_one_model_and_the_oldest_go(monkeypatch):
    monkeypatch.setattr(pruning_orders.st, "session_state", {})
    for place in range(10):
        pruning_orders.hand_over(f"model {place}", None, pruning_orders.Orders(str(place), {}))
    assert pruning_orders.handed_over("model 9", "self").source == "9"
    assert pruning_orders.handed_over("model 9", "decoder") is None
    assert pruning_orders.handed_over("model 0", "self") is None
    assert len(pruning_orders.st.session_state["pruning_orders"]) == pruning_orders.MOST


def test_the_scores_worth_a_line_come_with_the_largest_first():
    row = pd.Series({"self": 0.5, "self_chance": 0.1, "cls": 0.3, "cls_chance": 0.01, "mean_lag": 4.0})
    assert chosen_scores(row) == ["self", "cls", "mean_lag"]
