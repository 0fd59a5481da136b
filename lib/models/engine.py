"""Engine: one loaded model with its tokenizer or image processor, its lock, and what it says about itself.

An engine never computes: capture does, under ``engine.lock``. It does not know where a model comes from
either; that is ``loading``.
"""

from __future__ import annotations

import gc
import hashlib
import sys
import threading
from dataclasses import dataclass, field
from typing import Any

from lib.errors import HeadlightError
from lib.models.anatomy import Anatomy, anatomy_of
from lib.models.devices import give_back_pages
from lib.models.weights import Weights, head_weights

CAPTURE_VERSION = 1  # raised when the same model and text give other numbers than before: kept results then expire


class EngineReleased(HeadlightError):
    """The engine's memory was given back; the model has to be loaded again."""


@dataclass(eq=False)
class Engine:
    """A model ready to be looked at: in evaluation mode, without gradients, on its device.

    name, source ("offline" | "hub" | "folder" | "gguf" | "memory"), revision: where the weights come from.
    model: a transformers model; tokenizer, processor: None where the model has none.
    The remaining attributes are read from the model by ``anatomy_of``: they are never guessed from its name.
    """

    name: str
    source: str
    revision: str
    model: Any = field(repr=False)
    tokenizer: Any | None = field(repr=False)
    processor: Any | None = field(repr=False)
    device: str
    dtype: str
    attention: str
    anatomy: Anatomy = field(repr=False)
    notes: tuple[str, ...] = ()
    lock: Any = field(default_factory=threading.RLock, repr=False)

    @classmethod
    def from_parts(
        cls,
        model: Any,
        tokenizer: Any | None = None,
        processor: Any | None = None,
        name: str = "in memory",
        *,
        source: str = "memory",
        revision: str | None = None,
        notes: tuple[str, ...] = (),
    ) -> Engine:
        """Engine of a model in memory; without ``revision``, the digest of its weights is used."""
        model.eval().requires_grad_(False)
        weight = next(model.parameters())
        return cls(
            name=name,
            source=source,
            revision=digest(model) if revision is None else revision,
            model=model,
            tokenizer=tokenizer,
            processor=processor,
            device=str(weight.device),
            dtype=str(weight.dtype).removeprefix("torch."),
            attention=str(getattr(model.config, "_attn_implementation", None) or "eager"),
            anatomy=anatomy_of(model, tokenizer),
            notes=notes,
        )

    family = property(lambda self: self.anatomy.family, doc="The configuration's model type, e.g. ``bert``.")
    kind = property(lambda self: self.anatomy.kind, doc="encoder | decoder | encoder-decoder | vision.")
    causal = property(lambda self: self.anatomy.causal, doc="Whether a row sees only keys at or before it.")
    n_layers = property(lambda self: self.anatomy.n_layers, doc="Layers of the (encoder) stack.")
    n_decoder_layers = property(lambda self: self.anatomy.n_decoder_layers, doc="Decoder layers, 0 without one.")
    n_heads = property(lambda self: self.anatomy.n_heads, doc="Query heads per layer.")
    n_key_heads = property(lambda self: self.anatomy.n_key_heads, doc="Key/value heads per layer.")
    d_head = property(lambda self: self.anatomy.d_head, doc="Width of one head.")
    max_length = property(lambda self: self.anatomy.max_length, doc="Longest input in tokens; None: no limit.")
    head = property(lambda self: self.anatomy.head, doc="causal-lm | masked-lm | seq2seq-lm | None.")
    special_ids = property(lambda self: self.anatomy.special_ids, doc="Token ids of special tokens.")
    patch_size = property(lambda self: self.anatomy.patch_size, doc="Side of a patch in pixels; None for text.")
    n_prefix = property(lambda self: self.anatomy.n_prefix, doc="CLS and register tokens before the patches.")

    @property
    def key(self) -> str:
        """Cache key: everything that changes the numbers, the versions of the code that computes them included."""
        code = f"transformers {sys.modules['transformers'].__version__}", f"capture {CAPTURE_VERSION}"
        return "|".join((self.name, self.revision, self.dtype, self.device, self.attention, *code))

    def require_loaded(self) -> Any:
        """The model; raises EngineReleased where its memory was given back, by another session perhaps."""
        if (model := self.model) is None:
            raise EngineReleased(
                "a loaded engine",
                f"{self.name}, which was released",
                "Try again: another model took its place, perhaps another visitor's (HEADLIGHT_ENGINES keeps more).",
            )
        return model

    def weights(self, layer: int, stream: str = "self") -> Weights:
        """Projections of one attention layer, per head; see ``lib.models.weights``."""
        return head_weights(self.require_loaded(), layer, stream, self.anatomy)

    def release(self) -> None:
        """Give the model's memory back to the operating system; the engine cannot be used afterwards."""
        with self.lock:
            self.model = self.tokenizer = self.processor = None
        gc.collect()
        torch = sys.modules["torch"]
        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        elif torch.backends.mps.is_available():
            torch.mps.empty_cache()
        give_back_pages()


def digest(model: Any) -> str:
    """First 12 hex digits of the SHA-256 of all weights: two models that differ in one number differ here."""
    import torch

    total = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        total.update(f"{name} {tuple(tensor.shape)} {tensor.dtype}".encode())
        total.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return total.hexdigest()[:12]
