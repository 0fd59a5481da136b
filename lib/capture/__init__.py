"""Capture: what every attention head computed over some documents, exactly, and the proof that it is exact."""

from lib.capture.batching import NotRunnable, encoded
from lib.capture.budget import Estimate, TooLarge, estimate
from lib.capture.check import Check, CheckFailed, self_check, trusted
from lib.capture.layout import LayerUnknown, Layout, WindowedAttention
from lib.capture.naming import capture_key
from lib.capture.observers import Block, NotFinite, Observed, Observer, observe
from lib.capture.record import WindowPattern, capture, pattern, window_patterns
from lib.capture.store import Store
from lib.capture.stored import stored
from lib.capture.tap import Call, NotTappable, tapped
from lib.capture.value import Capture, WrongShape

__all__ = [
    "Block",
    "Call",
    "Capture",
    "Check",
    "CheckFailed",
    "Estimate",
    "LayerUnknown",
    "Layout",
    "NotFinite",
    "NotRunnable",
    "NotTappable",
    "Observed",
    "Observer",
    "Store",
    "TooLarge",
    "WindowPattern",
    "WindowedAttention",
    "WrongShape",
    "capture",
    "capture_key",
    "encoded",
    "estimate",
    "observe",
    "pattern",
    "self_check",
    "stored",
    "tapped",
    "trusted",
    "window_patterns",
]
