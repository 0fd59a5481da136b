"""What every attention head does: scores, roles, likeness, and what happens when it is switched off."""

from lib.heads.breakdown import breakdown, pair_products
from lib.heads.catalogue import describe, score_heads
from lib.heads.census import tally_heads
from lib.heads.claims import Evidence, attentionviz, evidence
from lib.heads.effects import NothingMoved, ablate, all_heads, predictions, sweep
from lib.heads.examples import examples
from lib.heads.images import links, overlay, patches_like, strongest
from lib.heads.induction import induction_probe
from lib.heads.likeness import heads_like, leaf_order, likeness, redundancy_groups
from lib.heads.profile import Profile, profile
from lib.heads.pruning import greedy_pruning, likeness_order, pruning_curves, random_orders, removable
from lib.heads.role_effects import claims_beside_effects, role_effects
from lib.heads.roles import RULES, Rule
from lib.heads.rollout import rollout
from lib.heads.scores import IMAGE_SCORES, TEXT_SCORES, Score
from lib.heads.tally import Tally
from lib.heads.value_weighted import results, value_lengths, value_weighted
from lib.heads.whole_model import layer_profile
from lib.heads.words import between, hide, merge_words

__all__ = [
    "IMAGE_SCORES",
    "RULES",
    "TEXT_SCORES",
    "Evidence",
    "NothingMoved",
    "Profile",
    "Rule",
    "Score",
    "Tally",
    "ablate",
    "all_heads",
    "attentionviz",
    "between",
    "breakdown",
    "claims_beside_effects",
    "describe",
    "evidence",
    "examples",
    "greedy_pruning",
    "heads_like",
    "hide",
    "induction_probe",
    "layer_profile",
    "leaf_order",
    "likeness",
    "likeness_order",
    "links",
    "merge_words",
    "overlay",
    "pair_products",
    "patches_like",
    "predictions",
    "profile",
    "pruning_curves",
    "random_orders",
    "redundancy_groups",
    "removable",
    "results",
    "role_effects",
    "rollout",
    "score_heads",
    "strongest",
    "sweep",
    "tally_heads",
    "value_lengths",
    "value_weighted",
]
