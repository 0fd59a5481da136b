"""The training text of the character models: where it comes from, its split, and which windows a step sees."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lib.errors import HeadlightError

DEFAULT_NAME = "tinyshakespeare.txt"
TRAINING_SHARE = 0.9


def read_text(source: str | None = None) -> str:
    """Read the training text.

    Args:
        source: a file; "hub:OWNER/NAME:FILE" for a text file of a data set on the Hub; None for
            tinyshakespeare.txt in the folder that HEADLIGHT_DATA names.

    Raises:
        HeadlightError: there is no such file.
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
    return path.read_text(encoding="utf-8")


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
