"""How similarity changes with depth: curves by layer with interval and chance, and distributions in one layer."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import streamlit as st

from lib.numerals import written
from lib.similarity import (
    Measured,
    distance_distribution,
    first_to_last,
    layer_trend,
    mass_by_layer,
    rank_trend,
    similarity_distribution,
)
from lib.ui.message import guarded
from lib.ui.scene import Scene
from lib.ui.similarity.measures import Ask, mass, measured_key
from lib.ui.similarity.sheets import Sheet, kept_sheets, sheet, show_sheet
from lib.ui.similarity.wording import KINDS, STATISTICS, by_unit, ends, number, statistics, times, unit
from lib.views import charts, palette

SHOWN = ("distance", "same_sentence", "contrast")  # beside the statistic that the map shows
ON = {"other": "other tokens", "[CLS]": "[CLS]", "[SEP]": "[SEP]", "'.'": "sentence ends"}  # units.CLASSES as shown
FAINTEST = 0.01  # lifts of attention below are drawn like this one: zero has no logarithm
PAPER = "The paper says about −30 % for BERT-base."


def layers(scene: Scene, ask: Ask, measured: Measured, name: str, lifted: bool) -> None:
    """All curves and distributions. name: the statistic that the map shows; lifted: over chance.

    Nothing here depends on the head, so another one draws nothing anew.
    """
    key, layer = measured_key(scene, ask), scene.choice.layer
    by_layer = kept_sheets("by layer", f"{key} {name} {lifted}", lambda: curves(measured, name, lifted))
    places = st.columns(2) if len(by_layer) < 2 else [*st.columns(2), *st.columns(2)]
    for place, found in zip(places, by_layer, strict=False):
        with place:
            show_sheet(found)
    st.caption(
        "Mean over the heads of a layer, then over documents. Dashed grey: chance. "
        + (
            "Bands: 95 % over documents, simultaneous over layers."
            if len(measured.documents) > 1
            else "One document: no bands."
        )
    )
    within = kept_sheets(
        "in a layer", f"{key} {layer}", lambda: (distances(measured, layer), similarities(measured, layer))
    )
    for place, found in zip(st.columns(2), within, strict=True):
        with place:
            show_sheet(found)
    with places[-1], guarded("where attention goes, by layer"):  # last: it takes another pass of the model
        (found,) = kept_sheets("attention", f"{key} {lifted}", lambda: [attention_mass(scene, ask, lifted)])
        show_sheet(found)


def curves(measured: Measured, name: str, lifted: bool) -> Iterator[Sheet]:
    """The statistic that the map shows by layer, and others beside it: three where there are as many."""
    trend = layer_trend(measured)
    wanted = [name, *(other for other in SHOWN if other != name and other in statistics(measured.image))][:3]
    for statistic in wanted:
        yield curve(trend, measured, statistic, lifted)


def curve(trend: pd.DataFrame, measured: Measured, name: str, lifted: bool) -> Sheet:
    """One statistic by layer, with its first-to-last change and rank trend as a caption."""
    entry = STATISTICS[name]
    frame = trend[trend["statistic"] == name].copy()
    over = lifted and name != "contrast"
    if over:
        frame = frame.drop(columns=["value", "low", "high", "chance"])
        frame = frame.rename(columns={"lift": "value", "lift_low": "low", "lift_high": "high"}).assign(chance=1.0)
    heading = f"{entry.name}{' ÷ chance' if over else ''} by layer"
    if frame["value"].isna().all():
        return sheet(heading, None, f"Not defined here: it takes {by_unit(entry.needs, measured.settings.words)}.")
    title = "value ÷ chance" if over else unit(entry.counted, measured.image, measured.settings.words)
    bounds = {} if frame["low"].isna().all() else {"low": "low", "high": "high"}
    chart = charts.line(
        frame, "layer", "value", **bounds, null="chance", x_title="layer", y_title=title, colours=[palette.OUTPUT]
    )
    return sheet(heading, chart, trend_sentence(measured, name))


def trend_sentence(measured: Measured, name: str) -> str:
    """First-to-last change beside the paper's, and Spearman's ρ with layer beside its null."""
    change, low, high = first_to_last(measured, name)
    rank = rank_trend(measured, name)
    parts = []
    if name != "contrast" and change == change:
        said = f"First to last layer {written(100 * change, '+.0f')} % {ends(100 * low, 100 * high, '+.0f')}".strip()
        parts.append(f"{said}. {PAPER if name == 'distance' else ''}".strip())
    if rank.rho == rank.rho:
        said = f"Rank correlation with layer {written(rank.rho, '.2f')} {ends(rank.low, rank.high, '.2f')}".strip()
        parts.append(f"{said}, layers permuted {' … '.join(written(end, '.2f') for end in rank.null)}.")
    return " ".join(parts)


def attention_mass(scene: Scene, ask: Ask, lifted: bool) -> Sheet:
    """Where the attention maps put their weight, by layer: another object than similarity. lifted: over chance."""
    heading = f"Another object: attention on separators{' ÷ chance' if lifted else ''}, by layer"
    if scene.engine.kind == "vision":
        return sheet(heading, None, "Images have no sentence separators.")
    frame = mass_by_layer(mass(scene, ask))
    if (frame["on"] == "other").all():
        return sheet(heading, None, "No [CLS], [SEP] or sentence-ending mark in these documents.")
    frame = frame.assign(on=frame["on"].map(ON), one=1.0)
    low, high, value = ("lift_low", "lift_high", "lift") if lifted else ("low", "high", "mass")
    shown = frame if lifted else frame[frame["on"] != ON["other"]]
    drawn = shown.assign(**{name: shown[name].clip(lower=FAINTEST if lifted else 0) for name in (low, high, value)})
    faint = " Drawn no lower than 0.01." if lifted and (shown[[low, value]] < FAINTEST).any(axis=None) else ""
    chart = charts.line(
        drawn,
        "layer",
        value,
        **({} if drawn[low].isna().all() else {"low": low, "high": high}),
        null="one" if lifted else None,
        series="on",
        colours=palette.CATEGORICAL,
        x_title="layer",
        y_title="value ÷ chance" if lifted else "share of attention",
        log_y=lifted,
    )
    return sheet(heading, chart, mass_sentence(frame) + faint)


def mass_sentence(frame: pd.DataFrame) -> str:
    """The shares of the last layer beside those of a row that looks at every token alike."""
    last = frame[frame["layer"] == frame["layer"].max()]
    told = (
        f"{row.on} {number(row.mass, 'share')}, chance {number(row.chance, 'share')} ({times(row.lift)})"
        for row in last.itertuples()
    )
    special = set(last["on"]) & {"[CLS]", "[SEP]"}
    return f"In the last layer: {'; '.join(told)}. Chance: every row looks at all the tokens it may see alike." + (
        " [CLS] is the first special token, [SEP] any later one." if special else ""
    )


def distances(measured: Measured, layer: int) -> Sheet:
    """P(distance | similar) beside P(distance) in one layer."""
    frame = distance_distribution(measured)
    frame = frame[frame["layer"] == layer].assign(
        similar=lambda t: t["similar"] / (t["last"] - t["distance"] + 1),
        low=lambda t: t["low"] / (t["last"] - t["distance"] + 1),
        high=lambda t: t["high"] / (t["last"] - t["distance"] + 1),
        chance=lambda t: t["chance"] / (t["last"] - t["distance"] + 1),
    )
    bounds = {} if frame["low"].isna().all() else {"low": "low", "high": "high"}
    chart = charts.line(
        frame,
        "distance",
        "similar",
        **bounds,
        null="chance",
        log_x=True,
        colours=[palette.OUTPUT],
        x_title=f"distance ({unit('tokens', measured.image, measured.settings.words)})",
        y_title="probability per step",
    )
    said = "Line: distances of the selected pairs. Dashed: of all pairs. Bins widen with distance."
    return sheet(f"At which distances similar pairs stand, L{layer}", chart, said)


def similarities(measured: Measured, layer: int) -> Sheet:
    """How similarities are distributed in the first, the chosen and the last layer."""
    frame = similarity_distribution(measured)
    wanted = sorted({measured.layers[0], layer, measured.layers[-1]} & set(measured.layers))
    frame = frame[frame["layer"].isin(wanted)]
    seen = frame[frame["share"] > 0]["similarity"]
    frame = frame[frame["similarity"].between(seen.min(), seen.max())]
    frame = frame.assign(layer=[f"L{number}" for number in frame["layer"]])
    dot = measured.settings.kind == "dot"
    chart = charts.line(
        frame,
        "similarity",
        "share",
        series="layer",
        x_title="z · z ÷ the head's mean ‖z‖²" if dot else KINDS["cosine"],
        y_title="share of pairs",
        dots=False,
    )
    said = "At most 2,000 evenly spaced pairs per head and document; what lies beyond is in the outermost bins."
    return sheet("How similar all pairs are", chart, said)
