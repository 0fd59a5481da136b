"""The short input that every model is tried with: random and fixed, two documents, one of them padded."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from lib.capture.batching import model_inputs
from lib.corpora.patches import ANY_GRID, ASKED_GRID, patch_table
from lib.corpora.tokens import Encoding, encode_ids
from lib.models import Engine

LONG, SHORT = 24, 16  # tokens
SIDE = 16  # patches, where the model takes images of any size


def probe_encodings(engine: Engine, long: int = LONG, short: int = SHORT) -> list[Encoding]:
    """Two documents: ``long`` and ``short`` random ordinary tokens, or two equal-sized images of noise."""
    draw = np.random.default_rng(0)
    if engine.kind == "vision":
        shape, interpolate = _image(engine)
        table = patch_table((shape[1] // engine.patch_size, shape[2] // engine.patch_size), engine.n_prefix)
        pixels = draw.standard_normal((2, *shape), dtype=np.float32)
        return [Encoding(table=table, pixels=image, interpolate=interpolate) for image in pixels]
    words = engine.model.get_input_embeddings().num_embeddings
    ordinary = np.setdiff1d(np.arange(words), list(engine.special_ids))
    longest = engine.max_length or long
    return [encode_ids(draw.choice(ordinary, min(n, longest)), engine) for n in (long, short)]


def probe_inputs(engine: Engine) -> dict[str, Any]:
    """Keyword arguments of the forward pass over both documents."""
    if engine.model.main_input_name != "input_features":
        return model_inputs(engine, probe_encodings(engine))
    config = engine.model.config
    draw = torch.Generator().manual_seed(0)
    sound = torch.randn(2, config.num_mel_bins, 2 * config.max_source_positions, generator=draw)
    start = torch.full((2, 4), config.decoder_start_token_id)
    given = {"input_features": sound.to(getattr(torch, engine.dtype)), "decoder_input_ids": start}
    return {name: tensor.to(engine.device) for name, tensor in given.items()} | {"use_cache": False}


def _image(engine: Engine) -> tuple[tuple[int, int, int], bool]:
    """(channel, height, width) of an image that the model takes, small where it may be, and whether to interpolate."""
    config = engine.model.config
    size = config.image_size
    height, width = size if isinstance(size, list | tuple) else (size, size)
    small = SIDE * engine.patch_size
    if max(height, width) > small and engine.family in ANY_GRID | ASKED_GRID:
        return (config.num_channels, small, small), engine.family in ASKED_GRID
    return (config.num_channels, height, width), False
