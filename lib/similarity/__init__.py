"""Similarity of the heads' output vectors z before W_O (Halevi et al., arXiv 2512.21956)."""

from .matrix import similarity_matrix
from .statistics import Measured, measure, pair_statistics, summary

__all__ = ["Measured", "measure", "pair_statistics", "similarity_matrix", "summary"]
