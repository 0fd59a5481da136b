"""Engines in memory: one gives way before the next is read."""

import weakref

import pytest

from lib.capture import capture
from lib.corpora import from_text
from lib.errors import HeadlightError
from lib.models import load, loading
from lib.models.engine import EngineReleased
from lib.models.loading import UnknownModel
from lib.ui.residents import Residents, resident_engines
from lib.ui.warm import settle

BASE, GATED = "base", "ega1"  # small models that are always there


def ask(residents, name, most=1):
    return residents.get(name, most, lambda room: load(name, device="cpu", make_room=room))


@pytest.fixture
def residents():
    made = Residents()
    yield made
    made.clear()


@pytest.mark.parametrize(("most", "beside"), [(1, 0), (2, 1)])
def test_no_more_than_so_many_are_resident_while_another_is_read(most, beside, residents, monkeypatch):
    first, read, seen = ask(residents, BASE, most), loading.folder.read_folder, []

    def reading(*args):
        seen.append(sum(engine.model is not None for engine in (first,)))
        return read(*args)

    monkeypatch.setattr(loading.folder, "read_folder", reading)
    second = ask(residents, GATED, most)
    assert seen == [beside]
    assert second.model is not None and (first.model is None) is (most == 1)
    assert ask(residents, GATED, most) is second and len(seen) == 1


def test_the_one_unused_for_longest_gives_way(residents):
    old, new = ask(residents, BASE, 2), ask(residents, GATED, 2)
    assert ask(residents, BASE, 2) is old
    ask(residents, "base-early", 2)
    assert new.model is None and old.model is not None


def test_what_was_kept_out_of_collections_is_freed_when_it_gives_way(residents):
    engine = ask(residents, BASE)
    engine.model.__dict__["own"] = engine.model  # a circle: counting references alone never frees it
    gone = weakref.ref(engine.model)
    settle()
    ask(residents, GATED)
    assert gone() is None


def test_a_model_that_cannot_be_found_costs_nobody_theirs(residents):
    first = ask(residents, BASE)
    with pytest.raises(UnknownModel):
        ask(residents, "/no/such/folder")
    assert ask(residents, BASE) is first and first.model is not None


def test_who_computes_with_an_engine_that_gives_way_is_told(residents):
    engine = ask(residents, BASE)
    texts = from_text("To be, or not to be.") + from_text("That is the question.")

    def another_session_asks(done, total, stage):
        ask(residents, GATED)

    with pytest.raises(EngineReleased, match="base, which was released"):
        capture(engine, texts, progress=another_session_asks)


@pytest.mark.parametrize("value", ["0", "-1", "two", "1.5", "٣"])
def test_a_number_of_engines_that_is_none_is_refused(value, monkeypatch):
    monkeypatch.setenv("HEADLIGHT_ENGINES", value)
    with pytest.raises(HeadlightError, match="HEADLIGHT_ENGINES, a whole number from 1"):
        resident_engines()


def test_the_number_of_engines_is_one_unless_said_otherwise(monkeypatch):
    monkeypatch.delenv("HEADLIGHT_ENGINES", raising=False)
    assert resident_engines() == 1
    monkeypatch.setenv("HEADLIGHT_ENGINES", " 3 ")
    assert resident_engines() == 3
