"""Segmentation: text cut into sentences and topics by what attention heads do, and the scores to judge a cut by."""

from .calibration import Calibration, calibration_for
from .comparison import Timed, every_cut
from .conditions import CONDITIONS, recognise, under
from .errors import SegmentationError
from .export import as_blocks, as_csv, as_json, as_text
from .features import TextSignals, averaged_signals
from .metrics import BoundaryScores, boundary_scores, boundary_similarity, pk, window_diff, window_of
from .segment import segment
from .segmentation import Segmentation
from .sentences import STRENGTHS
from .separation import Separation, separation
from .signals import MEANINGS, signal_names
from .untrained import segment_by_signal, signals_there
from .windows import Tokens, read_tokens

__all__ = [
    "CONDITIONS",
    "MEANINGS",
    "STRENGTHS",
    "BoundaryScores",
    "Calibration",
    "Segmentation",
    "SegmentationError",
    "Separation",
    "TextSignals",
    "Timed",
    "Tokens",
    "as_blocks",
    "as_csv",
    "as_json",
    "as_text",
    "averaged_signals",
    "boundary_scores",
    "boundary_similarity",
    "calibration_for",
    "every_cut",
    "pk",
    "read_tokens",
    "recognise",
    "segment",
    "segment_by_signal",
    "separation",
    "signal_names",
    "signals_there",
    "under",
    "window_diff",
    "window_of",
]
