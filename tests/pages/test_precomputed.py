"""What precompute made is found by the app: one name for each capture, no forward pass."""

from dataclasses import replace

import pytest

from lib import models, precompute
from lib.capture.check import trusted
from lib.capture.value import ARRAYS
from lib.corpora import encode
from lib.embeddings import MapSettings
from lib.ui import cached
from lib.ui.captured import captured
from lib.ui.embeddings import measures as embeddings
from lib.ui.embeddings.measures import Ask
from lib.ui.scene import Scene
from lib.ui.state import DEFAULTS, Choice


@pytest.fixture
def opened():
    """The app's own engine and choice over four documents, and the number of forward passes from now on."""
    engine = cached.engine("all-MiniLM-L6-v2", "cpu", "float32")
    trusted(engine)
    scene = Scene(Choice(**DEFAULTS), engine, tuple(cached.documents("conversation"))[:4])
    passes = []
    handle = engine.model.register_forward_pre_hook(lambda *_: passes.append(1))
    yield scene, passes
    handle.remove()


def test_the_app_finds_what_precompute_made(opened):
    scene, passes = opened
    encodings = [encode(document, scene.engine, DEFAULTS["tokens"]) for document in scene.documents]
    precompute.fill(scene.engine, encodings, MapSettings(most=20), cached.store(), jobs=1)
    made = len(passes)
    assert made > 0
    similarity = captured(scene, scene.documents[:3], ("z",))
    heads = captured(scene, scene.documents[2:3], ARRAYS)
    assert captured(scene, scene.documents, ("query", "key")).documents == 4
    assert len(passes) == made
    assert similarity.documents == 3 and similarity.query is None
    assert heads.tokens.text == encodings[2].table.text

    shorter = replace(scene, choice=replace(scene.choice, tokens=32))
    assert captured(shorter, scene.documents[:3], ("z",)).doc_offsets[-1] == 96
    assert len(passes) > made, "another token limit is another question"


def test_the_maps_of_the_embeddings_page_are_there_too(opened, tmp_path, monkeypatch):
    scene, passes = opened
    monkeypatch.setattr("lib.command.builtin", lambda name: list(scene.documents))
    monkeypatch.setattr(models, "load", lambda *_, **__: scene.engine)
    command = ["all-MiniLM-L6-v2", "conversation", "umap", "--read", "120", "--most", "10", "--jobs", "1"]
    precompute.main([*command, "--store", str(cached.STORE_FOLDER)])
    made = len(passes)
    ask = Ask("self", 120, "umap", "variance", ("query", "key"), True)
    taken = embeddings.captured(scene, ask)
    assert taken.doc_offsets[-1] == 120
    assert captured(scene, scene.documents[:2], ("z",)).doc_offsets[-1] > 120
    monkeypatch.setattr(embeddings, "joint", None)  # drawing a map would need it
    assert embeddings.one_map(taken, ask.settings(10), 5, 11).projection.xy.shape == (20, 2)
    assert embeddings.captured(scene, replace(ask, roles=("query", "key", "value", "z"))).z is not None
    assert len(passes) == made


def test_a_pattern_is_in_the_store_by_the_same_name(opened):
    scene, passes = opened
    place = scene.engine.key, scene.document.hash, scene.choice.tokens, "self", scene.engine, scene.encoding
    cached.patterns(*place)
    made = len(passes)
    cached.patterns.clear()
    cached.patterns(*place)
    assert len(passes) == made
