"""Forward passes over many short inputs, every layer shown as whole batches: patterns, z, queries, keys and values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from lib.capture import Call, tapped
from lib.capture.batching import model_inputs
from lib.capture.check import trusted
from lib.corpora import Encoding
from lib.models.devices import out_of_memory
from lib.threads import one_thread

from .errors import SegmentationError

Progress = Callable[[int, int, str], None]
TOKENS = 1024  # of one batch, padding included
CHUNK = 256  # inputs whose encodings are held at once, where a text has more


@dataclass(frozen=True)
class Shown:
    """One layer of a batch; arrays are float32, made when asked for, and may share memory with the model's.

    pattern (input, head, query_pos, key_pos); z, query, key, value (input, head, pos, d_head), grouped keys and values
    repeated: each serves consecutive heads.
    """

    call: Call

    @property
    def layer(self) -> int:
        """True number of the layer."""
        return self.call.layer

    @property
    def pattern(self) -> np.ndarray:
        """What each token attends to."""
        return self.call.pattern.float().cpu().numpy()

    @property
    def z(self) -> np.ndarray:
        """What each head puts out."""
        return self.call.z.float().cpu().numpy()

    def vectors(self) -> tuple[np.ndarray, ...]:
        """z, query, key and value."""
        return self.z, *(x.float().cpu().numpy() for x in (self.call.query, self.call.key, self.call.value))


See = Callable[[list[int], Shown], None]


class _Enough(Exception):
    """The last layer's attention has been shown: what the model would compute after it is read by nobody."""


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


@one_thread()
def show_layers(
    engine: Any,
    encodings: Sequence[Encoding],
    see: See,
    progress: Progress | None = None,
    slack: float = 0.0,
    hidden: bool = False,
) -> list[np.ndarray | None]:
    """Run a model over inputs and call see(indices, shown) per batch and layer, layers ascending.

    Copy what outlives the call. ``slack`` lets inputs share a batch with others longer by that share,
    where padding leaves the model's numbers alone; rows behind an input's end are then meaningless. With ``hidden``,
    returns each input's last hidden states (token, d_model); None where the model's output names none.

    Raises CheckFailed or NotTappable where the model's attention cannot be trusted or seen, and SegmentationError
    where a number is not finite.
    """
    layout = trusted(engine)
    layout.refuse_windows()
    stream = layout.stream(None)
    last_layer = None if hidden else layout.streams[stream][-1]
    states: list[np.ndarray | None] = [None] * len(encodings)
    done = 0
    lengths = [len(encoding.token_ids) for encoding in encodings]
    if progress is not None:
        progress(0, len(encodings), f"reading with {engine.name}")
    for batch in batches_of(lengths, slack if layout.pads else 0.0):

        def watch(call: Call, batch: list[int] = batch) -> None:
            if call.stream == stream:
                shown = Shown(call)
                _require_finite(shown.z, call.layer, engine.name)
                see(batch, shown)
                if call.layer == last_layer:
                    raise _Enough

        with engine.lock, out_of_memory(engine.name):
            model = engine.require_loaded()  # between batches another session may have loaded a model in its place
            inputs = model_inputs(engine, [encodings[i] for i in batch])
            output = None
            with suppress(_Enough), tapped(model, see=watch):
                output = model(**inputs)
        last = getattr(output, "last_hidden_state", None)
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
