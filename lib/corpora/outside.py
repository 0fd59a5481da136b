"""Corpora that are not shipped: from the folder named by HEADLIGHT_DATA, or from the Hugging Face Hub."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread

from lib.errors import HeadlightError

from .decoding import decoded_file
from .document import Document
from .gold import choi, conllu
from .reading import plain_document

PATIENCE = 5.0  # seconds until the Hub counts as out of reach
PASSAGE = 1500  # characters after which a passage ends at the next empty line
_TREEBANKS = {"ewt-dev": "en_ewt-ud-dev.conllu", "pud-ko": "ko_pud-ud-test.conllu"}
_SHAKESPEARE = "tinyshakespeare.txt"
_HUB = ("karpathy/tiny_shakespeare", "fe12e06d82fe3af4291b90426557387520d81385")
_PARTS = [f"data/{part}-00000-of-00001.parquet" for part in ("train", "validation", "test")]


def external_names() -> dict[str, str]:
    """Name and one line of description of every corpus that can be asked for; nothing is loaded or fetched."""
    names = {"tinyshakespeare": "Lines of Shakespeare's plays, in passages (from the Hub or the data folder)"}
    folder = _folder()
    if folder is None:
        return names
    if (folder / _TREEBANKS["ewt-dev"]).is_file():
        names["ewt-dev"] = "English web text with gold sentences and parts of speech (UD English-EWT, dev)"
    if (folder / _TREEBANKS["pud-ko"]).is_file():
        names["pud-ko"] = "Korean news and encyclopedia sentences, gold (UD Korean-PUD)"
    for part in sorted((folder / "choi").glob("*/")):
        names[f"choi-{part.name}"] = f"Choi's topic segmentation set, {part.name} sentences a topic"
    return names


def external_place(name: str) -> str:
    """Where an external corpus is read: "HEADLIGHT_DATA" or "the Hub"."""
    folder = _folder()
    fetched = name == "tinyshakespeare" and not (folder and (folder / _SHAKESPEARE).is_file())
    return "the Hub" if fetched else "HEADLIGHT_DATA"


def external(name: str) -> list[Document]:
    """The documents of an external corpus.

    Raises HeadlightError where the name is not available here, and within some 5 seconds where the Hub is out of reach.
    """
    names, folder = external_names(), _folder()
    if name not in names:
        raise HeadlightError(
            "the name of an external corpus",
            f"{name!r}",
            f"Available here: {', '.join(names)}. Others are looked for in the folder HEADLIGHT_DATA.",
        )
    if name == "tinyshakespeare":
        local = folder / _SHAKESPEARE if folder else None
        return passages(decoded_file(local) if local and local.is_file() else _from_hub())
    if name in _TREEBANKS:
        return conllu(folder / _TREEBANKS[name])
    files = (folder / "choi" / name.removeprefix("choi-")).glob("*.ref")
    return [choi(path) for path in sorted(files, key=lambda path: (len(path.stem), path.stem))]


def passages(text: str, size: int = PASSAGE) -> list[Document]:
    """A long text in parts of at least `size` characters that end at empty lines; sentences by rule."""
    parts: list[str] = [""]
    for block in text.strip().split("\n\n"):
        if len(parts[-1]) >= size:
            parts.append("")
        parts[-1] += ("\n\n" if parts[-1] else "") + block
    return [plain_document(part, f"passage {number}") for number, part in enumerate(parts, 1)]


def _folder() -> Path | None:
    folder = os.environ.get("HEADLIGHT_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def _from_hub() -> str:
    """TinyShakespeare of the Hub; a file fetched before is read without a network."""
    import pandas as pd
    from huggingface_hub import hf_hub_download

    repository, revision = _HUB
    place = {"repo_type": "dataset", "revision": revision}
    try:
        files = [hf_hub_download(repository, part, local_files_only=True, **place) for part in _PARTS]
    except OSError:
        _check_reachable()
        try:
            files = [hf_hub_download(repository, part, etag_timeout=PATIENCE, **place) for part in _PARTS]
        except (OSError, ValueError) as error:
            raise _out_of_reach(type(error).__name__) from error
    return "".join("".join(pd.read_parquet(file)["text"]) for file in files)


def _check_reachable() -> None:
    """Refuse within PATIENCE seconds: name lookup and retries have no time limit of their own."""
    from huggingface_hub import HfApi

    answer: list[object] = []

    def ask() -> None:
        try:
            answer.append(HfApi().dataset_info(_HUB[0], timeout=PATIENCE))
        except Exception as error:  # any failure means the same to the user
            answer.append(error)

    asking = Thread(target=ask, daemon=True)
    asking.start()
    asking.join(PATIENCE)
    if not answer or isinstance(answer[0], Exception):
        raise _out_of_reach(type(answer[0]).__name__ if answer else f"no answer in {PATIENCE:.0f} s")


def _out_of_reach(reason: str) -> HeadlightError:
    return HeadlightError(
        "the Hugging Face Hub to answer",
        f"no connection from this server ({reason})",
        "Upload the text, put tinyshakespeare.txt into the folder HEADLIGHT_DATA, or choose a built-in corpus.",
    )
