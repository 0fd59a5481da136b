"""Similarity of the heads' output vectors z before W_O (Halevi et al., arXiv 2512.21956)."""

from .anchors import anchor_tokens, anchored_heads, anchors, neighbourhood
from .attention_mass import ColumnMass, column_mass, mass_by_layer
from .claims import Evidence, evidence, halevi
from .compare import differences, head_differences, side_by_side
from .cooccurrence import pmi
from .errors import SimilarityError
from .features import FEATURES, Features, token_features
from .freeze import Freeze, layers_to_freeze
from .geometry import head_alignment
from .keywords import Keywords, rank_keywords
from .listing import pair_list
from .matrix import similarity_matrix
from .orders import heads_of, redundancy_order, repetition_order
from .statistics import STATISTICS, Measured, measure, pair_statistics, summary
from .trend import (
    RankTrend,
    distance_distribution,
    first_to_last,
    layer_trend,
    rank_trend,
    similarity_distribution,
)
from .units import Units, document_units

__all__ = [
    "FEATURES",
    "STATISTICS",
    "ColumnMass",
    "Evidence",
    "Features",
    "Freeze",
    "Keywords",
    "Measured",
    "RankTrend",
    "SimilarityError",
    "Units",
    "anchor_tokens",
    "anchored_heads",
    "anchors",
    "column_mass",
    "differences",
    "distance_distribution",
    "document_units",
    "evidence",
    "first_to_last",
    "halevi",
    "head_alignment",
    "head_differences",
    "heads_of",
    "layer_trend",
    "layers_to_freeze",
    "mass_by_layer",
    "measure",
    "neighbourhood",
    "pair_list",
    "pair_statistics",
    "pmi",
    "rank_keywords",
    "rank_trend",
    "redundancy_order",
    "repetition_order",
    "side_by_side",
    "similarity_distribution",
    "similarity_matrix",
    "summary",
    "token_features",
]
