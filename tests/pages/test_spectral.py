"""The Spectral page: what it shows, that a band, ε or a mode runs no model, and bad input that it has to tell."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lib.corpora import Document
from lib.models import catalogue
from lib.spectral import DominantScale, Field, analyse
from lib.ui import cached, texts
from lib.ui.spectral import bands, compare, measures, scalograms
from lib.ui.spectral.layer import between
from lib.views.packet import unpack

DOOR = Path(__file__).resolve().parents[2] / "app.py"
SHORT = (
    "The river carries sand to the sea. Where the water slows, the heavier grains settle first. A bank grows there. "
)


def available(name):
    return any(entry.name == name and entry.available for entry in catalogue())


def opened(**choice):
    """The page in a new session: few windows, short, so that a run takes seconds."""
    app = AppTest.from_file(DOOR, default_timeout=300)
    for name, value in ({"spectral-windows": 12, "spectral-length": 32} | choice).items():
        app.session_state[name] = value
    app.run()
    return app.switch_page("pages/spectral.py").run()


def pasted(text):
    """The id of a session's own text, as the box for pasting keeps it, and the session's state that holds it."""
    own = texts.OwnText("pasted", (Document("pasted text", text),), ())
    return {"own_texts": {"own-1": own}, "corpus": "own-1", "spectral-length": None}


def said(app):
    return " ".join(element.value for kind in ("markdown", "text", "caption") for element in getattr(app, kind))


def drawn(app, view):
    return [part.proto.bytes for part in app.get("bidi_component") if part.proto.component_name == f"headlight_{view}"]


@pytest.fixture(scope="module")
def shown():
    """Two causal layers of made-up attention, one of them without any fluctuation."""
    rng = np.random.default_rng(0)
    mask = np.tril(np.ones((32, 32)))
    drawn = rng.random((10, 32, 32)) * mask
    drawn /= drawn.sum(axis=2, keepdims=True)
    still = np.repeat(drawn[:1], 10, axis=0)
    fields = [Field(pattern.astype(np.float32), layer=i) for i, pattern in enumerate((drawn, still))]
    return [measures.slim(layer) for layer in analyse(fields, jobs=1)]


def test_page_shows_all_layers_and_a_band_epsilon_or_mode_runs_no_model(fresh):
    app = opened(layer=2)
    assert not app.exception
    told = said(app)
    assert "12 windows of 32 tokens from 12 documents" in told
    assert "5.9 times its width" in told
    assert "structural, not physical" in told
    assert "2 special tokens are read and left out" in told
    meta, _ = unpack(drawn(app, "layer_panels")[0])
    assert meta["chosen"] == 2 and len(meta["panels"]) == 6

    passes = []
    engine = cached.engine(app.session_state["model"], "auto", "float32")
    counting = engine.model.register_forward_hook(lambda *_: passes.append("forward"))
    app.segmented_control(key="spectral-mode").set_value(2).run()
    app.segmented_control(key="spectral-band").set_value(1).run()
    app.number_input(key="spectral-centre").set_value(9.0).run()
    app.selectbox(key="spectral-kind").set_value("partition").run()
    app.toggle(key="spectral-rebuild").set_value(True).run()
    assert not app.exception
    told = said(app)
    assert "Mode 2 by lag" in told and "the sum of the eigenvalues left out" in told
    assert "Windows that carry mode 2 most" in told
    assert app.session_state["spectral-centres"][1] == 9.0
    app.segmented_control(key="spectral-colour").set_value("ratio").run()
    app.segmented_control(key="spectral-section").set_value("rank").run()
    app.number_input(key="spectral-epsilon").set_value(30.0).run()
    assert not app.exception
    assert "H\\*(0.3) against the number of windows" in said(app)
    assert "nresolved" in said(app)  # twelve windows decide no rank
    counting.remove()
    assert passes == []


def test_choices_of_a_larger_ensemble_are_brought_down_to_a_smaller_one(fresh):
    app = opened(**{"spectral-mode": 6, "spectral-rebuild": True, "spectral-window": 11, "spectral-count": 11})
    assert not app.exception
    app.selectbox(key="spectral-kind").set_value("signed").run()
    app.number_input(key="spectral-windows").set_value(4).run()
    assert not app.exception
    assert "Windows that carry mode 3 most" in said(app) and "foresaw" not in said(app)
    app.session_state["spectral-windows"] = 3
    app.session_state["model"] = "base"
    app.run()
    assert not app.exception and app.selectbox(key="spectral-kind").value == "band"


def test_every_section_stands_on_an_encoder(fresh):
    app = opened(layer=1)
    expected = {
        "coherency": "pairs of positions beyond chance",
        "heads": "Heads needed by layer",
        "compare": "untrained twin",
        "verdicts": "undecided",
        "wavelets": "PyWavelets integrates the wavelet over each token",
    }
    optional = [control.key for control in app.segmented_control if not control.proto.required]
    for section, words in expected.items():
        app.segmented_control(key="spectral-section").set_value(section).run()
        assert not app.exception, section
        assert "foresaw" not in said(app), section
        assert words in said(app), section
        optional += [control.key for control in app.segmented_control if not control.proto.required]
    assert optional == []  # a second click on what is chosen leaves it chosen
    app.segmented_control(key="spectral-section").set_value("compare").run()
    app.selectbox(key="spectral-second").set_value("untrained twin").run()
    assert not app.exception
    assert "untrained twin minus all-MiniLM-L6-v2" in said(app)


@pytest.mark.skipif(not available("base-early"), reason="the character models are not shipped here")
def test_two_stages_of_one_character_model_are_compared_and_pruned(fresh):
    app = opened(model="base", **{"spectral-section": "compare", "spectral-second": "base-early"})
    assert not app.exception
    assert "base-early minus base" in said(app)
    app.segmented_control(key="spectral-section").set_value("heads").run()
    assert not app.exception
    assert "Does the model keep working with that?" in said(app)


def test_models_that_split_the_text_otherwise_are_not_compared(fresh):
    app = opened(**{"spectral-section": "compare", "spectral-second": "base"})
    assert not app.exception
    assert "the untrained twin" in said(app) and "This cannot be shown" in said(app)


@pytest.mark.skipif(not available("SmolLM2-135M-Instruct"), reason="an optional package")
def test_a_causal_subword_model(fresh):
    app = opened(model="SmolLM2-135M-Instruct", layer=20, **{"spectral-windows": 4})
    assert not app.exception
    meta, _ = unpack(drawn(app, "layer_panels")[0])
    assert len(meta["panels"]) == 30 and meta["chosen"] == 20
    assert "4 windows of 32 tokens" in said(app)


@pytest.mark.skipif(not available("DINOv2-small"), reason="an optional package")
def test_a_vision_model_is_told_that_patches_have_no_lag_and_what_to_choose(fresh):
    app = opened(model="DINOv2-small", corpus="photographs")
    assert not app.exception
    assert "DINOv2-small reads images" in app.info[0].value and "text models only" in app.info[0].value
    keys = [w.key for kind in ("segmented_control", "number_input") for w in getattr(app, kind)]
    assert not [key for key in keys if key and key.startswith("spectral")]  # no control that does nothing
    app.button(key="spectral-text-model").click().run()
    assert not app.exception and drawn(app, "layer_panels")


def test_a_short_pasted_text_is_cut_into_windows_that_fit(fresh):
    app = opened(**pasted(SHORT * 2))
    assert not app.exception
    told = said(app)
    assert "windows of 18 tokens from 1 document;" in told
    assert "windows have 18 tokens instead of 64" in told
    assert "without them" in told  # why the sidebar counts more tokens
    assert drawn(app, "layer_panels")
    app.button(key="spectral-easy").click().run()
    assert "12 windows of 64 tokens" in said(app)


def test_a_length_that_does_not_fit_has_a_way_out_of_one_click(fresh):
    app = opened(**pasted(SHORT * 2) | {"spectral-length": 64})
    assert not app.exception
    assert "1 document, the longest of" in said(app)
    app.button(key="spectral-fit").click().run()
    assert "windows of 18 tokens" in said(app)


def test_a_text_too_short_for_anything_offers_another(fresh):
    app = opened(**pasted("The river carries sand."))
    assert not app.exception
    assert "text for 3 windows of 18 tokens" in said(app)
    app.button(key="spectral-easy").click().run()
    assert "12 windows of 64 tokens" in said(app)


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ({"spectral-windows": 2}, "at least 3 windows"),
        ({"spectral-length": 600}, "windows of 4 to"),
        ({"spectral-length": 8}, "so that one scale fits"),
    ],
)
def test_what_cannot_be_shown_is_told(fresh, choice, expected):
    app = opened(**choice)
    assert not app.exception
    assert expected in said(app)


def test_an_ensemble_without_fluctuation_has_no_numbers(shown):
    assert shown[1].analysis.plain.total == 0
    figure = scalograms.row_figure(shown, "density", 0)
    meta, _ = unpack(figure.packet)
    assert meta["panels"][1]["note"] == "no fluctuation" and meta["panels"][1]["rules"] == []
    assert "no fluctuation; no scale stands out from independent lags" in meta["panels"][1]["words"]
    unpack(scalograms.row_figure(shown, "ratio", 1).packet)


def test_a_kept_analysis_holds_no_energies_by_document(shown):
    scalogram = shown[0].analysis.scalogram
    assert scalogram.by_document.size == 0
    assert shown[0].ratio.estimate.shape == scalogram.energy.shape


def test_dominant_scales_are_told_with_their_chance(shown):
    found = replace(shown[0].analysis, dominant=[DominantScale(8.0, -11, 8.4, 1.0, 1.26, 1.05)])
    words = scalograms.dominant_words(replace(shown[0], analysis=found))
    assert words == "scale 8.0 (period 8.4) at lag −11, 1.26 × chance (at least 1.05)"


def test_numbers_that_are_not_defined_are_not_numbers():
    assert (between(93.6, 133.2), between(42.1, 41.9)) == ("94 … 133", "42")
    assert compare.ends(1.24, 0.8, 1.6) == "+1.24 [0.8, 1.6] ▲"
    assert compare.ends(0.5, 0.4, 0.6, 1.0) == "0.5 [0.4, 0.6] ▼"
    assert compare.ends(0.1, -0.2, 0.6) == "+0.1 [−0.2, 0.6]"
    assert compare.ends(1.492, 1.457, 1.531, 1.0) == "1.49 [1.46, 1.53] ▲"  # an estimate stays within its interval
    assert compare.ends(0.0, 0.0, 0.0) == "0 [0, 0]"
    assert compare.ends(4.9, float("nan"), float("nan")) == "+4.9"
    assert compare.ends(float("nan"), 0, 1) == "n/a"


@pytest.mark.parametrize("kind", list(bands.KINDS))
def test_a_window_read_along_the_lag_is_the_window(kind):
    band, lags = measures.Band(kind, 5.0, (2.0, 5.0)), np.arange(-15, 16)
    weights = bands.along(band, 32, lags)
    window = band.window(32)
    assert [weights[15 + lag] for lag in (-3, 0, 4)] == [window[20, 20 + 3], window[9, 9], window[30, 26]]
    assert weights.argmax() in ((15,) if kind == "lowpass" else (20,) if kind == "signed" else range(31))


def test_a_band_is_chosen_without_being_moved_and_moved_when_dragged(monkeypatch):
    state = {}
    monkeypatch.setattr(bands.st, "session_state", state)
    bands.moved((1.0, 3.04, 9.2), 1, 3.0)
    assert state == {"spectral-band": 1}
    bands.moved((1.0, 3.04, 9.2), 2, 12.0)
    assert state == {"spectral-band": 2, "spectral-centres": [1.0, 3.04, 12.0]}


def test_bands_laid_by_hand_stay_inside_the_lags(shown, monkeypatch):
    monkeypatch.setattr(bands.st, "session_state", {"spectral-centres": [-4.0, 3.0, 90.0]})
    lags = bands.near_lags(shown[0].analysis)
    assert bands.laid(shown, lags, "band") == (4.0, 3.0, 15.0)
    assert bands.laid(shown, np.arange(-15, 16), "signed") == (-4.0, 3.0, 15.0)


def test_windows_too_short_for_a_claim_are_lengthened_in_one_click(fresh):
    app = opened(**{"spectral-section": "verdicts", "spectral-windows": 6})
    assert not app.exception
    assert "which windows of 32 tokens do not reach" in said(app)
    assert "not defined [" not in " ".join(element.proto.body for element in app.get("html"))
    app.button(key="spectral-longer").click().run()
    assert not app.exception
    assert "6 windows of 128 tokens" in said(app) and "do not reach" not in said(app)


def test_texts_too_short_for_a_claim_say_so(fresh):
    app = opened(**pasted(SHORT * 2), **{"spectral-section": "verdicts"})
    assert not app.exception
    assert "choose longer texts" in said(app)
    assert [button.key for button in app.button if button.key == "spectral-longer"] == []


def test_one_word_over_and_over_stands_in_every_section_without_a_warning(fresh, recwarn):
    app = opened(**pasted("the " * 300), **{"spectral-rebuild": True})
    assert not app.exception
    expected = {
        "modes": "No fluctuation: every window is the mean field already",
        "rank": "No fluctuation: all windows have the same attention",
        "coherency": "coherency is not defined",
        "heads": "Heads needed by layer",
        "compare": "no energy to compare",
        "wavelets": "PyWavelets integrates",
    }
    app.session_state["spectral-second"] = "untrained twin"
    for section, words in expected.items():
        app.segmented_control(key="spectral-section").set_value(section).run()
        assert not app.exception, section
        assert "foresaw" not in said(app) and "Expected" not in said(app), section
        assert words in said(app), section
    app.segmented_control(key="spectral-section").set_value("modes").run()
    for kind in bands.KINDS:
        app.selectbox(key="spectral-kind").set_value(kind).run()
        assert not app.exception and "foresaw" not in said(app), kind
    app.segmented_control(key="spectral-colour").set_value("ratio").run()
    assert not app.exception and "foresaw" not in said(app)
    numeric = [w for w in recwarn if issubclass(w.category, RuntimeWarning) and "divide" in str(w.message)]
    assert not numeric


def test_one_word_over_and_over_has_no_fluctuation_and_the_verdicts_say_so(fresh):
    app = opened(**pasted("the " * 60), **{"spectral-section": "verdicts"})
    assert not app.exception
    assert "foresaw" not in said(app) and "Expected" not in said(app)
    assert "**0** reproduced" in said(app)
    cards = [element.proto.body for element in app.get("html")]
    assert sum("No fluctuation: the windows do not differ in L0, L1" in card for card in cards) >= 7
