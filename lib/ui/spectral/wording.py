"""The page's own prose: what is shown, what it leaves out, and how to read it."""

from __future__ import annotations

from lib.spectral import Windows
from lib.ui.scene import Scene
from lib.ui.spectral.measures import Ask, Shown

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
the picture, lies above chance. Where it is pale the wavelet feels the end of the lags. The Fourier period is 1.047
times the scale.

**Modes.** Proper orthogonal decomposition finds the patterns that reproduce the fluctuation with the fewest terms. A
lag band keeps only lags near its centre first; plain modes stand beside it, because whether mixing lags blurs them is a
question and not a premise.

**How many patterns.** H\\*(ε) counts the modes that hold all but a share ε of the energy. N windows have at most N − 1
modes, so a rank that still grows with N, or that white noise needs as well, is unresolved. T_spec is 1/β where the
k-th mode's energy falls as k^−β.

**What this does not tell.** The words spectrum, mode, scale and coherency come from the study of turbulence. The
analogy is structural, not physical: nothing flows here, and no law of fluids is implied.
"""


def what_is_shown(now: Scene, ask: Ask, taken: Windows, layer: Shown) -> str:
    """What the figure rests on and what it leaves out; why windows are short; why tokens are counted otherwise."""
    said = ["Mean over heads" if ask.head is None else f"Head {ask.head}", f"; {taken.summary}"]
    if ask.length is None and taken.length < taken.wanted:
        said.append(
            f" **The texts are short, so windows have {taken.length} tokens instead of {taken.wanted}**: more text "
            f"gives "
            "longer lags and surer numbers."
        )
    if taken.special:
        special = "special token is" if taken.special == 1 else "special tokens are"
        mass = layer.analysis.excluded_mass or 0.0
        said.append(f" With each window {taken.special} {special} read and left out here{_counted(now)}; ")
        said.append(f"they take {100 * mass:.0f} % of the attention in layer {layer.analysis.layer}.")
    return "".join(said)


def _counted(now: Scene) -> str:
    """The chosen document's tokens with and without special ones, as the sidebar counts the former."""
    table = now.encoding.table
    ordinary = int((~table.is_special).sum())
    return "" if ordinary == len(table) else f" (the sidebar's {len(table):,} tokens are {ordinary:,} without them)"
