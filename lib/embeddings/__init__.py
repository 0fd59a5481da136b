"""Joint maps of queries and keys, and how far they can be trusted (Yeh et al., AttentionViz, arXiv 2305.03210)."""

from .attributes import Attribute, image_attributes, norm_attribute, text_attributes
from .correlation import Agreement, agreement, distance_agreement, distance_score_correlation
from .errors import EmbeddingError
from .evidence import Evidence, evidence
from .findings import attentionviz
from .induction import Induction, induction_of
from .joint import ROLES, JointEmbedding, head_map, joint_embedding, output_embedding, with_outputs
from .links import ByPosition, Hidden, by_position, strongest_keys, without
from .neighbours import Neighbours, nearest
from .offsets import Offsets, offsets_of
from .orders import Orders, what_orders
from .patch_features import PatchFeatures, patch_features, patch_pictures
from .pictured import only_pictured, picture_strength
from .projection import METHODS, Projection, neighbours_kept, principal_axes, project, wanted_neighbours, warm_up
from .sampling import Sample, sample_tokens
from .saved import load_tile, save_tile
from .scale import ScaleCurve
from .search import Search, search
from .summary import head_sentences
from .tiles import MapSettings, Tile, all_heads, tiles
from .trust import Trust, distance_table, neighbourhoods, seed_agreement, trust, trust_table

__all__ = [
    "METHODS",
    "ROLES",
    "Agreement",
    "Attribute",
    "ByPosition",
    "EmbeddingError",
    "Evidence",
    "Hidden",
    "Induction",
    "JointEmbedding",
    "MapSettings",
    "Neighbours",
    "Offsets",
    "Orders",
    "PatchFeatures",
    "Projection",
    "Sample",
    "ScaleCurve",
    "Search",
    "Tile",
    "Trust",
    "agreement",
    "all_heads",
    "attentionviz",
    "by_position",
    "distance_agreement",
    "distance_score_correlation",
    "distance_table",
    "evidence",
    "head_map",
    "head_sentences",
    "image_attributes",
    "induction_of",
    "joint_embedding",
    "load_tile",
    "nearest",
    "neighbourhoods",
    "neighbours_kept",
    "norm_attribute",
    "offsets_of",
    "only_pictured",
    "output_embedding",
    "patch_features",
    "patch_pictures",
    "picture_strength",
    "principal_axes",
    "project",
    "sample_tokens",
    "save_tile",
    "search",
    "seed_agreement",
    "strongest_keys",
    "text_attributes",
    "tiles",
    "trust",
    "trust_table",
    "wanted_neighbours",
    "warm_up",
    "what_orders",
    "with_outputs",
    "without",
]
