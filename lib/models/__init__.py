"""Models: what can be loaded, from where and verified how, and one Engine per loaded model."""

from lib.models.catalogue import Entry, catalogue
from lib.models.engine import Engine
from lib.models.loading import load
from lib.models.twin import untrained_twin
from lib.models.weights import Weights, WeightsUnknown

__all__ = ["Engine", "Entry", "Weights", "WeightsUnknown", "catalogue", "load", "untrained_twin"]
