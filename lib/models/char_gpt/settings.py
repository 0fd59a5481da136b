"""What decides a training run's result."""

from __future__ import annotations

from dataclasses import dataclass

VARIANTS = {
    "base": {"n_gates": 0},
    "ega1": {"n_gates": 1, "gate_norm": "prefix"},
    "ega1-window": {"n_gates": 1, "gate_norm": "window"},
    "ega4": {"n_gates": 4, "gate_norm": "prefix"},
}


@dataclass(frozen=True)
class Settings:
    """What decides a training run's result; `batch` windows of `context` characters per step."""

    variant: str = "base"
    width: int = 192
    layers: int = 6
    heads: int = 8
    context: int = 256
    batch: int = 8
    steps: int = 6000
    learning_rate: float = 2e-3
    warmup: int = 200
    weight_decay: float = 0.1
    beta2: float = 0.99
    clip: float = 1.0
    seed: int = 0
    bfloat16: bool = True

    @property
    def tokens(self) -> int:
        """Characters seen in training, repetitions included."""
        return self.steps * self.batch * self.context
