"""Small models trained for this product: folders of ``data/models``, compared with digests recorded beside this code.

After a model was added or trained again, its digests are recorded anew, from the top of the repository:
``(cd data/models && sha256sum */*.json */*.safetensors) > lib/models/shipped.sha256``
"""

from __future__ import annotations

import json
from pathlib import Path

from lib.models.offline import Tampered, verify

PLACE = Path(__file__).resolve().parents[2] / "data" / "models"
DIGESTS = Path(__file__).with_name("shipped.sha256")  # lines "digest  folder/file", as sha256sum writes them
REMEDY = "Restore data/models from the repository, or load the folder by its path as a model of your own."

KINDS = {
    "base": "ordinary attention",
    "ega1": "a learned gate in every head that favours some tokens (energy-gated attention)",
    "ega1-window": "a gate in every head that sees the tokens after as well, as published: it leaks the future",
    "ega4": "a mixture of four learned gates in every head (energy-gated attention)",
}


def shipped() -> dict[str, Path]:
    """Folders with a configuration and weights, by their names."""
    found = sorted(PLACE.glob("*/config.json"))
    return {file.parent.name: file.parent for file in found if (file.parent / "model.safetensors").is_file()}


def is_own(name: str) -> bool:
    """Whether a model of this product has that name, also where its files have been lost."""
    return name in recorded() or name in shipped()


def recorded() -> dict[str, dict[str, str]]:
    """SHA-256 of every file by model and name."""
    found: dict[str, dict[str, str]] = {}
    for line in DIGESTS.read_text("utf-8").splitlines():
        digest, place = line.split(maxsplit=1)
        model, _, file = place.lstrip("*").partition("/")
        found.setdefault(model, {})[file] = digest
    return found


def verified(folder: Path) -> Path:
    """The folder, after every file that can shape the model was compared with its recorded digest.

    Raises Tampered where a file differs, is missing, or is none of those recorded.
    """
    known = recorded().get(folder.name, {})
    there = folder.iterdir() if folder.is_dir() else ()
    unknown = sorted(file.name for file in there if file.name not in known and file.suffix != ".md")
    if unknown:
        raise Tampered(f"files of {folder.name} whose SHA-256 is recorded", ", ".join(unknown[:3]), REMEDY)
    for file, sha256 in known.items():
        verify(folder / file, sha256, REMEDY)
    return folder


def described(folder: Path) -> str:
    """One line about a model of this product, from what its training wrote down."""
    config = json.loads((folder / "config.json").read_text("utf-8"))
    size = f"{config.get('num_hidden_layers', '?')} layers × {config.get('num_attention_heads', '?')} heads"
    try:
        told = json.loads((folder / "training.json").read_text("utf-8"))
        run, loss, seen = told["settings"], told["validation_loss"], told["tokens"]
        kind = KINDS.get(run["variant"], run["variant"])
        early = told["step"] < run["steps"]
        stage = f"step {told['step']:,} of {run['steps']:,}, early in training; " if early else ""
        return (
            f"Predicts Shakespeare letter by letter, trained for this product, with {kind}: {stage}"
            f"{size}, {seen / 1e6:.1f} M characters read, {loss:.2f} nats per character"
        )
    except (OSError, ValueError, KeyError, TypeError, AttributeError):  # trained by another command
        return f"Character GPT trained for this product, {size}"
