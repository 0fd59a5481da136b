"""Words of this page: the sentence on moving and scaling, the paper's numbers, how to read the pictures."""

from __future__ import annotations

from lib.embeddings.trust import LEAST_FOLLOWING, LEAST_TRUST
from lib.models import Engine
from lib.ui import cached

LOW = LEAST_FOLLOWING, LEAST_TRUST  # Spearman in the picture above, trustworthiness below which a number is marked

RULES = {
    "variance": "so that both clouds spread alike",
    "norm": "so that both have the same mean length",
    "search": "at which distance follows attention best",
    "by hand": "as set by hand",
}

PAPER = {
    "V-distance": "paper: −0.938 BERT, −0.792 GPT-2, −0.873 and −0.884 ViT (L4 H11 of BERT: −0.983)",
    "V-spirals": "paper: spirals in BERT's early layers, seen by eye",
    "V-image-attributes": "paper: a hue head, a brightness head, frequency and angle heads in ViT, seen by eye",
    "V-norm-gap": "paper: −4.59 GPT-2, 0.41 BERT",
    "V-first-token": "paper: GPT-2's late layers, no number",
    "V-self": "paper: r = 0.94 in a head of ViT-32",
    "V-induction": "paper: such heads in BERT, no number",
}

SAID = {  # a trust number's name in plain words, and how it is measured
    "full": (
        "nearer = attended more?",
        "Spearman rank correlation, in the full space, of the distance between a query and a key with their score "
        "before the softmax, per query within its document. The paper's number. −1: the nearest key is always the most "
        "attended. Untrained models reach it too.",
    ),
    "picture": (
        "… in this picture?",
        "The same rank correlation with distances as drawn here. Above −0.5, or not defined, the picture is flagged: "
        "do not read attention from nearness.",
    ),
    "keys": (
        "strongest keys nearest",
        "Of each query's most attended keys, the share that are also its nearest keys in this picture, beside the same "
        "in the full space and by chance.",
    ),
    "near": (
        "no false neighbours",
        "Trustworthiness: 1 where no points are drawn near each other that are far apart in the full space. Below 0.8, "
        "or not defined, the picture is flagged.",
    ),
    "torn": (
        "no torn neighbours",
        "Continuity: 1 where no points that are near each other in the full space are drawn far apart.",
    ),
    "seeds": (
        "two seeds agree",
        "The same map drawn with another random seed, turned and scaled onto this one: 1 less what is left over "
        "(Procrustes).",
    ),
}

HOW_TO_READ = """
**What is drawn.** In every head each token has a query, what it looks for, and a key, what it offers. A query attends
most to the keys with which it has the largest scalar product. Here both are points of one space, so that nearness can
stand for attention: keys are first moved onto the centre of the queries, then queries are multiplied by c and keys
divided by it. Neither changes the attention, and the order matters: scaled alone, nothing would change, because the
distance is the angle.

**Shapes.** *A spiral or a line* where colour is position: a head that looks at one offset, such as the token before.
*Clumps*: several offsets, or groups of tokens. *Two separate clouds*: queries and keys that hardly meet; all queries
look at the same few keys. Queries *upon* their keys: a head that looks at itself.

**Trust.** A picture in two dimensions loses something. *Nearer = attended more?* is the paper's number, in the full
space: it is mostly arithmetic, so an untrained model reaches it too (see Findings). *… in this picture?* is the same
for what you see, and usually far weaker. *Strongest keys nearest* tells how many of a query's strongest keys are its
nearest points here. *No false neighbours* (trustworthiness) falls where points far apart are drawn near, *no torn
neighbours* (continuity) where near ones are drawn apart. A flag ⚑, or among all heads a paler picture with a folded
corner ◥, means: do not read closeness into it.

**What orders this map?** looks at the full space alone: can a token's position, kind, frequency … be told from its
nearest neighbours in *other* documents, better than when the labels are exchanged?

**What this does not tell.** Nearness between two queries, or between values and keys, means nothing to the model.
Attention also depends on masks and position biases that are no part of the vectors.
"""


def effect(scale: float, rule: str) -> str:
    """What is done to queries and keys, and what that changes."""
    return (
        f"Keys are moved onto the queries' centre first, then queries × c and keys ÷ c with c = {scale:.2f}, "
        f"{RULES[rule]}: the attention stays exactly as it was, and only how the two clouds meet changes. "
        "The other way round c would do nothing, since distance is the angle between vectors."
    )


def rotary(engine: Engine) -> bool:
    """Whether positions enter by rotating queries and keys."""
    return cached.kept(
        "embeddings: rotary",
        engine.key,
        lambda: any(name.endswith("rotary_emb") for name, _ in engine.require_loaded().named_modules()),
    )


def rotary_sentence(engine: Engine) -> str:
    """That vectors are those after rotation, where there is one."""
    return "Post-rotary vectors: as scored, after rotation by their positions." if rotary(engine) else ""
