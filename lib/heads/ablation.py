"""Switching heads off inside the model: z of a head is replaced before W_O, and the loss is measured again.

Layers before the first head that is off compute what they always do, so their result is kept and the run begins
there. A control with every head on begins there too; where it does not end as the whole run ended, the model keeps
more than its hidden state and is run whole. Several sets of heads share a forward pass as copies of the documents.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from lib.capture import Block, observe, tapped
from lib.capture.batching import model_inputs
from lib.capture.check import trusted
from lib.capture.observers import plan, sides
from lib.corpora import Encoding
from lib.errors import HeadlightError
from lib.heads.outcome import MEASURES, Heads, Outcome, Progress, Readings
from lib.heads.targets import masked, predicted
from lib.models.attention import eager_function
from lib.models.devices import give_back_pages

TOKENS = 2048  # of one forward pass, copies included
OUTPUT_BYTES = 1 << 28  # of one forward pass
ROUNDING = 32  # epsilons of the largest output: sums in another order, nothing more


@dataclass(frozen=True, eq=False)
class Switchboard:
    """A model and a corpus whose heads can be switched off.

    order        layer numbers of the stream, as they are computed
    replacement  layer -> (head, d_head): what takes the place of z; None for zero
    """

    engine: Any
    encodings: tuple[Encoding, ...]
    stream: str
    order: tuple[int, ...]
    replacement: Mapping[int, torch.Tensor] | None
    exact: list[bool] = field(default_factory=lambda: [True])  # whether prefixes may be reused; found out on the way

    @classmethod
    def of(
        cls, engine: Any, encodings: Sequence[Encoding], mode: str = "zero", stream: str | None = None
    ) -> Switchboard:
        """Prepare a corpus. Mode "mean" reads it once for the mean of every head's z over all its tokens."""
        if mode not in ("zero", "mean"):
            raise HeadlightError('mode "zero" or "mean"', repr(mode), "Choose one of the two.")
        layout = trusted(engine)
        stream = layout.stream(stream)
        means = None
        if mode == "mean":
            adder = _Adder({}, {})
            observe(engine, encodings, adder, stream=stream)
            means = {
                layer: torch.from_numpy(total / adder.tokens[layer]).to(engine.device, engine.model.dtype)
                for layer, total in adder.totals.items()
            }
        prepared = tuple(masked(engine, encoding, number) for number, encoding in enumerate(encodings))
        return cls(engine, prepared, stream, layout.streams[stream], means)

    def losses(self, sets: Sequence[Heads], progress: Progress | None = None) -> Outcome:
        """Loss of every document with each set of heads off. Raises HeadlightError for heads the model lacks.

        The engine's lock is held for one forward pass at a time, so that others come to their turn in between.
        progress counts (set, document) pairs.
        """
        for heads in sets:
            self.check(heads)
        count, report = len(self.encodings), progress or (lambda done, total, stage: None)
        loss, moved = np.full((len(sets), count), np.nan), np.zeros(len(sets))
        clean, weight = np.full(count, np.nan), np.zeros(count)
        done, total, stage = 0, count * len(sets), "switching heads off"
        report(done, total, stage)
        for batch in plan(self.encodings, trusted(self.engine)):
            with torch.inference_mode():
                run = Batch(self, [self.encodings[i] for i in batch], sets)
                clean[batch], weight[batch] = run.score(run.clean)
                for number, output in run.outputs(sets):
                    loss[number, batch] = run.score(output)[0]
                    moved[number] = max(moved[number], run.deviation(output))
                    report(done := done + len(batch), total, stage)
        still = moved <= ROUNDING * torch.finfo(self.engine.model.dtype).eps
        return Outcome(loss, clean, weight, moved, still, MEASURES[self.engine.head])

    def check(self, heads: Heads) -> None:
        """Raise HeadlightError for heads that the stream does not have, or none at all."""
        places = [place for place in trusted(self.engine).places if place.stream == self.stream]
        known = {place.layer: place.heads for place in places}
        wrong = sorted(head for head in heads if not 0 <= head[1] < known.get(head[0], 0))
        if wrong or not heads:
            raise HeadlightError(
                f"(layer, head) pairs of {self.engine.name}: layers {min(known)}–{max(known)}, "
                f"heads 0–{max(known.values()) - 1}",
                f"{wrong or 'none'}",
                "Count both from 0.",
            )


class Batch:
    """Documents of one forward pass: what the model makes of them, and of copies of them with heads off."""

    def __init__(self, board: Switchboard, encodings: Sequence[Encoding], sets: Sequence[Heads]) -> None:
        self.board, self.encodings = board, encodings
        self.model, self.head = board.engine.require_loaded(), board.engine.head
        self.inputs = model_inputs(board.engine, encodings)
        self.lengths = [len(table) for table in sides(encodings, board.stream)[0]]
        if self.head == "seq2seq-lm" or encodings[0].target_table is not None:
            self.lengths = [len(encoding.target_table) for encoding in encodings]
        self.stack = _stack(self.model, len(board.order)) if board.stream == "self" else None
        starts = {self._start(heads) for heads in sets}
        self.before: dict[int, Any] = {}  # start -> output of the layer before it
        with board.engine.lock:  # another's forward pass would leave its outputs in the hooks
            hooks = [
                self.stack[start - 1].register_forward_hook(
                    lambda _, __, out, start=start: self.before.update({start: out})
                )
                for start in (starts if self.stack is not None else ())
                if start > 0
            ]
            try:
                self.clean = self._run([frozenset()], 0)[0]
            finally:
                for hook in hooks:
                    hook.remove()
        self.largest = max(float(self.clean.abs().max()), torch.finfo(self.clean.dtype).tiny)

    def outputs(self, sets: Sequence[Heads]) -> Iterator[tuple[int, torch.Tensor]]:
        """Output of every set (document, pos, width) with its number; sets that begin at one layer run together."""
        start_of = {number: self._start(heads) for number, heads in enumerate(sets)}
        room = self._copies()
        for start in sorted(set(start_of.values())):
            if self._reusable(start):
                control = self._run([frozenset()], start)[0]
                self.board.exact[0] = self.deviation(control) <= 8 * ROUNDING * torch.finfo(control.dtype).eps
            begin = start if self._reusable(start) else 0
            numbers = [number for number in start_of if start_of[number] == start]
            for first in range(0, len(numbers), room):
                chosen = numbers[first : first + room]
                yield from zip(chosen, self._run([sets[number] for number in chosen], begin), strict=True)
                give_back_pages()

    def _reusable(self, start: int) -> bool:
        return start in self.before and self.board.exact[0]

    def score(self, output: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
        """Loss and weight of every document (document,)."""
        if self.head is None:
            closeness = torch.cosine_similarity(self._pooled(output).double(), self._pooled(self.clean).double())
            return (1 - closeness).clamp(min=0).cpu().numpy(), np.ones(len(self.encodings))
        found = []
        for row, encoding in enumerate(self.encodings):
            places, targets = predicted(self.head, encoding)
            logits = output[row, torch.from_numpy(places).to(output.device)].float()
            wanted = torch.tensor(targets, device=output.device)
            loss = torch.nn.functional.cross_entropy(logits, wanted) if len(targets) else torch.tensor(torch.nan)
            found.append((float(loss), len(targets)))
        return tuple(np.array(column, dtype=np.float64) for column in zip(*found, strict=True))

    def deviation(self, output: torch.Tensor) -> float:
        """Largest change of any number of a document's own positions, relative to the largest number."""
        changes = [float((output[i, :n] - self.clean[i, :n]).abs().max()) for i, n in enumerate(self.lengths)]
        return max(changes) / self.largest

    def _pooled(self, output: torch.Tensor) -> torch.Tensor:
        """The class token of an image, else the mean over a document's own positions: (document, width)."""
        if self.board.engine.n_prefix:
            return output[:, 0]
        return torch.stack([output[i, :n].mean(dim=0) for i, n in enumerate(self.lengths)])

    def _start(self, heads: Heads) -> int:
        return min(self.board.order.index(layer) for layer, _ in heads)

    def _copies(self) -> int:
        """Copies of the documents that one forward pass may hold."""
        tokens = max(1, len(self.lengths) * max(self.lengths))
        return max(1, min(TOKENS // tokens, OUTPUT_BYTES // (self.clean.numel() * self.clean.element_size())))

    def _run(self, sets: Sequence[Heads], start: int) -> torch.Tensor:
        """Outputs (set, document, pos, width) of one forward pass that begins at layer ``start`` of the order."""
        copies, documents = len(sets), len(self.encodings)
        inputs = {name: _repeated(value, copies, documents) for name, value in self.inputs.items()}
        edit = _Editor(self.board, sets, start)
        with self.board.engine.lock, tapped(self.model, edit=edit), self._from(start, copies):
            output = self.model(**inputs)
        found = output.logits if self.head else getattr(output, "last_hidden_state", None)
        found = output.logits[:, None] if found is None else found  # a classifier: one position
        return found.reshape(copies, documents, *found.shape[1:])

    @contextmanager
    def _from(self, start: int, copies: int) -> Iterator[None]:
        """Let the layers before ``start`` return what they returned before."""
        skipped = list(self.stack[:start]) if start else []
        if start:
            output = self.before[start]
            parts = [_repeated(part, copies, len(self.encodings)) for part in _parts(output)]
            kept = tuple(parts) if isinstance(output, tuple) else parts[0]
        for layer in skipped:
            layer.forward = lambda *_, kept=kept, **__: kept
        try:
            yield
        finally:
            for layer in skipped:
                del layer.forward


class _Editor:
    """Replaces z of the heads that are off, each copy's own."""

    def __init__(self, board: Switchboard, sets: Sequence[Heads], start: int) -> None:
        self.board, self.sets, self.place = board, sets, start

    def __call__(self, layer: int, stream: str, z: torch.Tensor) -> torch.Tensor:
        if stream != self.board.stream:
            return z
        layer, self.place = self.board.order[self.place], self.place + 1  # a run that begins late counts late
        off = torch.zeros(len(self.sets), z.shape[1], dtype=torch.bool, device=z.device)
        for copy, heads in enumerate(self.sets):
            off[copy, [head for own, head in heads if own == layer]] = True
        if not off.any():
            return z
        off = off.repeat_interleave(len(z) // len(self.sets), dim=0)[:, :, None, None]
        means = self.board.replacement
        return torch.where(off, z.new_zeros(()) if means is None else means[layer][None, :, None], z)


@dataclass(frozen=True)
class _Adder:
    """Observer: sums of z over tokens, by layer."""

    totals: dict[int, np.ndarray]
    tokens: dict[int, int]
    needs = frozenset({"z"})
    windows = True

    def see(self, block: Block) -> None:
        self.totals[block.layer] = self.totals.get(block.layer, 0) + block.z.sum(axis=1)
        self.tokens[block.layer] = self.tokens.get(block.layer, 0) + block.z.shape[1]


def readings(board: Switchboard, heads: Heads, top: int = 3) -> tuple[Readings, Readings, np.ndarray]:
    """Predictions in the board's first document with every head on and with ``heads`` off, and how far they differ.

    The third value is, per place, the Kullback–Leibler divergence (nats) of the second from the first; for a model
    that predicts nothing the readings are empty and it is the cosine distance of each position's output (position,).
    """
    board.check(heads)
    with torch.inference_mode():
        run = Batch(board, board.encodings[:1], [heads])
        ((_, changed),) = run.outputs([heads])
        pair = [output[0, : run.lengths[0]].float() for output in (run.clean, changed)]
        places, targets = predicted(run.head, run.encodings[0])
        if run.head is None:
            empty = Readings(places, targets, *(np.empty((0, top)),) * 2, np.empty(0))
            return empty, empty, (1 - torch.cosine_similarity(*pair)).cpu().numpy()
        logs = [output[torch.from_numpy(places).to(output.device)].log_softmax(dim=-1) for output in pair]
        divergence = (logs[0].exp() * (logs[0] - logs[1])).sum(dim=-1)
        before, after = (_reading(places, targets, log, top) for log in logs)
        return before, after, divergence.cpu().numpy()


def _reading(places: np.ndarray, targets: np.ndarray, log: torch.Tensor, top: int) -> Readings:
    most = log.topk(min(top, log.shape[-1]), dim=-1)
    truth = log.gather(1, torch.tensor(targets, device=log.device)[:, None])[:, 0]
    return Readings(
        places, targets, most.indices.cpu().numpy(), most.values.exp().cpu().numpy(), truth.exp().cpu().numpy()
    )


def _repeated(value: Any, copies: int, documents: int) -> Any:
    """A tensor over documents, its documents repeated copy by copy; anything else as it is."""
    if not isinstance(value, torch.Tensor) or not value.ndim or value.shape[0] != documents or copies == 1:
        return value
    return value.repeat(copies, *[1] * (value.ndim - 1))


def _parts(output: Any) -> tuple:
    return output if isinstance(output, tuple) else (output,)


def _stack(model: Any, layers: int) -> Any | None:
    """The list of a model's layers, where each holds one attention module."""
    for module in model.modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == layers:
            held = [sum(eager_function(type(part)) is not None for part in layer.modules()) for layer in module]
            if held == [1] * layers:
                return module
    return None
