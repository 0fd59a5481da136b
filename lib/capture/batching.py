"""From documents to the tensors of one forward pass: similar lengths together, bounded, padded on the right."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from lib.corpora.document import Document
from lib.corpora.tokens import Encoding, encode
from lib.errors import HeadlightError
from lib.models import Engine

TOKENS = 2048  # of one batch, padding included: enough to keep a processor busy
PATTERN_BYTES = 32 << 20  # of one layer's patterns of a batch
PADDING = 1 / 8  # of a batch's tokens at most


class NotRunnable(HeadlightError):
    """Documents that a model cannot be run over."""


def encoded(engine: Engine, documents: Sequence[Document | Encoding], max_length: int | None = None) -> list[Encoding]:
    """Documents as the model reads them, cut to ``max_length`` tokens; encodings pass through."""
    if engine.require_loaded().main_input_name not in ("input_ids", "pixel_values"):
        raise NotRunnable(
            "a model of texts or images",
            f"{engine.name} (family '{engine.family}'), which reads '{engine.model.main_input_name}'",
            "Audio is not supported: choose a text or a vision model.",
        )
    listed = isinstance(documents, Sequence) and not isinstance(documents, str | bytes)
    if not listed or not documents:
        got = "an empty one" if listed else type(documents).__name__
        raise NotRunnable("a list of at least one document", got, "Put documents in a list.")
    for i, document in enumerate(documents):
        if not isinstance(document, Document | Encoding):
            raise NotRunnable(
                "documents, or encodings of documents",
                f"{type(document).__name__} as document {i}",
                'Wrap a text: Document("name", "text").',
            )
    encodings = [
        document if isinstance(document, Encoding) else encode(document, engine, max_length) for document in documents
    ]
    needed = {"vision": ["pixels"], "encoder-decoder": ["token_ids", "target_ids"]}.get(engine.kind, ["token_ids"])
    for i, encoding in enumerate(encodings):
        if missing := [name for name in needed if getattr(encoding, name) is None]:
            raise NotRunnable(
                f"encodings with {' and '.join(needed)} for {engine.name} ({engine.kind})",
                f"document {i} without {' and '.join(missing)}",
                "Encode the document for this model.",
            )
    return encodings


def batches(lengths: Sequence[tuple[int, ...]], heads: int, padding: bool = True) -> Iterator[list[int]]:
    """Documents that share a forward pass, as indices; longest first, so that memory peaks early.

    lengths: per document, the lengths of all its inputs (source, target); documents of one batch differ in them only
    where ``padding`` is allowed, and then little. heads: of one layer, for the size of its patterns.
    """
    order = sorted(range(len(lengths)), key=lambda i: lengths[i], reverse=True)
    batch: list[int] = []
    for document in order:
        if batch and not _fits([lengths[i] for i in (*batch, document)], heads, padding):
            yield batch
            batch = []
        batch.append(document)
    if batch:
        yield batch


def _fits(lengths: list[tuple[int, ...]], heads: int, padding: bool) -> bool:
    """Whether documents may share a batch."""
    sides = np.array(lengths)  # (document, side)
    padded = len(sides) * sides.max(axis=0)  # (side,)
    allowed = padded * (PADDING if padding else 0)
    pattern_bytes = 4 * heads * len(sides) * int(sides.max()) ** 2
    return bool(
        (padded - sides.sum(axis=0) <= allowed).all() and padded.sum() <= TOKENS and pattern_bytes <= PATTERN_BYTES
    )


def model_inputs(engine: Engine, encodings: Sequence[Encoding]) -> dict[str, Any]:
    """Keyword arguments of one forward pass over a batch, on the engine's device."""
    first = encodings[0]
    if first.pixels is not None:
        pixels = torch.from_numpy(np.stack([encoding.pixels for encoding in encodings]))
        given: dict[str, Any] = {"pixel_values": pixels.to(engine.device, getattr(torch, engine.dtype))}
        return given | ({"interpolate_pos_encoding": True} if first.interpolate else {})
    pad = getattr(engine.model.config, "pad_token_id", None) or 0
    ids = [encoding.token_ids for encoding in encodings]
    given = {"input_ids": _padded(ids, pad), "attention_mask": _padded([np.ones_like(row) for row in ids], 0)}
    types = [np.zeros_like(e.token_ids) if e.type_ids is None else e.type_ids for e in encodings]
    known = getattr(engine.model.config, "type_vocab_size", 1) if accepts(engine.model, "token_type_ids") else 1
    if 0 < max(row.max() for row in types) < known:  # zeros are what models assume by themselves
        given["token_type_ids"] = _padded(types, 0)
    if first.target_ids is not None:  # no mask needed: a causal decoder's rows never see what comes after them
        given["decoder_input_ids"] = _padded([encoding.target_ids for encoding in encodings], pad)
    given = {name: torch.from_numpy(rows).to(engine.device) for name, rows in given.items()}
    return given | ({"use_cache": False} if accepts(engine.model, "use_cache") else {})


def accepts(model: Any, argument: str) -> bool:
    """Whether a model's forward pass names an argument."""
    return argument in inspect.signature(model.forward).parameters


def _padded(rows: Sequence[np.ndarray], pad: int) -> np.ndarray:
    """Rows of different lengths in one array (row, longest)."""
    table = np.full((len(rows), max(map(len, rows))), pad, dtype=np.int64)
    for i, row in enumerate(rows):
        table[i, : len(row)] = row
    return table
