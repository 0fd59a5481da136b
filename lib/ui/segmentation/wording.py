"""What things are called on the Segmentation page, and the transcript it offers to try."""

from __future__ import annotations

from lib.segmentation import CONDITIONS
from lib.segmentation.topics import FEATURES

STRENGTH_HELP = (
    "**All heads and surface cues**: boundary signals, queries, keys, values and z of every head, weighted by a small "
    "calibration, together with punctuation, capitals, line ends and small words. **All heads**: the same calibration "
    "without looking at the letters. **One signal, untrained**: as it is; attention to [SEP] in the last layer is the "
    "paper's own method."
)
FEATURE_NAMES = {name: name.replace("+", " + ") for name in FEATURES}
FEATURE_HELP = "z: what the heads put out, of the upper half of the layers. hidden: the last hidden state."
PLACES = {"last": "last layer", "layer": "chosen layer", "head": "chosen head", "all": "all heads"}

SIGNAL_NAMES = {
    "to_last": "attention to [SEP]",
    "to_first": "attention to the first position",
    "from_first": "attention from the first position",
    "from_last": "attention from [SEP]",
    "self": "attention to itself",
    "previous": "attention to the token before",
    "next": "attention to the token after",
    "forward_share": "share that looks ahead",
    "from_earlier": "attention from earlier words",
    "from_later": "attention from later words",
    "entropy": "entropy of its attention",
    "back_near": "looking back across, ±3",
    "back_far": "looking back across, ±10",
    "ahead_near": "looking ahead across, ±3",
    "ahead_far": "looking ahead across, ±10",
    "z_cosine_1": "likeness of z, 1 token",
    "z_cosine_4": "likeness of z, 4 tokens",
    "z_cosine_12": "likeness of z, 12 tokens",
}

SHORT_NAMES = {  # for the rows of a picture: nine letters at most, for a telephone has room for no more
    "to_last": "to [SEP]",
    "to_first": "to first",
    "from_first": "by first",
    "from_last": "by [SEP]",
    "self": "itself",
    "previous": "previous",
    "next": "next",
    "forward_share": "% ahead",
    "from_earlier": "by prior",
    "from_later": "by later",
    "entropy": "entropy",
    "back_near": "back ±3",
    "back_far": "back ±10",
    "ahead_near": "ahead ±3",
    "ahead_far": "ahead ±10",
    "z_cosine_1": "z cos 1",
    "z_cosine_4": "z cos 4",
    "z_cosine_12": "z cos 12",
}

TRANSCRIPT = (
    "okay so thanks everyone for coming on such short notice i know it's friday and the weather is lovely the main "
    "thing today is the move to the new building which is now going to happen in two steps instead of one the "
    "workshop goes first that's the last week of march and the offices follow in april we lost about ten days because "
    "the lift still hasn't passed its inspection does anybody have a problem with those dates no good then the second "
    "thing is the budget we're about four percent over mostly because of the cables which nobody had counted the first "
    "time i've asked for a new quote and it should be here on tuesday until then please don't order anything that "
    "isn't urgent maria you wanted to say something about the archive right so there are roughly nine hundred boxes "
    "down there and most of them have no label at all we opened twenty last week and half of it was old newspapers my "
    "suggestion is that we go through them before the move and not after because otherwise we pay for carrying paper "
    "that we throw away it would take three people about two weeks can we get students for that i think so the "
    "university has a list i'll call them on monday great anything else the coffee machine is broken again i know i "
    "know it's on the list all right that's it thank you all and have a good weekend"
)


def condition_name(condition: str) -> str:
    """A condition in words, as the calibrations are named."""
    return CONDITIONS[condition][0]


def share(value: float) -> str:
    """A score between 0 and 1 as 0.87; "–" where it is not defined."""
    return "–" if value != value else f"{value:.2f}"
