"""The Embeddings page: what it shows of real models, what it tells of bad input, and that nothing is made twice."""

import threading
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lib.embeddings import MapSettings
from lib.errors import HeadlightError
from lib.ui import cached
from lib.ui.embeddings import every, maps, measures, numbers, pace, stage
from lib.ui.embeddings.claims import named_heads
from lib.ui.embeddings.colours import Known, colouring
from lib.ui.embeddings.measures import Ask, map_points
from lib.ui.embeddings.ordered import bars
from lib.verdicts import verdict

DOOR = Path(__file__).resolve().parents[2] / "app.py"


def opened(**choice):
    """The page in a new session that reads few tokens, so that a run takes seconds."""
    app = AppTest.from_file(DOOR, default_timeout=240)
    for name, value in ({"embeddings-read": 600} | choice).items():
        app.session_state[name] = value
    app.run()
    return app.switch_page("pages/embeddings.py").run()


def said(app):
    return " ".join(element.value for kind in ("markdown", "text", "caption") for element in getattr(app, kind))


def drawn(app):
    """The trust numbers under the large picture, as the page writes them."""
    return " ".join(element.proto.body for element in app.get("html"))


def available(name):
    return any(entry.name == name and entry.available for entry in cached.models.catalogue())


def test_all_heads_one_head_and_its_trust_without_a_second_pass(fresh, monkeypatch):
    app = opened(layer=2, head=3)
    assert not app.exception
    assert "attention stays exactly as it was" in said(app)
    assert "near here, near in full" in drawn(app)
    assert "L2 H3: what tells a token from its neighbours" in said(app)
    assert "rotation" not in said(app), "BERT adds positions to its input"

    passes = []
    monkeypatch.setattr(measures, "stored", lambda *_, **__: passes.append("capture"))
    monkeypatch.setattr(maps, "tiles", lambda *_, **__: passes.append("maps"))
    app.selectbox(key="embeddings-colour").set_value("position_mod_5").run()
    app.selectbox(key="embeddings-colour").set_value("norm").run()
    app.text_input(key="embeddings-search").set_value("the").run()
    assert not app.exception
    assert "documents" in said(app) and "distinct" in said(app)
    assert passes == []


@pytest.mark.parametrize(
    ("wanted", "kind", "expected"),
    [
        ("(", "regex", "a regular expression"),
        ("xyzzy", "exact", "No token is"),
        (".*", "regex", "tokens match"),
    ],
)
def test_a_search_that_is_wrong_or_finds_nothing_or_everything_leaves_the_picture(fresh, wanted, kind, expected):
    app = opened(**{"embeddings-search": wanted, "embeddings-search-kind": kind})
    assert not app.exception
    assert expected in said(app)
    assert "near here, near in full" in drawn(app)


def test_a_rotary_model_says_which_vectors_these_are(fresh):
    if not available("SmolLM2-135M-Instruct"):
        pytest.skip("SmolLM2 comes with requirements-models.txt")
    app = opened(model="SmolLM2-135M-Instruct", **{"embeddings-read": 160, "embeddings-scale": "search"})
    assert not app.exception
    assert "Post-rotary" in said(app)
    assert "Weighted Pearson over" in said(app)
    assert "near here, near in full" in drawn(app)


def test_images_are_coloured_by_what_is_in_them(fresh):
    if not available("DINOv2-small"):
        pytest.skip("DINOv2-small comes with requirements-models.txt")
    app = opened(model="DINOv2-small", corpus="gratings", **{"embeddings-colour": "patch"})
    assert not app.exception
    assert {"hue", "brightness", "orientation"} <= set(app.selectbox(key="embeddings-colour").options)
    assert "hue" in drawn(app) and "orientation" in drawn(app), "what orders this map asks for what images have"
    assert "near here, near in full" in drawn(app)


def test_five_tokens_are_clamped_and_said(fresh):
    app = AppTest.from_file(DOOR, default_timeout=240)
    app.session_state["embeddings-method"] = "umap"
    app.run()
    app.text_area(key="pasted").set_value("Cats purr softly.").run()
    app.button(key="read-pasted").click().run()
    app.switch_page("pages/embeddings.py").run()
    assert not app.exception
    assert "cannot be shown" not in said(app)
    assert "near here, near in full" in drawn(app)


def test_all_heads_are_ranked_judged_and_told_in_words(fresh):
    app = opened(corpus="probes", tokens=16, **{"embeddings-read": 300})
    next(one for one in app.button if one.label == "Measure all heads").click().run()
    end = time.monotonic() + 300
    while "beyond exchanged labels" not in said(app) and time.monotonic() < end:
        time.sleep(0.5)
        app.run()
    ranked = [one for one in app.button if one.key.startswith("embeddings-ranked")]
    ranked[0].click().run()
    assert app.selectbox(key="embeddings-colour").value == "position"
    for section, expected in (("words", "Choose a row to open its head"), ("findings", "paper: −0.938 BERT")):
        app.segmented_control(key="embeddings-section").set_value(section).run()
        assert not app.exception and "cannot be shown" not in said(app)
        assert expected in said(app)
    opens = next(one for one in app.button if one.label.startswith("Open L"))
    layer, head = opens.label.removeprefix("Open L").split(" H")
    opens.click().run()
    assert (app.number_input(key="layer").value, app.number_input(key="head").value) == (int(layer), int(head))


def small(**change):
    return Ask(**({"stream": "self", "read": 400, "method": "umap", "scale": "variance",
                   "roles": ("query", "key"), "special": True} | change))  # fmt: skip


@pytest.fixture(scope="module")
def taken():
    from lib.capture import capture
    from lib.corpora import builtin, encode

    engine = cached.engine("all-MiniLM-L6-v2", "cpu", "float32")
    read = [encode(document, engine, 20) for document in builtin("encyclopedia")[:4]]
    return capture(engine, read, layers=[1, 4])


def finished(made, first=(1, 0)):
    end = time.monotonic() + 600  # compiling UMAP on a busy machine
    while made.state not in ("done", "failed") and time.monotonic() < end:
        made.go_on(first)  # as a page does that looks every two seconds
        time.sleep(0.05)
        if made.stopped and not made.busy:
            break
    return made


def test_two_visitors_share_maps_that_are_drawn_once(fresh, taken, monkeypatch):
    monkeypatch.setattr(pace, "free_bytes", lambda _: 0)  # no processes of their own on a small machine
    settings = small().settings(20)
    one, other = (maps.maps(taken, settings, 40) for _ in range(2))
    assert one is other
    finished(one)
    assert one.state == "done" and one.ready.all()
    again = maps.Maps(taken, settings, np.zeros_like(one.points), np.zeros_like(one.ready))
    finished(again)
    np.testing.assert_array_equal(again.points, one.points)


def test_maps_stop_in_the_middle_and_go_on(fresh, taken, monkeypatch):
    monkeypatch.setattr(pace, "free_bytes", lambda _: 0)  # no processes of their own on a small machine
    settings = small().settings(21)
    made = maps.maps(taken, settings, 42)
    put = maps.Maps.put

    def one_then_stop(self, tile):
        put(self, tile)
        self.stopped = True

    monkeypatch.setattr(maps.Maps, "put", one_then_stop)
    finished(made)
    assert made.state == "resting" and 1 <= made.ready.sum() < made.ready.size
    monkeypatch.setattr(maps.Maps, "put", put)
    made.stopped = False
    finished(made)
    assert made.state == "done" and made.ready.all()


def test_two_kinds_of_maps_asked_for_at_once_are_queued(fresh, taken):
    kinds = [maps.maps(taken, small().settings(most), 2 * most) for most in (18, 19)]
    for made in kinds:
        made.go_on((1, 0))
    for made in kinds:
        finished(made)
    assert [made.state for made in kinds] == ["done", "done"]


def waited(until, seconds=60):
    end = time.monotonic() + seconds
    while not until():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_second_seed_that_takes_seconds_is_not_waited_for(fresh, taken, monkeypatch):
    settings = MapSettings(method="tsne", most=20)
    tile = measures.one_map(taken, settings, 4, 11)
    one = SimpleNamespace(settings=settings, tile=tile)
    gate = threading.Event()
    real = numbers.project
    monkeypatch.setattr(numbers, "project", lambda *given: gate.wait(60) and real(*given))
    assert numbers.has_second_seed(one)
    assert numbers.second_seed(taken, one) is None
    found = measures.trusted_numbers(taken, settings, tile, None)
    assert np.isnan(found.seeds)
    assert "being measured" in numbers.strip_html(found, "tsne", seeds_coming=True)
    gate.set()
    waited(lambda: numbers.second_seed(taken, one) is not None)
    again = measures.trusted_numbers(taken, settings, tile, numbers.second_seed(taken, one))
    assert 0 <= again.seeds <= 1
    assert "being measured" not in numbers.strip_html(again, "tsne")


def test_the_head_that_a_thread_begins_with_is_known(fresh, taken, monkeypatch):
    gate = threading.Event()
    real = maps.tiles

    def late(*given, **named):
        gate.wait(60)
        yield from real(*given, **named)

    monkeypatch.setattr(maps, "tiles", late)
    monkeypatch.setattr(pace, "free_bytes", lambda _: 0)  # no processes of their own on a small machine
    settings = MapSettings(method="umap", most=20)
    made = maps.maps(taken, settings, 40)
    assert not made.begins_with((4, 11))
    made.go_on((4, 11))
    waited(lambda: made.state == "drawing")
    assert made.begins_with((4, 11)) and not made.begins_with((4, 10))
    gate.set()
    waited(lambda: not made.begins_with((4, 11)))
    assert made.ready[made.taken.layer_index(4), 11]
    made.stopped = True
    waited(lambda: not made.busy)


def test_another_method_sample_or_scale_is_another_map(taken):
    changes = ({}, {"method": "tsne"}, {"scale": 2.0}, {"special": False}, {"roles": ("key",)})
    keys = {small(**change).settings(most).key(taken.hash, 1, 0) for most in (10, 20) for change in changes}
    assert len(keys) == 10


def test_every_point_knows_its_token(taken):
    settings = MapSettings(roles=("query", "key", "value", "z"), most=10)
    own, theirs = settings.samples(taken)
    points = map_points(settings, own, theirs)
    assert points.role.tolist() == [0] * 10 + [1] * 10 + [2] * 10 + [3] * 10
    assert points.key_side.tolist() == [False] * 10 + [True] * 20 + [False] * 10
    assert (points.token.reshape(4, 10) == own.rows).all()


def test_pictures_of_low_trust_are_marked_once_measured(fresh, taken, monkeypatch):
    monkeypatch.undo()
    settings = small(method="pca").settings(40)
    on = SimpleNamespace(taken=taken, ask=small(method="pca"))
    made = maps.maps(taken, settings, 80)
    assert every.doubtful(on, every.known_trust(on, made)) is None
    every.trust_soon(on, made)
    end = time.monotonic() + 300
    while every.known_trust(on, made) is None and time.monotonic() < end:
        time.sleep(0.05)
    table = every.known_trust(on, made)
    assert len(table) == 24
    assert every.doubtful(on, table).sum() == (table.doubtful != "").sum() > 0


def test_a_stray_point_does_not_make_a_speck_of_the_others():
    xy = np.random.default_rng(0).normal(size=(1000, 2)).astype(np.float32)
    xy[0] = 1e4
    framed = maps.framed(xy)
    assert np.ptp(framed, axis=0).max() < 8
    inside = (np.abs(xy) < 2).all(axis=1)
    np.testing.assert_array_equal(framed[inside], xy[inside])


def test_a_missing_attention_is_refused(fresh, taken, monkeypatch):
    monkeypatch.setattr(measures, "reading", lambda *_: None)
    monkeypatch.setattr(measures, "reading_key", lambda *_: "k")
    monkeypatch.setattr(measures.cached, "kept", lambda *_: taken)
    with pytest.raises(HeadlightError, match="cross"):
        measures.captured(None, small(stream="cross"))


def test_colours_name_what_they_do_not_know(taken):
    from lib.embeddings import text_attributes

    settings = MapSettings(most=40)
    points = map_points(settings, *settings.samples(taken))
    known = text_attributes(taken.tokens)
    for name in ("type", "position", "position_mod_5", "frequency", "length", "punctuation", "part_of_speech",
                 "sentence", "document", "special"):  # fmt: skip
        found = colouring(name, Known(known, known), points, (taken.tokens, taken.key_tokens), image=False)
        assert len(found.classes) == 80 and found.classes.max() < len(found.colours), name
    tags = colouring("part_of_speech", Known(known, known), points, (taken.tokens,) * 2, image=False)
    assert tags.legend[-1]["name"] == "other words"


def test_heads_named_by_a_claim_are_offered_once():
    found = verdict(
        "V-norm-gap", 1.0, (0.5, 1.5), {"no gap": 0.0}, note="Largest: L4 H11 and L0 H3, then L4 H11.", model="m",
        corpus="c", documents=9,
    )  # fmt: skip
    assert named_heads(found) == [(4, 11), (0, 3)]


def test_bars_escape_nothing_undefined():
    import pandas as pd

    table = pd.DataFrame({"attribute": ["position", "hue"], "strength": [0.5, float("nan")], "ordered": [True, False]})
    text = bars(table, {"position": 0.25}, image=True)
    assert "width:50.0%" in text and "not defined here" in text and "calc(25.0% - 5px)" in text


def test_the_edge_is_the_end():
    from lib.ui.embeddings.one import neighbour

    on = SimpleNamespace(place=(0, 11), taken=SimpleNamespace(query=np.zeros((6, 12, 1, 1)), layers=(3, 4, 5, 6, 7, 8)))
    assert neighbour(on, -1, 0) == (3, 11) and neighbour(on, 1, 0) == (4, 11) and neighbour(on, 0, 1) == (3, 11)
    assert stage.Stage.chosen.fget(SimpleNamespace(place=(2, 1), taken=on.taken)) == (5, 1)


def test_clicks_are_answered_while_points_are_arranged(fresh, monkeypatch):
    gate, asked = threading.Event(), []
    real = measures.project

    def late(*given, **named):
        asked.append(1)
        gate.wait(120)
        return real(*given, **named)

    monkeypatch.setattr(measures, "project", late)
    monkeypatch.setattr(maps.Maps, "go_on", lambda *_: None)
    try:
        app = opened(layer=2, head=3, tokens=16, **{"embeddings-method": "tsne", "embeddings-read": 200})
        assert [one.proto.text for one in app.get("progress")][-1].startswith("L2 H3 by t-SNE.")
        app.number_input(key="head").set_value(4).run()
        assert [one.proto.text for one in app.get("progress")][-1].startswith("L2 H4 by t-SNE.")
        assert len(asked) == 2 and not app.exception
        assert "What tells a token" not in said(app), "nothing is said of a picture that is not there"
    finally:
        gate.set()
    end = time.monotonic() + 120
    while "near here, near in full" not in drawn(app) and time.monotonic() < end:
        time.sleep(0.2)
        app.run()
    assert "near here, near in full" in drawn(app) and "cannot be shown" not in said(app)


def test_how_long_all_heads_take_is_said_beforehand_and_meanwhile(fresh, taken, monkeypatch):
    monkeypatch.setattr(pace, "free_bytes", lambda _: 1 << 40)
    monkeypatch.setattr(pace.os, "cpu_count", lambda: 2)
    assert pace.expected("tsne", 72, 2_000) == pytest.approx(374.4)
    monkeypatch.setattr(pace, "free_bytes", lambda _: 0)
    assert pace.expected("tsne", 72, 2_000) == pytest.approx(748.8), "no memory for a second process"
    assert [pace.spoken(seconds) for seconds in (3, 41, 60, 61, 374.4)] == ["10 s", "50 s", "60 s", "2 min", "7 min"]

    made = maps.Maps(taken, MapSettings("tsne", most=20), np.zeros((2, 12, 40, 2), np.uint16), np.zeros((2, 12), bool))
    assert made.seconds_left() == pytest.approx(24 * 40 * pace.SECONDS["tsne"]), "nothing is drawn yet"
    made.state, made.drawn, made.ready[0, :4] = "drawing", 4, True
    made.began = time.monotonic() - 20
    assert made.seconds_left() == pytest.approx(20 / 4 * 20, rel=0.05), "by what the four took"


def test_the_names_of_slow_methods_tell_how_long_they_take(fresh, monkeypatch):
    monkeypatch.setattr(pace, "free_bytes", lambda _: 0)
    app = opened(tokens=16, **{"embeddings-read": 200})
    names = app.segmented_control(key="embeddings-method").options
    assert [name.split(" :")[0] for name in names] == ["PCA", "UMAP", "t-SNE"]
    assert "≈ 13 min" in names[2] and "≈ 2 min" in names[1] and "≈" not in names[0]


def test_maps_left_for_others_are_not_drawn_on(fresh, taken, monkeypatch):
    monkeypatch.setattr(pace, "free_bytes", lambda _: 0)  # no processes of their own on a small machine
    put = maps.Maps.put

    def one_then_leave(self, tile):
        put(self, tile)
        self.left()

    monkeypatch.setattr(maps.Maps, "put", one_then_leave)
    made = maps.maps(taken, small().settings(23), 46)
    made.go_on((1, 0))
    waited(lambda: made.state == "resting", 600)
    assert made.ready.sum() == 1 and not made.stopped


def places(app):
    """Where on the page each picture is: a path of positions, by which the browser knows it again."""
    found = {}

    def walk(block, path):
        for at, child in block.children.items():
            if hasattr(child, "children"):
                walk(child, (*path, at))
            elif child.type == "bidi_component":
                found[child.proto.id.split("-", 2)[2]] = (*path, at)

    walk(app.main, ())
    return found


def test_no_picture_changes_its_place_once_all_is_measured(fresh):
    app = opened(layer=2, head=3)
    before = places(app)
    assert {"embeddings-matrix", "embeddings-one"} <= set(before)
    app.number_input(key="head").set_value(4).run()
    assert places(app) == before


@pytest.mark.parametrize("size", [0.0, 1.0])
def test_pictures_of_identical_vectors_are_marked(fresh, taken, monkeypatch, size):
    from dataclasses import replace

    arrays = {name: np.array(getattr(taken, name)) for name in ("query", "key")}
    for array in arrays.values():
        array[1, 7] = size  # L4 H7: every token alike
    alike = replace(taken, hash=f"alike {size}", **arrays)
    ask = small(method="pca")
    on = SimpleNamespace(taken=alike, ask=ask)
    made = maps.maps(alike, ask.settings(40), 80)
    every.trust_soon(on, made)
    waited(lambda: every.known_trust(on, made) is not None, 300)
    table = every.known_trust(on, made)
    assert every.doubtful(on, table)[1, 7]
    row = table[(table.layer == 4) & (table["head"] == 7)].iloc[0]
    assert np.isnan(row.picture_correlation) and np.isnan(row.trustworthiness)
    tile = measures.one_map(alike, ask.settings(40), 4, 7)
    shown = numbers.strip_html(measures.trusted_numbers(alike, ask.settings(40), tile, None), "pca")
    assert shown.count("n/a ⚑") == 2 and "⚑ Low trust." in shown and "no point is nearer than another" in shown
