"""Spectral: at which distances does attention live, and how many patterns does it take?"""

from lib.ui.guard import through_the_door

through_the_door()

from functools import partial

import numpy as np
import streamlit as st

from lib.ui.downloads import download_row, provenance
from lib.ui.frame import how_to_read, question
from lib.ui.message import guarded
from lib.ui.scene import Scene, scene
from lib.ui.spectral.controls import controls
from lib.ui.spectral.layer import layer_numbers, noise_sentence, one_layer
from lib.ui.spectral.measures import Ask, Shown, analysed, complexities, cut_windows, own_band
from lib.ui.spectral.modes import modes_panel
from lib.ui.spectral.scalograms import scalogram_row
from lib.ui.spectral.spectra import spectra_panel
from lib.ui.tables import csv_table, html_table
from lib.views import figure_html, npz_bytes

LAG_AND_SCALE = (
    "**Lag** is how far back a query looks; **scale** is how wide the oscillation along the lag is, and they are not "
    "the same: a lone bump answers at a scale of 5.9 times its width, so energy at scale 20 can be a bump 3.4 tokens "
    "wide."
)

HOW_TO_READ = """
**The field.** Windows of one length are cut from the texts; each gives one attention pattern per layer, averaged over
heads. Their mean is taken away: what is left, the fluctuation, is how attention differs from window to window. Special
tokens are read by the model, but their rows and columns are left out and nothing is renormalised.

**Profile and scalogram.** The curve above each layer is the fluctuation's energy by lag; positive lags look back,
negative ones ahead. Beneath it a Morlet wavelet transform along the lag, energy divided by scale. *÷ chance* divides by
what independent lags with the same profile would give. A ring marks a peak whose interval, simultaneous over
the picture, lies above chance. Where it is greyed the wavelet feels the end of the lags. The Fourier period is 1.047
times the scale.

**Modes.** Proper orthogonal decomposition finds the patterns that reproduce the fluctuation with the fewest terms. A
lag band keeps only lags near its centre first; plain modes stand beside it, because whether mixing lags blurs them is a
question and not a premise.

**Rank.** H\\*(ε) counts the modes that hold all but a share ε of the energy. N windows have at most N − 1 modes, so a
rank that still grows with N, or that white noise needs as well, is unresolved.

**What this does not tell.** The words spectrum, mode and scale come from the study of turbulence. The analogy is
structural, not physical: nothing flows here, and no law of fluids is implied.
"""


def chosen_row(now: Scene, shown: list[Shown]) -> int:
    """The place of the chosen layer, or of the nearest there is."""
    return int(np.abs(np.array([layer.analysis.layer for layer in shown]) - now.choice.layer).argmin())


def what_is_shown(now: Scene, ask: Ask, layer: Shown) -> str:
    """What the figure rests on and what it leaves out."""
    mass = layer.analysis.excluded_mass
    told = (
        f" Special tokens left out: they take {100 * mass:.0f} % of the attention in layer {layer.analysis.layer}."
        if mass
        else ""
    )
    heads = "Mean over heads" if ask.head is None else f"Head {ask.head}"
    return f"{heads}; {cut_windows(now, ask).summary}{told}"


def downloads(now: Scene, ask: Ask, layer: Shown, figure, table) -> None:
    """The scalogram as a page, the numbers by layer, the layer's modes as arrays."""
    analysis = layer.analysis
    facts = provenance(now, windows=analysis.documents, length=analysis.length, heads=ask.head, stream=ask.stream)
    arrays = {
        "energy": analysis.scalogram.energy,
        "null": analysis.scalogram.null,
        "scales": analysis.scalogram.scales,
        "lags": analysis.scalogram.lags,
        "modes": analysis.plain.modes,
        "eigenvalues": analysis.plain.eigenvalues,
    }
    stem = f"headlight-spectral-L{analysis.layer}"
    files = {
        "Scalogram as a page": (f"{stem}.html", "text/html", lambda: figure_html(figure, facts)),
        "All layers as CSV": ("headlight-spectral.csv", "text/csv", partial(csv_table, table, facts)),
        "Layer as npz": (f"{stem}.npz", "application/octet-stream", lambda: npz_bytes(arrays, facts)),
    }
    download_row(files, "spectral")


@st.fragment(key="panel")
def panel() -> None:
    """Everything below the title; what is slow in it is kept by model, texts and settings."""
    now = scene()
    ask, colouring = controls(now)
    with guarded("the attention fields of these texts"):
        shown = analysed(now, ask)
        row = chosen_row(now, shown)
        layer = shown[row]
        scalogram_row(shown, colouring, row)
        st.caption(f"{what_is_shown(now, ask, layer)} The heights of the curves are each layer's own.")
        st.markdown(LAG_AND_SCALE)
        left, right = st.columns([2, 3], gap="medium")
        with left:
            figure = one_layer(layer, colouring, "")
        with right:
            table = layer_numbers(shown, complexities(now, ask, shown))
            st.markdown("**By layer**, all lags [95 % over windows]")
            with st.container(height=330 if len(table) > 9 else "content", border=False):
                drawn = html_table(list(table), table.astype(str).to_numpy().tolist())
                st.html(f"<div style='overflow-x:auto'>{drawn}</div>")
            st.caption(noise_sentence(layer))
        st.subheader(f"Modes of layer {layer.analysis.layer}", anchor=False)
        band = modes_panel(layer, cut_windows(now, ask), partial(own_band, now, ask, row))
        st.subheader("How many patterns", anchor=False)
        spectra_panel(layer, band)
        st.caption("Spectrum, mode and scale are words from turbulence; the analogy is structural, not physical.")
        downloads(now, ask, layer, figure, table)


question("At which distances does attention live, and how many patterns does it take?")
panel()
how_to_read(HOW_TO_READ)
