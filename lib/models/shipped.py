"""Small models trained for this product: folders of ``data/models``."""

from __future__ import annotations

import json
from pathlib import Path

PLACE = Path(__file__).resolve().parents[2] / "data" / "models"

KINDS = {
    "base": "ordinary attention",
    "ega1": "one energy gate per head",
    "ega1-window": "one energy gate per head over the whole window, which leaks the future",
    "ega4": "four energy gates per head",
}


def shipped() -> dict[str, Path]:
    """Folders with a configuration and weights, by their names."""
    found = sorted(PLACE.glob("*/config.json"))
    return {file.parent.name: file.parent for file in found if (file.parent / "model.safetensors").is_file()}


def described(folder: Path) -> str:
    """One line about a model of this product, from what its training wrote down."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    size = f"{config.get('num_hidden_layers', '?')} layers × {config.get('num_attention_heads', '?')} heads"
    try:
        told = json.loads((folder / "training.json").read_text("utf-8"))
        run, loss, seen = told["settings"], told["validation_loss"], told["tokens"]
        kind = KINDS.get(run["variant"], run["variant"])
        stage = f"step {told['step']:,} of {run['steps']:,}, " if told["step"] < run["steps"] else ""
        return (
            f"Character GPT, {size}, {kind}: {stage}{seen / 1e6:.1f} M characters read, {loss:.2f} nats per character"
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # trained by another command
        return f"Character GPT trained for this product, {size}"
