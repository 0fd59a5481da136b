"""Small models trained for this product: folders of ``data/models``."""

from __future__ import annotations

from pathlib import Path

PLACE = Path(__file__).resolve().parents[2] / "data" / "models"


def shipped() -> dict[str, Path]:
    """Folders with a configuration and weights, by their names."""
    found = sorted(PLACE.glob("*/config.json"))
    return {file.parent.name: file.parent for file in found if (file.parent / "model.safetensors").is_file()}
