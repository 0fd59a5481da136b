"""What can go wrong in this room."""

from lib.errors import HeadlightError


class SegmentationError(HeadlightError):
    """Text, gold data, a model or a calibration that cannot be used for segmentation as given."""
