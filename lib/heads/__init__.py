"""What every attention head does: scores, roles, likeness, and what happens when it is switched off."""

from lib.heads.catalogue import score_heads

__all__ = ["score_heads"]
