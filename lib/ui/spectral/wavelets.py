"""The same layer through other wavelets, for comparison only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import streamlit as st

from lib.spectral import WAVELETS
from lib.ui.message import guarded
from lib.ui.scene import Scene
from lib.ui.spectral.layer import scalogram_figure
from lib.ui.spectral.measures import Ask, Shown, other_scalogram
from lib.ui.spectral.scalograms import values
from lib.views import show


@st.fragment
def wavelets_section(now: Scene, ask: Ask, shown: Sequence[Shown], row: int, colouring: str) -> None:
    """Our Morlet scalogram beside one of PyWavelets', on the same Fourier periods."""
    with guarded("another wavelet on this layer"):
        wavelet = st.selectbox(
            "Wavelet",
            list(WAVELETS),
            format_func=WAVELETS.__getitem__,
            key="spectral-wavelet",
            persist_state="session",
            width=380,
        )
        layer = shown[row]
        other, ratio = other_scalogram(now, ask, row, wavelet)
        if colouring == "ratio":
            with np.errstate(divide="ignore", invalid="ignore"):
                picture = np.log2(ratio.estimate)
        else:
            picture = other.density / (float(other.density[~other.cone].mean()) or 1.0)
        left, right = st.columns(2)
        with left:
            ours = values(layer, colouring)
            if colouring != "ratio":
                ours = ours / (float(ours[~layer.analysis.scalogram.cone].mean()) or 1.0)
            show(
                scalogram_figure(layer.analysis.scalogram, ours, colouring, "Morlet, ours (exact in frequency)"),
                "spectral-ours",
            )
        with right:
            show(scalogram_figure(other, picture, colouring, WAVELETS[wavelet]), "spectral-other")
        st.caption(
            "Same signals, same Fourier periods, each with its own null; energies are divided by their mean outside "
            "the edge. PyWavelets integrates the wavelet over each token, which takes energy from fine scales: × 0.71 "
            "at scale 3, × 0.94 at 7. Compare shapes at scales of 16 and more; the numbers of this page come from our "
            "own transform."
        )
