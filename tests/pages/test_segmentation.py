"""The Segmentation page: paste, see, take away; every section; models and texts that ask for words of explanation."""

import json
from pathlib import Path
from threading import Event
from time import sleep

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lib.segmentation import SegmentationError, segment
from lib.segmentation.judging import Answer, judged
from lib.ui import cached
from lib.ui.segmentation import benchmark, cutting, picture, tables
from lib.ui.segmentation.wording import TRANSCRIPT, share

DOOR = Path(__file__).resolve().parents[2] / "app.py"


def opened(**choice):
    app = AppTest.from_file(DOOR, default_timeout=180)
    for name, value in ({"corpus": "conversation"} | choice).items():
        app.session_state[name] = value
    app.run()
    return app.switch_page("pages/segmentation.py").run()


def said(app):
    kinds = ("markdown", "text", "caption", "html", "code", "info")
    return " ".join(str(element.value if kind != "html" else element.proto.body) for kind in kinds
                    for element in (app.get("html") if kind == "html" else getattr(app, kind)))  # fmt: skip


def section(app, name):
    return app.segmented_control(key="segmentation-section").set_value(name).run()


def test_a_pasted_transcript_is_cut_and_its_condition_told(fresh):
    app = opened()
    app.button(key="segmentation-example").click().run()
    assert not app.exception
    assert app.text_area(key="segmentation-text").value == TRANSCRIPT
    shown = said(app)
    assert "lower-cased, all punctuation removed (recognised)" in shown
    assert "on 318 documents" in shown
    assert "Your text\\: 2" in shown
    assert "“all heads” may serve better" in shown
    assert "may serve better" not in said(app.selectbox(key="segmentation-strength").set_value("heads").run())
    app = section(app, "methods")
    shown = said(app)
    assert "attention to [SEP], last layer, untrained" in shown
    assert "nothing here says who is right" in shown
    app.button(key="segmentation-clear").click().run()
    assert "Planning a walk" in said(app)
    assert not app.exception


def test_signals_methods_and_benchmark_of_a_document_with_known_sentences(fresh):
    app = section(opened(), "signals")
    assert not app.exception
    assert "true boundaries" in said(app) or "in one of twenty shifts" in said(app)
    shown = said(section(app, "methods"))
    assert "positions in tokens" in shown
    assert "rule . ! ?" in shown
    app.selectbox(key="segmentation-fails").set_value("rule . ! ? · as written").run()
    assert not app.exception
    app = section(app, "benchmark")
    assert not app.exception
    assert "Judge all methods on 12 documents" in [button.label for button in app.button]


def test_topics_are_cut_by_z_or_by_the_hidden_state(fresh):
    app = opened(corpus="topics")
    app.segmented_control(key="segmentation-granularity").set_value("topic").run()
    assert "change points of z + hidden" in said(app).lower()
    app.selectbox(key="segmentation-features").set_value("z").run()
    assert "change points of z per sentence" in said(app).lower()
    app.number_input(key="segmentation-count-topic").set_value(4).run()
    assert "4 topics" in said(app)
    assert "No change of topic" not in said(app)
    app.text_area(key="segmentation-text").set_value("We rowed on. The lake was calm. We rowed home.").run()
    app.number_input(key="segmentation-count-topic").set_value(None).run()
    assert "No change of topic was found" in said(app)
    assert not app.exception


def test_the_papers_method_alone_and_any_other_signal(fresh):
    app = opened(layer=2, head=3)
    app.selectbox(key="segmentation-strength").set_value("one").run()
    assert "Attention to [SEP] of L5, mean over heads, untrained" in said(app).replace("\\", "")
    app.selectbox(key="segmentation-signal").set_value("z_cosine_1").run()
    app.selectbox(key="segmentation-place").set_value("head").run()
    assert "Likeness of z, 1 token of L2 H3, untrained" in said(app)
    assert not app.exception


@pytest.mark.parametrize("pasted", ["word", "?!… -- ,,", "🦊🦊 🙂", "One sentence.", "| a | b |\n|---|---|\n| 1 | 2 |"])
def test_texts_with_little_to_cut_are_shown_in_every_section(fresh, pasted):
    app = opened()
    app.text_area(key="segmentation-text").set_value(pasted).run()
    for granularity in ("sentence", "topic"):
        app.segmented_control(key="segmentation-granularity").set_value(granularity).run()
        for name in ("signals", "methods"):
            assert not section(app, name).exception
    assert "nobody foresaw" not in said(app)


def test_another_language_is_told(fresh):
    assert "does not look like English" in said(opened(corpus="encyclopedia-ko"))


@pytest.mark.parametrize("granularity", ["sentence", "topic"])
@pytest.mark.parametrize("pasted", ["", "word", "We rowed on. The lake was calm. =1+1 <b>home</b>."])
def test_every_download_can_be_made(fresh, monkeypatch, granularity, pasted):
    """Also where a cut was found as a whole and has no threshold, which no JSON has a number for."""
    made = {}
    monkeypatch.setattr(picture, "download_row", lambda files, key: made.update(files))
    app = opened(corpus="topics")
    app.text_area(key="segmentation-text").set_value(pasted).run()
    app.segmented_control(key="segmentation-granularity").set_value(granularity).run()
    assert not app.exception
    taken = {label: make().decode("utf-8-sig") for label, (_, _, make) in made.items()}
    assert list(taken) == ["Text", "JSON", "CSV", "Subtitles", "Page"]
    read = json.loads(taken["JSON"], parse_constant=lambda name: pytest.fail(name))
    whole = granularity == "topic" and pasted != "word"
    assert (read["threshold"] is None) == whole
    assert ("# threshold: found as a whole" in taken["CSV"]) == whole
    assert "<!doctype html>" in taken["Page"].lower()


def test_nothing_is_offered_to_drag_and_nothing_said_of_talk_where_one_word_cannot_be_cut(fresh):
    app = opened()
    app.text_area(key="segmentation-text").set_value("word").run()
    shown = said(app)
    assert "1 sentence" in shown and "Threshold" not in shown
    assert "may serve better" not in shown
    app.text_area(key="segmentation-text").set_value("one two").run()
    assert "Threshold" in said(app)


def test_conditions_are_judged_in_their_own_order_and_none_is_told(fresh):
    app = section(opened(), "benchmark")
    app.button_group(key="segmentation-conditions").set_value(["bare", "written"]).run()
    assert not app.exception
    app.button_group(key="segmentation-conditions").set_value([]).run()
    assert "Choose a condition." in said(app)
    assert not app.exception


def test_a_table_of_methods_marks_the_best_and_escapes_what_it_is_given(monkeypatch):
    drawn = []
    monkeypatch.setattr(tables.st, "html", drawn.append)
    monkeypatch.setattr(tables.st, "markdown", drawn.append)
    monkeypatch.setattr(tables.st, "caption", drawn.append)
    right, wrong = Answer(np.array([2, 4]), np.array([2, 4]), 8), Answer(np.array([2, 4]), np.array([2, 5]), 8)
    tables.result_table([judged("c", "sentence", "as written", name, [answer]) for name, answer in
                         (("<b>ours</b>", right), ("theirs", wrong))])  # fmt: skip
    _, table, note = drawn
    assert "&lt;b&gt;ours&lt;/b&gt;" in table and "<b>ours" not in table
    cells = [row.split('<td role="cell">')[1:] for row in table.split('<tr role="row">')[2:]]
    assert [cell.startswith("<b>") for cell in cells[0]] == [False, True, True, True, False, True, False]
    assert not any(cell.startswith("<b>") for cell in cells[1])
    assert "1 document, 2 true boundaries, positions in tokens." in note


def test_a_long_text_waits_for_its_button(fresh):
    app = opened()
    app.text_area(key="segmentation-text").set_value("so we went on " * 2000).run()
    assert "Cut 8,000 words" in [button.label for button in app.button]
    assert not app.exception


def test_a_long_text_leaves_the_box_and_is_held_until_another_comes(fresh):
    """What stands in a box travels from the browser with every click and every second of progress."""
    app = opened()
    box = app.text_area(key="segmentation-text")
    box.set_value("so we went on " * 2000).run()
    assert app.text_area(key="segmentation-text").value == ""
    assert "so we went on so we" in app.text_area(key="segmentation-text").placeholder
    assert "Your text\\: 8,000 words" in said(app)
    app.text_area(key="segmentation-text").set_value(" ").run()
    assert "Your text\\: 8,000 words" in said(app)
    app.text_area(key="segmentation-text").set_value("It rained. We left.").run()
    assert "Your text\\: 4 words" in said(app)
    app.text_area(key="segmentation-text").set_value("so we went on " * 2000).run()
    app.button(key="segmentation-clear").click().run()
    assert "Planning a walk\\:" in said(app)
    app.text_area(key="segmentation-text").set_value("so " * 1_000_001).run()
    assert "at most 3,000,000 characters" in said(app)
    app.button(key="segmentation-clear").click().run()
    assert "at most 3,000,000" not in said(app)
    assert not app.exception


def test_too_many_segments_are_told(fresh):
    app = opened()
    app.text_area(key="segmentation-text").set_value("one two").run()
    app.number_input(key="segmentation-count-sentence").set_value(9).run()
    assert "that can be cut at 1 place" in said(app)
    assert "1 places" not in said(app)


def test_a_model_of_images_is_told(fresh):
    pytest.importorskip("onnx", reason="DINOv2-small comes with requirements-models.txt")
    app = opened(model="DINOv2-small", corpus="gratings")
    assert "a model that reads text" in said(app)
    keys = [widget.key or "" for kind in ("button", "text_area", "segmented_control") for widget in app.get(kind)]
    assert not [key for key in keys if key.startswith("segmentation")]  # nothing that would do nothing


def test_a_decoder_offers_what_it_has(fresh):
    app = opened(model="base", tokens=64)
    assert not app.exception
    shown = said(app)
    assert "looks back only" in shown
    assert "attention to [SEP]" in shown
    assert "--model base" in shown
    assert app.selectbox(key="segmentation-signal").value == "z_cosine_4"


def chosen(app, model):
    app.session_state["model"] = model
    return app.run()


def test_what_reads_the_text_comes_back_with_the_model_that_offers_it(fresh):
    app = opened(tokens=64)
    app.selectbox(key="segmentation-strength").set_value("heads").run()
    app = chosen(app, "base")
    assert app.selectbox(key="segmentation-strength").value == "one"
    assert app.selectbox(key="segmentation-signal").value == "z_cosine_4"
    assert "nothing to cut" not in said(section(app, "signals")).lower()
    assert "could be cut" not in said(app)
    app = chosen(app, "all-MiniLM-L6-v2")
    assert app.selectbox(key="segmentation-strength").value == "heads"
    app.selectbox(key="segmentation-strength").set_value("one").run()
    assert app.selectbox(key="segmentation-signal").value == "to_last"
    app.selectbox(key="segmentation-signal").set_value("from_last").run()
    app = chosen(app, "base")
    assert app.selectbox(key="segmentation-signal").value == "z_cosine_4"
    app = chosen(app, "all-MiniLM-L6-v2")
    assert app.selectbox(key="segmentation-signal").value == "from_last"
    assert not app.exception


@pytest.mark.parametrize("engines", ["2", "1"])
def test_a_running_cut_is_found_again_after_another_model(fresh, monkeypatch, engines):
    """With room for both models its bar comes back; where its model gave way, that is told beside the button."""
    monkeypatch.setenv("HEADLIGHT_ENGINES", engines)
    cached.residents.clear()
    go_on, at_work = Event(), Event()

    def slowly(now, source, ask, store, progress):
        at_work.set()
        while not go_on.wait(0.05):
            progress(1, 2, "at work")
            now.engine.require_loaded()
        return segment("One two. Three four.", None)

    app = opened()
    monkeypatch.setattr(cutting, "_cut", slowly)
    app.text_area(key="segmentation-text").set_value("so we went on " * 2000).run()
    app.button(key="segmentation-start").click().run()
    assert at_work.wait(30)
    assert "segmentation-stop" in [button.key for button in app.button]
    (job,) = app.session_state["jobs"].values()
    app = chosen(app, "base")
    assert "segmentation-start" in [button.key for button in app.button]
    if engines == "1":
        deadline(lambda: job.state != "running")
    app = chosen(app, "all-MiniLM-L6-v2")
    keys = [button.key for button in app.button]
    assert ("segmentation-stop" in keys, "segmentation-start" in keys) == (engines == "2", engines == "1")
    assert ("left unfinished" in said(app)) == (engines == "1")
    go_on.set()
    deadline(lambda: job.state != "running")
    cached.residents.clear()
    assert not app.exception


def deadline(ended):
    """Wait until something has ended; fails after half a minute."""
    for _ in range(600):
        if ended():
            return
        sleep(0.05)
    raise AssertionError("it goes on")


def test_uploaded_gold_is_read_or_its_line_is_told():
    documents = benchmark.uploaded_gold(b'{"sentences": ["One.", "Two."]}\n', "../x.jsonl", "sentence")
    assert [len(d.sentences) for d in documents] == [2]
    choi = b"==========\nOne.\nTwo.\n==========\nThree.\n==========\n"
    assert [d.name for d in benchmark.uploaded_gold(choi, "x.ref", "topic")] == ["x"]
    with pytest.raises(SegmentationError, match="line 1"):
        benchmark.uploaded_gold(b"{\n", "x.jsonl", "sentence")
    with pytest.raises(SegmentationError, match="at least one sentence boundary"):
        benchmark.uploaded_gold(b"Only one sentence here.\n", "x.txt", "sentence")
    with pytest.raises(ValueError, match="line 2"):
        benchmark.uploaded_gold(b"# sent_id = 1\nnot conllu\n\n", "x.conllu", "sentence")


def test_a_dragged_threshold_is_of_one_cut_only(monkeypatch):
    state = {picture.DRAGGED: ("this cut", 250)}
    monkeypatch.setattr(picture.st, "session_state", state)
    this, other = (type("Made", (), {"key": key})() for key in ("this cut", "another"))
    assert (picture.dragged(this), picture.dragged(other)) == (250, None)


@pytest.mark.parametrize(("value", "told"), [(0.874, "0.87"), (1.0, "1.00"), (0.0, "0.00"), (float("nan"), "–")])
def test_scores_are_told_shortly(value, told):
    assert share(value) == told


def test_one_length_is_told_without_a_mean_and_no_line_is_spoken_of_that_is_not_there(fresh):
    assert picture.words_each([3, 1000]) == "501.5 words each, 3 – 1,000"
    assert picture.words_each([248]) == "248 words"
    assert picture.words_each([1, 1]) == "1 word each"
    app = opened()
    app.text_area(key="segmentation-text").set_value("It rained here. We left early.").run()
    app = app.segmented_control(key="segmentation-granularity").set_value("topic").run()
    assert not app.exception
    assert ">6 words<" in said(app)
    assert "words each" not in said(app)
