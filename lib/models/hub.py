"""Models of the Hugging Face Hub: one short question first, so that a missing network is said within seconds.

Only safetensors are fetched, the commit is recorded, and code from a repository is never run.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lib.errors import HeadlightError
from lib.models.folder import INDEX, PICKLED, SAFE_ONLY, PickledWeights

PATIENCE = 4.0  # seconds for the first answer
SMALL_FILES = ("*.json", "*.txt", "*.model", "*.jinja")
WEIGHTS = ("model.safetensors", INDEX, "model-*.safetensors")
ID = re.compile(r"[A-Za-z0-9][\w.\-]*(/[A-Za-z0-9][\w.\-]*)?")
LONGEST_ID = 150  # characters; the Hub allows 96 after the owner
OFFLINE = "What works without it: the models under “ready offline”, a local folder, a GGUF file."


class HubUnreachable(HeadlightError):
    """The Hub did not answer."""


class UnknownRepository(HeadlightError):
    """The Hub has no such model, or keeps it private."""


class GatedRepository(HeadlightError):
    """The Hub asks for an agreement before it hands the model out."""


@dataclass(frozen=True)
class Snapshot:
    """A model's files on this machine: their folder, the commit they belong to, what the user should know."""

    folder: Path
    commit: str
    notes: tuple[str, ...] = ()


def is_id(name: str) -> bool:
    """Whether a name has the form of a Hub id, "owner/model" or "model"."""
    return len(name) <= LONGEST_ID and ID.fullmatch(name) is not None and ".." not in name


def switched_off() -> bool:
    """Whether the environment forbids the Hub (``HF_HUB_OFFLINE``)."""
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE)


def snapshot(name: str, check: Callable[[Path], None], fits: Callable[[int], None]) -> Snapshot:
    """Fetch a model, or use what an earlier fetch left on this machine where the Hub does not answer.

    fits: called with how many numbers the model has (0: the Hub does not say) before anything is fetched, and
    check: with the folder once the configuration is there, before the weights are fetched; both may raise.
    Raises HubUnreachable, UnknownRepository, GatedRepository or PickledWeights.
    """
    try:
        files, numbers = look_up(name)
    except HubUnreachable as error:
        found = cached(name)
        if found is None:
            raise
        return Snapshot(found, found.name, (f"Read from this machine: {error.got}.",))
    if not any(file in files for file in ("model.safetensors", INDEX)):
        pickled = [file for file in files if file.endswith(PICKLED)]
        raise PickledWeights(f"model.safetensors in {name}", ", ".join(pickled[:3]) or "no weights", SAFE_ONLY)
    fits(numbers)
    check(_fetch(name, SMALL_FILES))
    folder = _fetch(name, (*SMALL_FILES, *WEIGHTS))
    return Snapshot(folder, folder.name)


def look_up(name: str) -> tuple[list[str], int]:
    """The names of a model's files and how many numbers they hold (0: unknown), within PATIENCE seconds."""
    answer: list[Any] = []
    thread = threading.Thread(target=lambda: answer.append(_ask(name)), daemon=True)
    thread.start()
    thread.join(PATIENCE)  # a resolver can hang far longer than any timeout of the client
    if not answer:
        raise HubUnreachable("an answer of the Hugging Face Hub", f"none within {PATIENCE:g} s", OFFLINE)
    if isinstance(answer[0], Exception):
        raise answer[0]
    files = [file.rfilename for file in answer[0].siblings or ()]
    return files, getattr(answer[0].safetensors, "total", None) or 0


def cached(name: str) -> Path | None:
    """The newest whole snapshot of a model on this machine; None where there is none."""
    from huggingface_hub import constants

    repository = Path(constants.HF_HUB_CACHE) / f"models--{name.replace('/', '--')}"
    main = repository / "refs" / "main"
    if not main.is_file():
        return None
    folder = repository / "snapshots" / main.read_text("utf-8").strip()
    weights = any((folder / file).exists() for file in ("model.safetensors", INDEX))
    return folder if weights and (folder / "config.json").exists() else None


def _ask(name: str) -> Any:
    """What the Hub says about a model, or the error to raise: a thread cannot raise for another."""
    from huggingface_hub import HfApi

    try:
        return HfApi().model_info(name, timeout=PATIENCE)
    except Exception as error:  # every transport has its own family of errors
        return _refusal(name, error, "no connection")


def _fetch(name: str, patterns: tuple[str, ...]) -> Path:
    """Fetch files of the newest commit; the folder's name is the commit."""
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=list(patterns), etag_timeout=PATIENCE))
    except Exception as error:  # as above
        raise _refusal(name, error, "a download that stopped") from error


def _refusal(name: str, error: Exception, what: str) -> HeadlightError:
    from huggingface_hub import errors

    said = " ".join(str(error).split())[:160] or type(error).__name__
    if isinstance(error, errors.GatedRepoError):
        remedy = f"Accept its terms at huggingface.co/{name} and set HF_TOKEN, or choose an open model."
        return GatedRepository("a model that may be fetched", f"{name}, which asks for an agreement", remedy)
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        remedy = f"Check the spelling at huggingface.co/{name}; a private model needs HF_TOKEN."
        return UnknownRepository("the id of a model on the Hub", f"{name!r}, which it does not have", remedy)
    return HubUnreachable(f"the Hugging Face Hub, to fetch {name}", f"{what} ({said})", OFFLINE)
