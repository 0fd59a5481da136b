"""The exception of the similarity room."""

from lib.errors import HeadlightError


class SimilarityError(HeadlightError):
    """Head outputs, tokens or settings from which no similarity can be measured."""
