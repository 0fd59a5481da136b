"""Downloads: every figure and table leaves with the model, revision, precision and settings it was made with."""


def pattern_downloads(now, pattern, figure) -> None:
    """Offer the chosen head."""
