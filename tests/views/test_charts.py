import json

import pandas as pd
import pytest

from lib.errors import HeadlightError
from lib.views import charts

FRAME = pd.DataFrame(
    {"layer": range(4), "score.mean": [0.1, 0.4, 0.2, 0.3], "low": 0.0, "high": 0.5, "null": 0.05, "name": list("abcd")}
)


def marks(chart):
    return [layer["mark"]["type"] for layer in chart.to_dict()["layer"]]


def test_a_line_carries_its_interval_and_its_null():
    chart = charts.line(
        FRAME, "layer", "score.mean", low="low", high="high", null="null", null_low="low", null_high="null", marks=[2]
    )
    assert marks(chart) == ["area", "line", "area", "line", "rule"]


def test_a_bare_line_carries_nothing_else():
    assert marks(charts.line(FRAME, "layer", "score.mean")) == ["line"]


def test_bars_show_chance():
    chart = charts.bars(FRAME, "name", "score.mean", chance="null", low="low", high="high")
    assert marks(chart) == ["bar", "rule", "tick"]


def test_a_dot_in_a_column_name_is_not_a_path():
    field = charts.line(FRAME, "layer", "score.mean").to_dict()["layer"][0]["encoding"]["y"]["field"]
    assert field == r"score\.mean"


def test_a_spectrum_leaves_out_what_has_no_logarithm():
    frame = pd.DataFrame({"mode": [0, 1, 2], "eigenvalue": [1.0, 0.5, 0.0]})
    drawn = charts.spectrum(frame, "mode", "eigenvalue").to_dict()
    rows = next(iter(drawn["datasets"].values()))
    assert rows == [{"mode": 1, "eigenvalue": 0.5}]
    assert drawn["layer"][1]["encoding"]["x"]["scale"]["type"] == "log"


def test_a_strip_marks_the_chosen_row():
    frame = FRAME.assign(chosen=[False, True, False, False])
    drawn = charts.strip(frame, "score.mean", "name", chosen="chosen").to_dict()
    assert [len(rows) for rows in drawn["datasets"].values()] in ([4, 1], [1, 4])


def test_series_keep_their_colours_in_order():
    frame = pd.concat([FRAME.assign(what="B"), FRAME.assign(what="A")])
    scale = charts.line(frame, "layer", "null", series="what", colours=["#111111", "#222222"]).to_dict()
    assert scale["layer"][0]["encoding"]["color"]["scale"] == {"domain": ["B", "A"], "range": ["#111111", "#222222"]}


@pytest.mark.parametrize("frame", [FRAME.iloc[:0], FRAME.drop(columns="null")])
def test_empty_or_incomplete_tables_are_refused(frame):
    with pytest.raises(HeadlightError):
        charts.line(frame, "layer", "score.mean", null="null")


def test_nothing_sets_the_theme():
    config = charts.line(FRAME, "layer", "null").to_dict()["config"]
    assert "background" not in json.dumps(config)


def test_a_legend_wraps_where_a_line_would_be_cut_off():
    frame = pd.concat([FRAME.assign(what=name) for name in "ABCD"])
    legend = charts.line(frame, "layer", "null", series="what").to_dict()["layer"][0]["encoding"]["color"]["legend"]
    assert legend["columns"] == {"expr": "width < 340 ? 3 : 0"}


def test_a_logarithmic_axis_of_values_holds_line_interval_and_null():
    chart = charts.line(FRAME.assign(low=0.1), "layer", "high", low="low", high="high", null="null", log_y=True)
    scales = [layer["encoding"]["y"]["scale"]["type"] for layer in chart.to_dict()["layer"]]
    assert scales == ["log"] * 3
    assert "scale" not in charts.line(FRAME, "layer", "high").to_dict()["layer"][0]["encoding"]["y"]


def test_points_too_many_to_be_told_apart_are_felt_but_not_seen():
    seen = [charts.line(FRAME, "layer", "high", dots=dots).to_dict()["layer"][0]["mark"]["point"] for dots in (1, 0)]
    assert [point["opacity"] for point in seen] == [1, 0]
