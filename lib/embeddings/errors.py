"""The room's own kind of refusal."""

from lib.errors import HeadlightError


class EmbeddingError(HeadlightError):
    """Vectors, offsets or settings that no map can be made of."""
