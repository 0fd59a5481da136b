"""The training text of the character models: where it comes from, its split, and which windows a step sees."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lib.errors import HeadlightError

DEFAULT_NAME = "tinyshakespeare.txt"
TRAINING_SHARE = 0.9
SHAKESPEARE = "TinyShakespeare"
_KNOWN = {"86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed": SHAKESPEARE}  # by SHA-256 of the text


def read_text(source: str | None = None) -> str:
    """Read the training text.

    Args:
        source: a file; "hub:OWNER/NAME:FILE" for a text file of a data set on the Hub; None for
            tinyshakespeare.txt in the folder that HEADLIGHT_DATA names.

    Raises:
        HeadlightError: there is no such file, or it is no text.
    """
    if source is not None and source.startswith("hub:"):
        from huggingface_hub import hf_hub_download

        repository, _, name = source.removeprefix("hub:").partition(":")
        path = Path(hf_hub_download(repository, name, repo_type="dataset"))
    elif source is not None:
        path = Path(source)
    else:
        path = Path(os.environ.get("HEADLIGHT_DATA", "")) / DEFAULT_NAME
    if not path.is_file():
        raise HeadlightError(
            "a text file to train on",
            f"no file at {source or DEFAULT_NAME!r}",
            "Pass --text FILE or --text hub:OWNER/NAME:FILE, or set HEADLIGHT_DATA to a folder that has it.",
        )
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise HeadlightError("a text file in UTF-8", f"{path.name!r}, which is not", "Choose another file.") from error


def text_name(source: str | None) -> str:
    """What a card calls a text: the name of its file, without the folders of the machine it lay on."""
    return Path((source or DEFAULT_NAME).rpartition(":")[2]).name


def text_title(summary: dict) -> str:
    """What a run's text is called: TinyShakespeare where it is that, whatever its file was called, else the file."""
    name = summary.get("text_name")
    return _KNOWN.get(summary["text_sha256"]) or (f"`{name}`" if name else "a text of its owner")


def split(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Split token ids into the first 90 % for training and the rest for validation."""
    cut = int(len(ids) * TRAINING_SHARE)
    return ids[:cut], ids[cut:]


def training_windows(ids: np.ndarray, step: int, seed: int, batch: int, context: int) -> np.ndarray:
    """Return the windows of one training step, (batch, context + 1): inputs and, one further, targets.

    The draw depends on `seed` and `step` alone, so every variant sees the same text in the same order and a
    resumed run continues as if it had not stopped.
    """
    starts = np.random.default_rng([seed, step]).integers(0, len(ids) - context, size=batch)
    return ids[starts[:, None] + np.arange(context + 1)]


def validation_windows(ids: np.ndarray, context: int) -> np.ndarray:
    """Cut the validation ids into adjacent windows, (window, context + 1); the rest at the end is left out."""
    starts = np.arange(0, len(ids) - context, context)
    return ids[starts[:, None] + np.arange(context + 1)]
