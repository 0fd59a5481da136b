"""Signals: everything the chosen head says about every gap, and which heads tell boundaries apart from other gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from lib.errors import HeadlightError
from lib.numerals import plural, written
from lib.segmentation import (
    MEANINGS,
    Segmentation,
    Separation,
    TextSignals,
    averaged_signals,
    read_tokens,
    separation,
    signals_there,
)
from lib.segmentation.positions import boundaries_of, candidate_gaps, gaps_at
from lib.segmentation.untrained import standard
from lib.ui import cached
from lib.ui.progress import progress_line
from lib.ui.scene import Scene
from lib.ui.segmentation.controls import Ask
from lib.ui.segmentation.source import Source
from lib.ui.segmentation.wording import SHORT_NAMES, SIGNAL_NAMES
from lib.ui.state import choose_head
from lib.ui.tables import html_table
from lib.views import head_grid_figure, heatmap_figure, show

MOST = 2_000  # tokens whose signals are shown
ACROSS = 90  # gaps in one strip
BEST = 8


@dataclass(frozen=True)
class Read:
    """Signals of the beginning of a text; words, allowed, target per gap; whether the target is gold."""

    signals: TextSignals
    labels: tuple[str, ...]
    allowed: np.ndarray
    target: np.ndarray
    gold: bool


def signals_panel(now: Scene, source: Source, ask: Ask, cut: Segmentation | None) -> None:
    """Draw the strip of the chosen head, then the map of all heads for one signal."""
    read = _read(now, source, ask, cut)
    if not read.allowed.any():
        raise HeadlightError("a text of two words or more", "nothing that could be cut", "Use a longer text.")
    _strip(now, read)
    _map(now, read)


def _read(now: Scene, source: Source, ask: Ask, cut: Segmentation | None) -> Read:
    tokens = read_tokens(source.text, now.engine)
    text = source.text if len(tokens) <= MOST else source.text[: int(tokens.end[MOST - 1])]
    tokens = tokens if len(tokens) <= MOST else read_tokens(text, now.engine)

    def build() -> dict[str, np.ndarray]:
        with progress_line() as progress:
            found = averaged_signals(now.engine, tokens, progress=progress)
        return {"values": found.values, "gaps": found.gaps, "layers": np.array(found.layers)}

    held = cached.store().arrays(f"signals {now.engine.key} {source.digest} {MOST}", build)

    names = signals_there(now.engine)
    signals = TextSignals(held["values"], names, tuple(map(int, held["layers"])), held["gaps"])
    allowed = candidate_gaps(text, tokens.start, tokens.end) if len(tokens) > 1 else np.zeros(0, dtype=bool)
    spans = source.document.topics if ask.granularity == "topic" else source.document.sentences
    gold = source.gold is not None and len(spans) > 1
    offsets = boundaries_of(spans) if gold else [] if cut is None else cut.boundaries
    target = np.zeros(len(allowed), dtype=bool)
    target[gaps_at(offsets, tokens.end)] = True
    labels = tuple(text[a:b] for a, b in zip(tokens.start[:-1], tokens.end[:-1], strict=True))
    return Read(signals, labels, allowed, target & allowed, gold)


def _strip(now: Scene, read: Read) -> None:
    """Signals by gaps as colours, in standard deviations over the text; high speaks for a boundary or against it."""
    layer, head = now.choice.layer, now.choice.head
    total = len(read.labels)
    first = 0
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.markdown(f"**Signals of L{layer} H{head}**, each in deviations from its own mean over the text")
        if total > ACROSS:
            first = st.number_input(
                "From token", 0, max(0, total - ACROSS), 0, ACROSS, key="segmentation-from", width=120
            )
    shown = slice(int(first), min(total, int(first) + ACROSS))
    row = read.signals.layers.index(layer) if layer in read.signals.layers else len(read.signals.layers) - 1
    names = [name for name in SIGNAL_NAMES if name in read.signals.names]
    values = np.stack([standard(read.signals.of(name)[row, head].astype(float), read.allowed) for name in names])
    lines = [int(gap) + 1 - shown.start for gap in np.flatnonzero(read.target) if shown.start <= gap < shown.stop]
    figure = heatmap_figure(
        np.clip(values[:, shown], -4, 4),
        row_labels=[SHORT_NAMES[name] for name in names],
        column_labels=read.labels[shown],
        row_title="signal",
        column_title="token before the gap",
        kind="diverging",
        value_range=(-4, 4),
        value_name="deviations",
        column_boundaries=lines,
        lag=False,
        square=False,
        height=330,
        note=f"Lines: {'true boundaries' if read.gold else 'boundaries of the cut above'}. "
        f"Tokens {shown.start} – {shown.stop - 1} of {total + 1:,}; values beyond ±4 are drawn as ±4. "
        "To: attention that the token sends there; by: attention that it is sent from there.",
    )
    show(figure, "segmentation-strip")


def _map(now: Scene, read: Read) -> None:
    """All heads by how well one signal tells boundaries apart, and the best of all signals."""
    if not 0 < read.target.sum() < read.allowed.sum():
        st.caption("No boundary is known or found in this text: heads cannot be compared on it.")
        return
    found = separation(read.signals, read.target, read.allowed)
    names = [name for name in SIGNAL_NAMES if name in read.signals.names]
    if st.session_state.get("segmentation-map") not in names:
        st.session_state["segmentation-map"] = "to_last" if "to_last" in names else names[0]
    left, right = st.columns([3, 2], gap="large")
    with left:
        name = st.selectbox(
            "All heads by", names, format_func=SIGNAL_NAMES.__getitem__, key="segmentation-map", persist_state="session"
        )
        layers = read.signals.layers
        place = (layers.index(now.choice.layer), now.choice.head) if now.choice.layer in layers else None
        show(
            head_grid_figure(
                found.values[..., read.signals.names.index(name)],
                layers,
                value_name="separation",
                kind="diverging",
                value_range=(-1, 1),
                note=_meaning(found, read),
                chosen=place,
            ),
            "segmentation-heads",
            lambda at, head: choose_head(layers[at], head),
        )
        st.caption(f"{SIGNAL_NAMES[name][:1].upper()}{SIGNAL_NAMES[name][1:]}: {MEANINGS[name]}.")
    with right:
        _best(found, read)


def _meaning(found: Separation, read: Read) -> str:
    what = "true boundaries" if read.gold else "the boundaries of the cut above (true ones are not known)"
    return (
        f"Separation (2 AUC − 1). Red: higher at {what} than elsewhere, blue: lower; ±1 tells all {found.boundaries} "
        f"from the other {found.gaps - found.boundaries:,} gaps, 0 is chance."
    )


def _best(found: Separation, read: Read) -> None:
    """The heads and signals that stand out most, beside what the best of all reaches by chance."""
    flat = np.argsort(-np.abs(found.values), axis=None)[:BEST]
    rows = []
    for layer, head, kind in zip(*np.unravel_index(flat, found.values.shape), strict=True):
        value = float(found.values[layer, head, kind])
        rows.append(
            (
                SIGNAL_NAMES[read.signals.names[kind]],
                f"L{read.signals.layers[layer]} H{head}",
                written(value, "+.2f"),
            )
        )
    st.markdown("**Strongest on this text**")
    st.html(html_table(("signal", "head", "separation"), rows))
    st.caption(
        f"The best of {found.values.size:,} head signals reaches ±{found.chance:.2f} in one of twenty shifts of the "
        f"boundaries along the text: below that, a value says nothing. {plural(found.boundaries, 'gap')} "
        f"of {found.gaps:,} are boundaries."
    )
