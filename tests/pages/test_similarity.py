"""The Similarity page: what it shows on text and on images, its controls, and bad input that it has to tell."""

import math
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from lib.corpora import Document, builtin, from_text
from lib.similarity import Freeze
from lib.ui import cached, tables, texts, verdicts
from lib.ui.similarity import anchors, compare, document, heads, layers, measures, pairs, wording
from lib.verdicts import verdict
from lib.views.packet import restore, unpack
from tests.pages.test_embeddings import places

DOOR = Path(__file__).resolve().parents[2] / "app.py"


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(cached, "STORE_FOLDER", tmp_path)
    cached.store.clear()
    cached.shelves.clear()
    yield tmp_path
    cached.store.clear()
    cached.shelves.clear()


def opened(**choice):
    """The page in a new session: few documents, short, so that a run takes seconds."""
    app = AppTest.from_file(DOOR, default_timeout=180)
    app.session_state["similarity-documents"] = 6
    for name, value in ({"tokens": 64} | choice).items():
        app.session_state[name] = value
    app.run()
    return app.switch_page("pages/similarity.py").run()


def said(app):
    return " ".join(element.value for kind in ("markdown", "text", "caption") for element in getattr(app, kind))


def choose(app, key, value):
    return app.segmented_control(key=key).set_value(value).run()


def test_every_section_opens(store):
    app = opened()
    assert not app.exception
    assert "Rank correlation with layer" in said(app)
    assert "different anchors" in said(choose(app, "similarity-section", "anchors"))
    choose(app, "similarity-section", "verdicts")
    counts = next(element.value for element in app.markdown if "** reproduced" in element.value)
    assert sum(int(part) for part in counts.split("**")[1::2]) == 5
    choose(app, "similarity-section", "uses")
    assert "Orders of removal" in said(app)
    (handed,) = app.session_state["pruning_orders"].values()
    assert "6 documents of encyclopedia" in handed.source
    assert list(handed.orders) == ["by similarity", "by repetition"]
    assert all(len(set(order)) == 72 for order in handed.orders.values())
    assert "rows" in said(choose(app, "similarity-use", "features"))
    assert "reciprocal rank" in said(choose(app, "similarity-use", "keywords"))
    assert not app.exception


def picture(app, key):
    """Meta and arrays of the picture with that key."""
    return unpack(next(e.proto.bytes for e in app.get("bidi_component") if e.proto.id.endswith(f"-{key}")))


def test_with_words_as_the_unit_every_picture_shows_words(store):
    text = "Photosynthesizers don't photosynthesize. Embeddings of photosynthesizers are unbelievable."
    words = ["Photosynthesizers", "don't", "photosynthesize", ".", "Embeddings", "of", "photosynthesizers", "are",
             "unbelievable", "."]  # fmt: skip
    own = texts.OwnText("pasted", tuple(from_text(text)), ())
    app = opened(own_texts={"own-1": own}, corpus="own-1", special=False)
    by_token, attended = (picture(app, f"similarity-{which}") for which in ("matrix", "attention"))
    assert by_token[0]["row_title"] == "token" and len(by_token[0]["rows"]) > len(words)
    choose(app, "similarity-unit", "words")
    meta, arrays = picture(app, "similarity-matrix")
    assert meta["rows"] == meta["columns"] == words and meta["row_title"] == "word"
    assert meta["row_lines"] == meta["column_lines"] == [4]  # the second sentence begins
    assert len(arrays["codes"]) == len(words), "and its statistics count as many"
    beside, looked = picture(app, "similarity-attention")
    assert beside["rows"] == beside["columns"] == words
    whole, parts = (restore(a["codes"], m["low"], m["high"]) for m, a in ((beside, looked), attended))
    assert whole[5].sum() == pytest.approx(parts[by_token[0]["rows"].index("of")].sum(), abs=2e-3), "its row's total"
    pieces = picture(app, "similarity-links")[0]["query"]["pieces"]
    assert pieces == words
    assert "Words are drawn at their first token" not in said(app)
    assert "How far apart the similar words stand." in said(app)
    assert "a word that occurs 5 times" in said(choose(app, "similarity-section", "anchors"))
    assert not app.exception


def test_with_words_as_the_unit_anchors_are_told_of_words(store):
    app = opened(**{"similarity-section": "anchors", "similarity-unit": "words"})
    told = said(app)
    assert "**Words that L2 H9 draws others to**" in told and "**Neighbourhood of a word**" in told
    assert "Different words that it makes alike" in told
    assert not app.exception


def test_controls_change_what_is_measured(store):
    app = opened()
    for key, value in (("similarity-kind", "cosine"), ("similarity-shown", "raw"), ("similarity-unit", "words")):
        choose(app, key, value)
    app.selectbox(key="similarity-statistic").set_value("same_token").run()
    choose(app, "similarity-pairs", "same")
    assert not app.exception
    assert "Repetition by layer" in said(app)
    app.number_input(key="similarity-top").set_value(0.01).run()  # 63 tokens: less than one pair
    assert not app.exception
    assert "Expected" not in said(app)


def test_a_change_of_head_measures_nothing_again(store, monkeypatch):
    app = opened()
    held = sorted(store.glob("*.safetensors"))
    measured = []
    monkeypatch.setattr(measures, "measure", lambda *_: measured.append(1))
    app.number_input(key="layer").set_value(4).run()
    assert not app.exception
    assert "**L4 H9**" in said(app)
    assert measured == []
    assert sorted(store.glob("*.safetensors")) == held


def drawn(app):
    """Every chart of the page as it is sent."""
    return [chart.proto.SerializeToString() for chart in app.get("vega_lite_chart")]


def test_another_head_makes_no_chart_of_the_layers_anew(store, monkeypatch):
    app = opened(layer=2, head=3)
    before = drawn(app)
    assert len(before) == 6
    made = []
    line = layers.charts.line
    monkeypatch.setattr(layers.charts, "line", lambda *given, **named: made.append(1) or line(*given, **named))
    app.number_input(key="head").set_value(4).run()
    assert "**L2 H4**" in said(app)
    assert made == [] and drawn(app) == before
    app.number_input(key="layer").set_value(4).run()
    assert len(made) == 2, "two of them show one layer"
    assert [one != other for one, other in zip(drawn(app), before, strict=True)].count(True) == 2
    app.selectbox(key="similarity-statistic").set_value("same_token").run()
    assert len(made) == 5 and "Repetition ÷ chance by layer" in said(app), "another statistic: three curves"


def test_another_head_makes_no_table_of_all_heads_anew(store, monkeypatch):
    app = opened(**{"similarity-section": "anchors"})
    monkeypatch.setattr(anchors, "anchors_of", lambda *_: pytest.fail("measured again"))
    app.number_input(key="head").set_value(4).run()
    assert "different anchors" in said(app) and "cannot be shown" not in said(app)


@pytest.mark.parametrize("pasted", ["one", "the the the the the the", "Seán 東京 한국어 💩 don’t"])
def test_short_and_uniform_texts_are_shown_or_told(store, pasted):
    app = opened()
    app.text_area(key="pasted").set_value(pasted)
    app.button(key="read-pasted").click().run()
    app.toggle(key="special").set_value(False).run()
    assert not app.exception
    expected = "at least one document with two tokens" if pasted == "one" else "Rank correlation"
    assert expected in said(app)


def test_images_are_measured_in_patch_steps(store):
    pytest.importorskip("onnx", reason="DINOv2-small comes with requirements-models.txt")
    app = opened(model="DINOv2-small", corpus="gratings")
    assert not app.exception
    assert app.selectbox(key="similarity-statistic").options == ["Mean distance"]
    assert "patch steps" in said(app)
    assert "images have no anchors" in said(choose(app, "similarity-section", "anchors"))
    assert "Orders of removal" in said(choose(app, "similarity-section", "uses"))
    (handed,) = app.session_state["pruning_orders"].values()
    assert list(handed.orders) == ["by similarity"]


def test_a_second_model_that_cannot_be_loaded_is_told(store):
    second = {"similarity-section": "uses", "similarity-use": "second", "similarity-second": "/no/such/folder"}
    app = opened(**second)
    assert not app.exception
    assert "Expected" in said(app)
    assert cached.engine("all-MiniLM-L6-v2", "auto", "float32").model is not None


def test_links_are_the_selected_pairs_and_nothing_else():
    frame = pd.DataFrame({"first": [1, 2], "second": [3, 4], "similarity": [2.0, -1.0]})
    matrix = pairs.link_matrix(frame, np.array([1, 2, 3, 4]))  # position 0 is hidden
    assert np.array_equal(matrix, matrix.T)
    assert np.argwhere(np.triu(matrix)).tolist() == [[0, 2], [1, 3]]
    assert matrix[0, 2] == 2.0
    assert 0 < matrix[1, 3] < 0.01  # a negative similarity is selected all the same


def test_pairs_of_a_kind_are_told_apart():
    frame = pd.DataFrame(
        {
            "same_token": [True, False, False, False],
            "same_sentence": [False, True, False, False],
            "other_sentence": [True, False, True, False],  # the last with [SEP], which stands in no sentence
        }
    )
    found = {kind: pairs.filtered(frame, kind).index.tolist() for kind in pairs.PAIRS}
    assert found == {"all": [0, 1, 2, 3], "same": [0], "within": [1], "across": [0, 2]}


def test_heads_apart_from_chance_are_counted():
    table = pd.DataFrame({"x_lift": [2, 1, 0.5], "x_lift_low": [1.5, 0.8, 0.4], "x_lift_high": [2.5, 1.2, 0.6]})
    assert heads.separated(table, "x").startswith("1 of 3 heads lie above chance and 1 below")
    table[["x_lift_low", "x_lift_high"]] = np.nan
    assert "two documents" in heads.separated(table, "x")


@pytest.mark.parametrize(
    ("value", "counted", "expected"),
    [
        (0.314, "share", "31 %"),
        (0.0314, "share", "3.1 %"),
        (81.92, "tokens", "81.9"),
        (-0.482, "sd", "−0.48"),
        (-0.001, "sd", "0.00"),
        (math.nan, "share", "–"),
    ],
)
def test_numbers_have_two_or_three_digits(value, counted, expected):
    assert wording.number(value, counted) == expected


@pytest.mark.parametrize(
    ("value", "expected"), [(0.984, "0.98 ×"), (0.998, "1.0 ×"), (7.52, "7.5 ×"), (9.97, "10 ×"), (math.nan, "–")]
)
def test_a_lift_tells_one_from_less_than_one(value, expected):
    assert wording.times(value) == expected


def test_intervals_of_shares_and_distances_stay_within_what_is_possible():
    assert wording.interval(-0.0046, 0.059, "share") == "[0, 5.9]"
    assert wording.interval(0.91, 1.04, "share") == "[91, 100]"
    assert wording.interval(-2.0, 3.0, "tokens") == "[0.0, 3.0]"
    assert wording.interval(-0.04, 0.1, "sd") == "[−0.04, 0.10]"


@pytest.mark.parametrize(
    ("low", "frozen", "said"), [(np.nan, (), "not decided"), (0.2, (), ": none"), (0.97, (0, 1), ": L0, L1.")]
)
def test_layers_to_freeze_are_named_or_not_decided(low, frozen, said):
    frame = pd.DataFrame({"layer": [0, 1], "cka": 0.98, "low": low, "high": low})
    assert said in compare.frozen_sentence(Freeze(frame, frame, frozen, frozen, 0.95))


def test_attention_mass_is_told_beside_its_chance():
    row = {"layer": 5, "mass": 0.2, "chance": 0.05, "lift": 4.0}
    told = layers.mass_sentence(pd.DataFrame([{**row, "layer": 0, "on": "[SEP]"}, {**row, "on": "sentence ends"}]))
    assert "In the last layer: sentence ends 20 %, chance 5 % (4.0 ×)." in told
    assert "[SEP]" not in told  # what the last layer does not have is not explained
    assert "[SEP] any later one" in layers.mass_sentence(pd.DataFrame([{**row, "on": "[SEP]"}]))


def test_a_file_about_all_documents_names_the_corpus_and_no_single_document(store, monkeypatch):
    kept = []
    monkeypatch.setattr(anchors, "csv_table", lambda table, facts: kept.append(facts) or b"")
    monkeypatch.setattr(anchors, "download_row", lambda files, key: [make() for _, _, make in files.values()])
    assert not opened(**{"similarity-section": "anchors"}).exception
    facts = kept[-1]
    assert facts["corpus"] == "encyclopedia" and facts["corpus_documents"] == 6 and facts["most_tokens"] == 64
    assert not {"document", "layer", "head"} & set(facts)


def test_one_minus_sign_in_sentences_intervals_and_tables():
    assert wording.ends(-0.4849, 0.1, "+.2f") == "[−0.48, +0.10]"
    assert wording.ends(math.nan, 0.1, "+.2f") == ""
    frame = pd.DataFrame({"n": [103.0, 12.5, 2022.0], "pmi": [-0.5, 0.25, math.nan]})
    drawn = tables.numbered(frame, {"n": anchors.COUNT, "pmi": ".2f"}).to_html()
    for cell in (">103<", ">12.5<", ">2,022<", ">−0.50<", ">0.25<", ">–<"):
        assert cell in drawn


def test_a_verdict_is_drawn_with_everything_it_rests_on_and_nothing_runs():
    found = verdict(
        "H-thirty", -0.31, (-0.4, -0.2), {"no change": 0.0}, model="m", corpus="<script>x</script>", documents=20
    )
    drawn = verdicts.card(found)
    assert "reproduced" in drawn
    assert "[−0.4, −0.2]" in drawn
    assert "20 documents" in drawn
    assert "<script>" not in drawn
    assert verdicts.strip(found).count("position:absolute") == 4  # axis, null, interval, dot
    nothing = verdict(
        "H-thirty", math.nan, (math.nan, math.nan), {"no change": 0.0}, model="m", corpus="c", documents=20
    )
    assert verdicts.strip(nothing) == ""
    assert b"undecided" in verdicts.verdicts_csv([nothing])


def test_the_number_of_documents_is_what_the_corpus_holds_and_is_remembered(store):
    app = opened(corpus="conversation")
    count = app.number_input(key="similarity-documents-of-12")
    assert len(builtin("conversation")) == count.max == 12
    count.set_value(3).run()
    app.text_area(key="pasted").set_value("The cat sat. The cat ran away and the dog ran after the cat.")
    app.button(key="read-pasted").click().run()
    assert not app.exception
    assert not [box for box in app.number_input if box.key.startswith("similarity-documents")]  # one document
    told = said(app) + " ".join(element.proto.body for element in app.get("html"))
    assert "1 documents" not in told
    assert "[95 %]" not in told
    assert "No interval: that takes two documents or more." in heads_note(app)
    assert app.session_state["similarity-documents"] == 3


def heads_note(app):
    """The words inside the packet of the map."""
    packet = next(e.proto for e in app.get("bidi_component") if "similarity-map" in e.proto.id)
    return str(packet)


def test_a_tip_without_an_interval_has_no_stray_space():
    row = pd.Series({"distance": 2.9, "distance_low": math.nan, "distance_high": math.nan, "distance_chance": 4.0})
    assert heads._tip(row, "distance") == "2.9, chance 4.0"
    row["distance_low"], row["distance_high"] = 2.5, 3.5
    assert heads._tip(row, "distance") == "2.9 [2.5, 3.5], chance 4.0"


def test_colours_end_where_few_pairs_lie_beyond():
    matrix = np.ones((40, 40))
    matrix[0, 1] = matrix[1, 0] = 100.0
    np.fill_diagonal(matrix, 1000.0)
    assert document._strong(matrix) == pytest.approx(1.0)
    assert document._strong(np.zeros((3, 3))) == document._strong(np.full((1, 1), 7.0)) == 1.0


def test_one_pasted_document_has_anchors_and_undecided_verdicts(store):
    own = texts.OwnText("pasted", (Document("pasted text", builtin("encyclopedia")[0].text),), ())
    app = opened(own_texts={"own-1": own}, corpus="own-1", tokens=256)
    told = said(choose(app, "similarity-section", "anchors"))
    assert "not defined: one document" in told and "different anchors in 72 heads" in told
    assert "Expected" not in told and "nan" not in told
    table = next(frame.value for frame in app.dataframe if "halves" in frame.value)
    assert len(table) == 72 and set(table["halves"]) == {"not defined: one document"}
    assert "documents or more" not in told and "Intervals over documents" not in told
    choose(app, "similarity-section", "verdicts")
    told = said(app)
    assert "with 1 document." in told
    assert "**0** reproduced" in told and "**5** undecided" in told
    assert any("it takes two documents" in element.proto.body for element in app.get("html"))
    assert not app.exception


@pytest.mark.parametrize(
    ("section", "use"), [("layers", ""), ("anchors", ""), ("verdicts", ""), ("uses", "orders"), ("uses", "features")]
)
def test_no_picture_changes_its_place_once_all_is_measured(store, section, use):
    chosen = {"similarity-section": section} | ({"similarity-use": use} if use else {})
    app = opened(layer=2, head=3, **chosen)
    before = places(app)
    assert "similarity-matrix" in before
    app.number_input(key="head").set_value(4).run()
    assert places(app) == before
