"""What prepares a model's input, read from its folder: the tokenizer of text, the processor of images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from lib.errors import HeadlightError, first_line


class BrokenFolder(HeadlightError):
    """A folder that does not hold a whole model."""


def read_tokenizer(folder: Path, name: str, model: Any) -> Any:
    """The tokenizer in a model's folder; raises BrokenFolder where it is missing or belongs to another model."""
    from transformers import AutoTokenizer

    try:
        tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # missing files, missing packages, broken vocabularies: each has its own class
        raise _missing(f"a tokenizer for {name} (tokenizer.json)", error) from error
    files = tokenizer.vocab_files_names.values()
    if not any((folder / file).is_file() for file in files):  # transformers then makes one that knows no word
        raise BrokenFolder(f"a tokenizer for {name}", f"none of {', '.join(files)}", "Copy its files too.")
    if not tokenizer.is_fast:
        raise BrokenFolder(
            f"a tokenizer for {name} that reports character offsets (tokenizer.json)",
            type(tokenizer).__name__,
            "Convert it: AutoTokenizer.from_pretrained(folder).save_pretrained(folder).",
        )
    rows = model.get_input_embeddings().weight.shape[0]
    if tokenizer.vocab_size > rows:
        raise BrokenFolder(
            f"a tokenizer with at most the {rows} tokens that {name} knows",
            f"one with {tokenizer.vocab_size}",
            "Copy the tokenizer that belongs to the model.",
        )
    tokenizer.backend_tokenizer.no_truncation()  # a file may fix a length, which is not the model's
    tokenizer.backend_tokenizer.no_padding()
    return tokenizer


def read_processor(folder: Path, name: str) -> Any:
    """The image processor in a model's folder; raises BrokenFolder where it is missing."""
    from transformers import AutoImageProcessor

    try:
        return AutoImageProcessor.from_pretrained(
            folder,
            backend="pil",  # the same pixels on every machine, with torchvision installed or not
            local_files_only=True,
            trust_remote_code=False,
        )
    except Exception as error:  # as above
        raise _missing(f"image settings for {name} (preprocessor_config.json)", error) from error


def _missing(expected: str, error: Exception) -> BrokenFolder:
    return BrokenFolder(expected, first_line(error), "Copy its files too.")
