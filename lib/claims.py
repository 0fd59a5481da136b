"""The table of claims: what each paper says, what is measured for it, against which null, and what size it needs.

H = Halevi et al. (arXiv 2512.21956), P = Zeris (arXiv 2606.06573), V = Yeh et al. (AttentionViz, arXiv 2305.03210).
Layers in the wording are the paper's; the rooms map them (H and P count from 1, V from 0).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lib.errors import HeadlightError

Side = Literal["above", "below", "either"]
Paper = Literal["H", "P", "V"]
PAPERS: dict[Paper, str] = {
    "H": "Halevi, Tzach, Gross, Rosner, Kanter, arXiv 2512.21956",
    "P": "Zeris, arXiv 2606.06573, with arXiv 2605.21842",
    "V": "Yeh et al., AttentionViz, arXiv 2305.03210",
}


class UnknownClaim(HeadlightError):
    """A claim was asked for that the table does not hold."""


@dataclass(frozen=True)
class Claim:
    """One row of the table; ``side`` is where the claim puts the quantity relative to the null.

    ``impossible`` says why no data could support the claim, ``qualifier`` what to add where it is reproduced;
    ``fewest`` is the number of documents that an interval needs, ``unit`` what the sample is where not of documents.
    """

    key: str
    paper: Paper
    claim: str
    quantity: str
    null: str
    threshold: str
    side: Side
    impossible: str = ""
    qualifier: str = ""
    fewest: int = 5
    unit: str = "documents"

    @property
    def rule(self) -> str:
        """The rule in one sentence, as shown beside the mark."""
        where = {"above": "above", "below": "below", "either": "outside"}[self.side]
        return f"{self.quantity}: 95 % interval over {self.unit} {where} the null ({self.null}), and {self.threshold}."


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "H-separators",
        "H",
        "The last layers' attention maps focus on sentence separators.",
        "column mass on [SEP] ÷ chance in the last quarter of the layers ('.' and [CLS] apart)",
        "uniform row; untrained twin",
        "at least 5 × chance and more than in the first quarter",
        "above",
    ),
    Claim(
        "H-specialise",
        "H",
        "Heads specialise: repetition, a token with its context, separators.",
        "heads whose simultaneous interval lies above chance and above the twin's, the scarcest of the three kinds",
        "chance; untrained twin",
        "at least one head of each kind, not the same head",
        "above",
    ),
    Claim(
        "H-range",
        "H",
        "Early layers relate distant tokens, late layers near ones within the sentence.",
        "Spearman with layer of mean distance ÷ chance, and of same-sentence lift",
        "layers permuted",
        "ρ ≤ −0.6 for distance and ≥ +0.6 for lift",
        "below",
    ),
    Claim(
        "H-thirty",
        "H",
        "The mean distance of similar tokens falls by about 30 % from the first to the last layer.",
        "relative change of mean distance, first to last layer",
        "0",
        "an interval that contains −30 %",
        "below",
    ),
    Claim(
        "H-anchors",
        "H",
        "Each head has its own anchor token, stable over inputs.",
        "share of heads whose anchor has lift > 3 and is the same in both halves of the corpus",
        "untrained twin",
        "half of the heads or more, by scalar product and, as a norm check, by cosine",
        "above",
    ),
    Claim(
        "P-scales",
        "P",
        "Early layers (1–2) hold energy at scales ≤ 7, late ones (5–6) at ≥ 20.",
        "log of energy ratio(≤ 7) ÷ energy ratio(≥ 20), layers 1–2 minus layers 5–6",
        "independent lags of the same energy",
        "ratio(≤ 7) > ratio(≥ 20) in layers 1–2 and the reverse in 5–6 (windows of 114 tokens or more)",
        "above",
    ),
    Claim(
        "P-modes",
        "P",
        "Leading modes sit at lags 2–10 in layer 2, 10–35 in layer 4, 10–40 in layer 6.",
        "peak lag of the leading modes of plain POD",
        "white noise",
        "a peak lag inside the stated range",
        "either",
    ),
    Claim(
        "P-complexity",
        "P",
        "T_spec is about 1.0 early; later spectra are more concentrated.",
        "T_spec (entropy rank and participation ratio beside it), late minus early layers",
        "white noise; each lag's diagonal shuffled between documents",
        "T_spec of the early layers within 0.8 … 1.25",
        "below",
    ),
    Claim(
        "P-rank-early",
        "P",
        "Layers 1–2 need 150 modes or more for 90 % of the energy (from 150 snapshots).",
        "ensemble rank H*(0.1) of 150 documents",
        "flat bound 135",
        "150 or more",
        "above",
        impossible="150 centred snapshots span 149 modes, and a flat spectrum reaches 90 % with 135.",
    ),
    Claim(
        "P-rank-late",
        "P",
        "Layers 3–6 need about 91 modes for 90 % of the energy.",
        "ensemble rank H*(0.1) of 150 documents",
        "white noise 94–133",
        "an interval that contains 91",
        "below",
    ),
    Claim(
        "P-heads",
        "P",
        "A uniform eight heads is too many late and too few early.",
        "heads needed (POD across heads), late minus early layers",
        "random pruning",
        "the loss stays within the stated budget when pruned to it",
        "below",
    ),
    Claim(
        "P-gating-energy",
        "P",
        "Energy gating raises scalogram energy everywhere, and complexity in layers 3–4 but not 5–6.",
        "unnormalised scalogram energy, gated − base, by layer (T_spec apart)",
        "0, over seeds of the same variant",
        "paired over at least 3 training seeds, in every layer",
        "above",
        fewest=3,
        unit="training seeds",
    ),
    Claim(
        "P-gating-loss",
        "P",
        "Energy gating lowers the validation loss by 0.103 nats.",
        "validation loss, gated − base",
        "0",
        "at least 3 training seeds each, prefix and window form",
        "below",
        fewest=3,
        unit="training seeds",
    ),
    Claim(
        "P-blur",
        "P",
        "Plain POD blurs scales that selective POD separates.",
        "overlap of the leading modes' lag energy between bands, windowed − plain",
        "0; bands permuted",
        "lower with windows",
        "below",
    ),
    Claim(
        "P-optimal",
        "P",
        "POD is the optimal basis.",
        "reconstruction error of other bases − POD's",
        "0",
        "no other basis does better",
        "above",
        qualifier="Theorem, not evidence.",
    ),
    Claim(
        "V-distance",
        "V",
        "Distance in the joint map stands for attention: −0.938 (BERT), −0.792 (GPT-2), −0.873/−0.884 (ViT).",
        "Spearman of distance after translation against q·k, mean over heads",
        "0, keys permuted within the row",
        "−0.75 or lower",
        "below",
    ),
    Claim(
        "V-spirals",
        "V",
        "Early layers show positional spirals (next-token heads), and clumps for several offsets.",
        "what orders the map: position, and position mod k, of the named heads",
        "permuted positions",
        "named heads",
        "above",
    ),
    Claim(
        "V-image-attributes",
        "V",
        "There are hue and brightness heads, and frequency and orientation heads.",
        "what orders the map: image attributes, of the named heads",
        "permuted patches",
        "named heads",
        "above",
    ),
    Claim(
        "V-norm-gap",
        "V",
        "Causal models have far shorter queries than keys (−4.59 in GPT-2 against 0.41 in BERT).",
        "mean ‖q‖ − mean ‖k‖",
        "0",
        "a causal model",
        "below",
    ),
    Claim(
        "V-first-token",
        "V",
        "Late layers attend to the first token.",
        "mass on position 0, largest of the last half of the layers",
        "uniform row",
        "more than 0.5",
        "above",
    ),
    Claim(
        "V-self",
        "V",
        "Look-at-self heads have W_Q ≈ W_K (r = 0.94).",
        "correlation of W_Q and W_K in the head with the largest self mass",
        "untrained twin",
        "r > 0.5",
        "above",
    ),
    Claim(
        "V-induction",
        "V",
        "Bidirectional models have induction-like heads.",
        "induction score on repeated random tokens, the larger direction",
        "uniform row",
        "more than 5 × chance",
        "above",
    ),
)


def claim(key: str) -> Claim:
    """The row of the table with this key; raises UnknownClaim, which lists the keys."""
    for entry in CLAIMS:
        if entry.key == key:
            return entry
    keys = ", ".join(entry.key for entry in CLAIMS)
    raise UnknownClaim("a key of the table of claims", repr(key), f"Use one of: {keys}.")
