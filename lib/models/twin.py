"""The untrained twin: the same architecture with freshly drawn weights, the null that serves everywhere."""

from __future__ import annotations

import copy
from typing import Any

from lib.models.devices import BUILDING, out_of_memory, require_memory
from lib.models.engine import Engine
from lib.models.folder import drop_pooler


def untrained_twin(engine: Engine, seed: int = 0) -> Engine:
    """Engine of the same architecture, tokenizer and processor, with weights drawn as before training.

    seed: of torch's CPU generator; the same seed gives the same weights on every device. The state of the generator
    is left as it was. Raises EngineReleased or OutOfMemory.
    """
    trained = engine.require_loaded()
    numbers = sum(weight.numel() for weight in trained.parameters())
    require_memory(numbers, "float32", "cpu", engine.name)
    with out_of_memory(engine.name):
        model = _fresh(trained, seed, engine.attention)
    return Engine.from_parts(
        model,
        engine.tokenizer,
        engine.processor,
        f"{engine.name} (untrained, seed {seed})",
        revision=f"{engine.revision}-untrained-{seed}",
        notes=("Weights were drawn at random and never trained.",),
    )


def _fresh(model: Any, seed: int, attention: str) -> Any:
    import torch

    config = copy.deepcopy(model.config)
    config._attn_implementation = attention  # another thread may be watching the model: its tap is not the twin's
    generator = torch.default_generator
    with BUILDING:
        state = generator.get_state()
        try:
            generator.manual_seed(seed)
            fresh = type(model)(config)
        finally:
            generator.set_state(state)
    if not any(getattr(module, "pooler", None) is not None for module in model.modules()):
        drop_pooler(fresh)
    return fresh.to(device=model.device, dtype=model.dtype)
