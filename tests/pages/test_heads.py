"""The Heads page: panels open, long work is followed and kept, a click runs no forward pass."""

import time
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from lib.capture import Store
from lib.ui import cached, pruning_orders
from lib.ui.heads.numbers import chosen_scores
from lib.ui.heads.whole import told_once
from lib.ui.tables import html_table
from tests.pages.test_pages import pictures

DOOR = Path(__file__).resolve().parents[2] / "app.py"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("store")


@pytest.fixture(autouse=True)
def own_store(folder, monkeypatch):
    monkeypatch.setattr(cached, "STORE_FOLDER", folder)
    monkeypatch.setattr(cached, "store", lambda: Store(folder))


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
        if all(job.state != "running" for job in app.session_state["jobs"].values()):
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


def test_lines_that_are_one_and_the_same_share_a_name():
    def line(name, values):
        return pd.DataFrame({"score": name, "label": name.upper(), "layer": [0, 1], "value": values})

    found = told_once(pd.concat([line("cls", [0.1, 0.3]), line("sep", [0.1, 0.2]), line("first", [0.1, 0.3])]))
    assert list(found.groupby("label", sort=False).groups) == ["CLS = FIRST", "SEP"]
    assert len(found) == 4


def test_names_of_rows_are_explained_under_the_pointer_and_escaped():
    table = html_table(("", "score"), [("a<b", "1"), ("c", "2")], ['says "so"', ""])
    assert '<span title="says &quot;so&quot;"' in table and "a&lt;b</span>" in table
    assert ">c</td>" in table


def test_several_documents_are_named_where_the_numbers_are_theirs(app):
    app.session_state["heads-section"] = "Catalogue"
    app.run()
    app.run()
    assert "Measured on the first 5 documents" in shown(app)
