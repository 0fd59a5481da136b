"""The Spectral page: what it shows, that a band or a mode runs no model, and bad input that it has to tell."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lib.spectral import DominantScale, Field, analyse
from lib.ui import cached
from lib.ui.spectral import measures, scalograms
from lib.ui.spectral.layer import cell

DOOR = Path(__file__).resolve().parents[2] / "app.py"


@pytest.fixture
def fresh():
    cached._shelf.clear()
    yield
    cached._shelf.clear()


def opened(**choice):
    """The page in a new session: few windows, short, so that a run takes seconds."""
    app = AppTest.from_file(DOOR, default_timeout=180)
    for name, value in ({"spectral-windows": 12, "spectral-length": 32} | choice).items():
        app.session_state[name] = value
    app.run()
    return app.switch_page("pages/spectral.py").run()


def said(app):
    return " ".join(element.value for kind in ("markdown", "text", "caption") for element in getattr(app, kind))


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


def test_page_shows_all_layers_and_a_band_or_mode_runs_no_model(fresh, monkeypatch):
    app = opened(layer=2)
    assert not app.exception
    told = said(app)
    assert "12 windows of 32 tokens" in told
    assert "5.9 times its width" in told
    assert "structural, not physical" in told
    assert "Modes of layer 2" in " ".join(element.value for element in app.subheader)
    assert "nresolved" in told  # twelve windows decide no rank

    passes = []
    monkeypatch.setattr(measures, "head_mean_field", lambda *_, **__: passes.append("forward"))
    monkeypatch.setattr(measures, "analyse", lambda *_, **__: passes.append("analysis"))
    app.segmented_control(key="spectral-mode").set_value(2).run()
    app.segmented_control(key="spectral-band").set_value(-1).run()
    app.number_input(key="spectral-centre").set_value(9.0).run()
    app.segmented_control(key="spectral-colour").set_value("ratio").run()
    assert not app.exception
    assert "Mode 2 by lag" in said(app)
    assert passes == []


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
    values = scalograms.values(shown[1], "density")
    drawn = scalograms.svg(shown[1], values, "density", 1.0, chosen=False, dark=False)
    assert "no fluctuation" in drawn
    assert "nan" not in drawn.replace(scalograms.picture(values, shown[1].analysis.scalogram.cone, "density", 1.0), "")
    assert scalograms.dominant_words(shown[1]) == "no scale stands out from independent lags"


def test_a_kept_analysis_holds_no_energies_by_document(shown):
    scalogram = shown[0].analysis.scalogram
    assert scalogram.by_document.size == 0
    assert shown[0].ratio.estimate.shape == scalogram.energy.shape


def test_scales_point_upward_and_lags_to_the_right(shown):
    scalogram = shown[0].analysis.scalogram
    assert scalograms.up(scalogram, scalogram.scales[-1]) < scalograms.up(scalogram, scalogram.scales[0])
    assert scalograms.across(scalogram, 0) < scalograms.across(scalogram, 5)


def test_dominant_scales_are_told_with_their_chance(shown):
    found = replace(shown[0].analysis, dominant=[DominantScale(8.0, -11, 8.4, 1.0, 1.26, 1.05)])
    words = scalograms.dominant_words(replace(shown[0], analysis=found))
    assert words == "scale 8.0 (period 8.4) at lag -11, 1.26 × chance (at least 1.05)"


def test_numbers_that_are_not_defined_are_not_numbers():
    assert cell(float("nan"), 0.0, 1.0) == "n/a"
    assert cell(3.21, 2.9, 3.5) == "3.21 [2.9, 3.5]"
