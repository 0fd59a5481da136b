"""Models of the Hugging Face Hub: one short question first, so that a missing network is said within seconds.

Only safetensors are fetched, the commit is recorded, and code from a repository is never run.
"""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

from lib.errors import HeadlightError, first_line
from lib.models.folder import INDEX, PICKLED, SAFE_ONLY, PickledWeights
from lib.models.permission import hub_token

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


class DiskFull(HeadlightError):
    """A download would not fit on the disk."""


@dataclass(frozen=True)
class Answer:
    """Of a model on the Hub: bytes of its files by name, how many numbers they hold (0: unknown), its commit."""

    sizes: dict[str, int]
    numbers: int
    commit: str | None


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
    Raises HubUnreachable, UnknownRepository, GatedRepository, PickledWeights or DiskFull.
    """
    try:
        answer = look_up(name)
    except HubUnreachable as error:
        found = cached(name)
        if found is None:
            raise
        return Snapshot(found, found.name, (f"Read from this machine: {error.got}.",))
    if not any(file in answer.sizes for file in ("model.safetensors", INDEX)):
        pickled = [file for file in answer.sizes if file.endswith(PICKLED)]
        raise PickledWeights(f"model.safetensors in {name}", ", ".join(pickled[:3]) or "no weights", SAFE_ONLY)
    fits(answer.numbers)
    check(_fetch(name, answer.commit, SMALL_FILES))
    _require_disk(name, answer)
    folder = _fetch(name, answer.commit, (*SMALL_FILES, *WEIGHTS))
    _remember(folder)
    return Snapshot(folder, folder.name)


def look_up(name: str) -> Answer:
    """What the Hub says about a model, within PATIENCE seconds."""
    answer: list[Any] = []
    thread = threading.Thread(target=lambda: answer.append(_ask(name)), daemon=True)
    thread.start()
    thread.join(PATIENCE)  # a resolver can hang far longer than any timeout of the client
    if not answer:
        raise HubUnreachable("an answer of the Hugging Face Hub", f"none within {PATIENCE:g} s", OFFLINE)
    if isinstance(answer[0], Exception):
        raise answer[0]
    found = answer[0]
    sizes = {file.rfilename: file.size or 0 for file in found.siblings or ()}
    return Answer(sizes, getattr(found.safetensors, "total", None) or 0, found.sha)


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
        return HfApi().model_info(name, timeout=PATIENCE, files_metadata=True, token=hub_token())
    except Exception as error:  # every transport has its own family of errors
        return _refusal(name, error, "no connection")


def _fetch(name: str, commit: str | None, patterns: tuple[str, ...]) -> Path:
    """Fetch files of one commit (None: the newest); the folder's name is the commit."""
    from huggingface_hub import snapshot_download

    try:
        return Path(
            snapshot_download(
                name, revision=commit, allow_patterns=list(patterns), etag_timeout=PATIENCE, token=hub_token()
            )
        )
    except Exception as error:  # as above
        raise _refusal(name, error, "a download that stopped") from error


def _require_disk(name: str, answer: Answer) -> None:
    """Refuse a download larger than what is free where it would be kept; what is already there counts as fetched."""
    from huggingface_hub import constants

    place = Path(constants.HF_HUB_CACHE)
    known = place / f"models--{name.replace('/', '--')}" / "snapshots" / str(answer.commit)
    wanted = {file: size for file, size in answer.sizes.items() if any(fnmatch(file, pattern) for pattern in WEIGHTS)}
    need = sum(size for file, size in wanted.items() if not (known / file).exists())
    while not place.exists():
        place = place.parent
    free = shutil.disk_usage(place).free
    if need > free:
        raise DiskFull(
            f"{need / 1e9:.1f} GB of free disk for {name}",
            f"{free / 1e9:.1f} GB",
            "Delete files, set HF_HOME to a larger disk, or choose a smaller model.",
        )


def _remember(folder: Path) -> None:
    """Note a fetched commit as the newest, as the client does only where it is not told which commit to fetch."""
    newest = folder.parents[1] / "refs" / "main"
    with suppress(OSError):
        newest.parent.mkdir(exist_ok=True)
        newest.write_text(folder.name, "utf-8")


def _refusal(name: str, error: Exception, what: str) -> HeadlightError:
    from huggingface_hub import errors

    said = first_line(error)
    if isinstance(error, errors.GatedRepoError):
        remedy = f"Accept its terms at huggingface.co/{name} and set HF_TOKEN, or choose an open model."
        return GatedRepository("a model that may be fetched", f"{name}, which asks for an agreement", remedy)
    if isinstance(error, errors.RepositoryNotFoundError | errors.HFValidationError):
        remedy = f"Check the spelling at huggingface.co/{name}; a private model needs HF_TOKEN."
        return UnknownRepository("the id of a model on the Hub", f"{name!r}, which it does not have", remedy)
    return HubUnreachable(f"the Hugging Face Hub, to fetch {name}", f"{what} ({said})", OFFLINE)
