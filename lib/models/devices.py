"""Device, precision and memory: choosing them, and refusing what this machine cannot do before it is tried."""

from __future__ import annotations

import ctypes
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil

from lib.errors import HeadlightError, first_line
from lib.numerals import per_cent

DEVICES = ("auto", "cuda", "mps", "cpu")
DTYPES = {"float32": 4, "float16": 2, "bfloat16": 2}  # bytes per number
SPOT_TOLERANCE = 1e-2  # relative; an accelerator in float32 stays below 1e-4, a broken kernel far above
CGROUP = Path("/sys/fs/cgroup")
# transformers builds a model under a default precision, and torch draws from a generator, of the whole process
BUILDING = threading.RLock()


class Unsupported(HeadlightError):
    """This machine has no such device or cannot compute in such a precision."""


class OutOfMemory(HeadlightError):
    """A model does not fit."""


def choose(device: str) -> str:
    """Device to use: "auto" is CUDA, then MPS, then CPU; raises Unsupported for one that is not there."""
    import torch

    there = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available(), "cpu": True}
    if device == "auto":
        return next(name for name, found in there.items() if found)
    if device.split(":")[0] not in there:
        raise Unsupported(f"one of {', '.join(DEVICES)}", repr(device), "Choose one of them.")
    if not there[device.split(":")[0]]:
        found = ", ".join(name for name, found in there.items() if found)
        raise Unsupported("a device of this machine", device, f"Found here: {found}. Choose “auto”.")
    return device


def torch_dtype(dtype: str) -> Any:
    """The torch dtype of a name; raises Unsupported for other names."""
    import torch

    if dtype not in DTYPES:
        raise Unsupported(f"one of {', '.join(DTYPES)}", repr(dtype), "Choose one of them.")
    return getattr(torch, dtype)


def free_bytes(device: str) -> int:
    """Bytes that can still be taken on a device; of the container where its limit is tighter."""
    if device.startswith("cuda"):
        import torch

        return int(torch.cuda.mem_get_info(device)[0])
    free = int(psutil.virtual_memory().available)
    with suppress(OSError, ValueError):  # not Linux, or no limit ("max")
        limit, used = (int((CGROUP / f"memory.{name}").read_text()) for name in ("max", "current"))
        cached = dict(line.split() for line in (CGROUP / "memory.stat").read_text().splitlines())
        free = min(free, limit - used + int(cached.get("inactive_file", 0)))
    return free


def require_memory(numbers: int, dtype: str, device: str, name: str) -> None:
    """Refuse a model of so many numbers before it is read, where memory would certainly run out."""
    need, free = numbers * DTYPES[dtype], free_bytes(device)
    if need > free:
        raise OutOfMemory(
            f"{need / 1e9:.1f} GB of free memory on {device} for {name} in {dtype}", f"{free / 1e9:.1f} GB", _SMALLER
        )


@contextmanager
def out_of_memory(name: str) -> Iterator[None]:
    """Turn every way in which memory runs out into one clear error."""
    try:
        yield
    except MemoryError as error:
        raise OutOfMemory(f"enough memory for {name}", "none left", _SMALLER) from error
    except RuntimeError as error:
        text = str(error).lower()
        if not any(sign in text for sign in ("out of memory", "not enough memory", "can't allocate memory")):
            raise
        raise OutOfMemory(f"enough memory for {name}", first_line(error), _SMALLER) from error


_SMALLER = "Choose a smaller model or a shorter precision, or close another model first."


def place(model: Any, device: str, *, auto: bool) -> tuple[Any, tuple[str, ...]]:
    """Move a model to its device and make sure that it computes there.

    auto: whether the device was chosen here: then a device that computes wrongly is left for the CPU, with a note;
    otherwise it is refused. Returns the model and the notes.
    """
    import torch

    on_cpu = _probe(model) if device == "mps" else None
    model = model.to(device)
    if model.dtype != torch.float32:
        _half_works(model)
    if on_cpu is None:
        return model, ()
    deviation = relative_deviation(_probe(model), on_cpu)
    if deviation <= SPOT_TOLERANCE:
        return model, ()
    said = f"outputs on {device} that are off by {per_cent(deviation, '.1f')}"
    if not auto:
        raise Unsupported("the numbers that the CPU computes", said, "Choose “cpu”.")
    return model.to("cpu"), (f"Computed on the CPU: a spot check found {said}.",)


def relative_deviation(got: Any, reference: Any) -> float:
    """Largest absolute difference over the largest absolute reference value; infinite where NaN came."""
    difference = float((got.cpu().float() - reference.cpu().float()).abs().max())
    return difference / float(reference.float().abs().max()) if difference == difference else float("inf")


def _half_works(model: Any) -> None:
    try:
        _probe(model)
    except (RuntimeError, NotImplementedError) as error:
        raise Unsupported(
            f"a {model.dtype} kernel for every layer on {model.device}",
            first_line(error),
            "Choose float32.",
        ) from error


def _probe(model: Any) -> Any:
    """First output of the model for a fixed tiny input."""
    import torch

    device, config = model.device, model.config
    if model.main_input_name == "pixel_values":
        size = config.image_size
        side = (size, size) if isinstance(size, int) else tuple(size)
        grey = torch.full((1, config.num_channels, *side), 0.5, dtype=model.dtype, device=device)
        inputs = {"pixel_values": grey}
    else:
        ids = (torch.arange(4, device=device)[None] + 3) % config.vocab_size
        inputs = {"input_ids": ids}
        if getattr(config, "is_encoder_decoder", False):
            inputs["decoder_input_ids"] = ids
    with torch.inference_mode():
        return model(**inputs)[0]


def give_back_pages() -> None:
    """Return freed memory to the operating system (Linux with glibc; nothing elsewhere).

    glibc keeps it and, for the aligned blocks of tensors, mostly does not use it again: without this a process that
    reads batch after batch grows by a good part of each batch.
    """
    if sys.platform == "linux" and (trim := getattr(ctypes.CDLL(None), "malloc_trim", None)) is not None:
        trim(0)
