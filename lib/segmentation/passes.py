"""Forward passes over many short inputs, every layer shown as whole batches: patterns and z as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from lib.capture import Call, tapped
from lib.capture.batching import model_inputs
from lib.capture.check import trusted
from lib.corpora import Encoding
from lib.models.devices import out_of_memory

from .errors import SegmentationError

Progress = Callable[[int, int, str], None]
See = Callable[[list[int], int, np.ndarray, np.ndarray], None]
TOKENS = 2048  # of one batch, padding included
CHUNK = 256  # inputs whose encodings are held at once, where a text has more


def batches_of(lengths: Sequence[int], slack: float = 0.0) -> Iterator[list[int]]:
    """Indices of inputs that share a forward pass: equally long ones, or longer by at most the share ``slack``.

    >>> list(batches_of([5, 9, 5])), list(batches_of([4, 9, 5], slack=0.5))
    ([[0, 2], [1]], [[0, 2], [1]])
    """
    order = sorted(range(len(lengths)), key=lambda i: lengths[i])
    batch: list[int] = []
    for i in order:
        longer = batch and lengths[i] > (1 + slack) * lengths[batch[0]]
        if longer or (batch and (len(batch) + 1) * lengths[i] > TOKENS):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def show_layers(
    engine: Any,
    encodings: Sequence[Encoding],
    see: See,
    progress: Progress | None = None,
    slack: float = 0.0,
    hidden: bool = False,
) -> list[np.ndarray | None]:
    """Run a model over inputs and call see(indices, layer, pattern, z) per batch and layer, layers ascending.

    pattern (input, head, query_pos, key_pos) and z (input, head, query_pos, d_head) are float32 and may share memory
    with the model: copy what outlives the call. ``slack`` lets inputs share a batch with others longer by that share,
    where padding leaves the model's numbers alone; rows behind an input's end are then meaningless. With ``hidden``,
    returns each input's last hidden states (token, d_model); None where the model's output names none.

    Raises CheckFailed or NotTappable where the model's attention cannot be trusted or seen, and SegmentationError
    where a number is not finite.
    """
    layout = trusted(engine)
    layout.refuse_windows()
    stream = layout.stream(None)
    states: list[np.ndarray | None] = [None] * len(encodings)
    done = 0
    lengths = [len(encoding.token_ids) for encoding in encodings]
    for batch in batches_of(lengths, slack if layout.pads else 0.0):

        def watch(call: Call, batch: list[int] = batch) -> None:
            if call.stream == stream:
                pattern, z = call.pattern.float().cpu().numpy(), call.z.float().cpu().numpy()
                _require_finite(z, call.layer, engine.name)
                see(batch, call.layer, pattern, z)

        with engine.lock, out_of_memory(engine.name):
            model = engine.require_loaded()  # between batches another session may have loaded a model in its place
            inputs = model_inputs(engine, [encodings[i] for i in batch])
            with tapped(model, see=watch):
                output = model(**inputs)
        last = getattr(output, "last_hidden_state", None) if hidden else None
        if last is not None:
            for row, i in enumerate(batch):
                states[i] = last[row, : lengths[i]].float().cpu().numpy()
        done += len(batch)
        if progress is not None:
            progress(done, len(encodings), f"reading with {engine.name}")
    return states


def _require_finite(z: np.ndarray, layer: int, name: str) -> None:
    if not np.isfinite(z.sum()):
        raise SegmentationError(
            "finite numbers in z", f"NaN or infinity in layer {layer} of {name}", "Try float32; check the weights."
        )


def counted(progress: Progress | None, before: int, total: int) -> Progress | None:
    """Progress of a chunk as progress of the whole, of which ``before`` inputs were done."""
    if progress is None:
        return None
    return lambda done, _, stage: progress(before + done, total, stage)
