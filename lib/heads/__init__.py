"""What every attention head does: scores, roles, likeness, and what happens when it is switched off."""

from lib.heads.catalogue import score_heads
from lib.heads.effects import ablate

__all__ = ["ablate", "score_heads"]
