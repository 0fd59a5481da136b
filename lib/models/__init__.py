"""Models: what can be loaded, from where and verified how, and one Engine per loaded model."""

from lib.models.engine import Engine
from lib.models.loading import load
from lib.models.weights import Weights, WeightsUnknown

__all__ = ["Engine", "Weights", "WeightsUnknown", "load"]
